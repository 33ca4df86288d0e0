package deploy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// environment is what a process gets: nothing of this one's but what a program needs to start.
func environment(env []string) []string { return append([]string{"TMPDIR=" + os.TempDir()}, env...) }

// once runs a program that ends by itself, and returns what it printed.
func once(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = environment(env)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", program, args, err, out, &stderr) // verify says on stdout what differs
	}
	return string(out)
}

// process runs beside the test, which ends it with SIGTERM.
type process struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	lines strings.Builder
	base  string // where it serves
}

func (p *process) said() string { p.mu.Lock(); defer p.mu.Unlock(); return p.lines.String() }

// serving is how the programs say where they listen.
var serving = regexp.MustCompile(`http://(?:127\.0\.0\.1|\[::\]|0\.0\.0\.0):(\d+)`)

// begin starts a server and waits until it says where it listens.
func begin(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Env = environment(env)
	read, write := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = write, write
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, copied := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(copied)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			p.mu.Lock()
			p.lines.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
		}
	}()
	go func() {
		err := p.cmd.Wait()
		ended <- errors.Join(err, write.Close())
		<-copied
	}()
	t.Cleanup(func() { p.end(t, ended) })
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s %q has ended: %v\n%s", program, args, err, p.said())
		default:
		}
		if at := serving.FindStringSubmatch(p.said()); at != nil {
			p.base = "http://127.0.0.1:" + at[1]
		}
		return p.base != "", "it does not say where it listens: " + p.said()
	})
	return p
}

// stopTime is what the files leave a process between SIGTERM and SIGKILL.
const stopTime = 5 * time.Second

func (p *process) end(t *testing.T, ended chan error) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%s: %v\n%s", p.cmd.Path, err, p.said())
		}
	case <-time.After(stopTime):
		t.Errorf("%s runs on after SIGTERM\n%s", p.cmd.Path, p.said())
		if err := errors.Join(p.cmd.Process.Kill(), <-ended); err != nil {
			t.Log(err)
		}
	}
	if t.Failed() {
		t.Logf("%s:\n%s", p.cmd.Path, p.said())
	}
}

// get asks a path of the process.
func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) (status int, body string) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

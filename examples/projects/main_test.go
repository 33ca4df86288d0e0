package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// patience is for things that take a second on an idle machine.
const patience = time.Minute

// program is the real binary.
type program string

func build(t *testing.T) program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "projects")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program(path)
}

// environment is ours without what would choose a server.
func environment(extra ...string) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, devdb.EnvDSN+"=") {
			env = append(env, pair)
		}
	}
	return append(env, extra...)
}

// run runs the program to its end.
func (p program) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, string(p), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// process is the program while it serves.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr *output
	ended  chan struct{}
}

// output may be read while it is written.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// serve starts the program and waits for its one line.
func (p program) serve(t *testing.T, args ...string) *process {
	t.Helper()
	s := &process{cmd: exec.CommandContext(context.Background(), string(p), append([]string{"-addr", "127.0.0.1:0"}, args...)...), //nolint:gosec // our binary
		stderr: &output{}, ended: make(chan struct{})}
	s.cmd.Env, s.cmd.Stderr = environment(), s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.signal(t, syscall.SIGKILL)
		<-s.ended
	})
	first := make(chan string, 1)
	go func() {
		defer close(s.ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			select {
			case first <- lines.Text():
			default:
			}
		}
		// The exit status is looked at in ProcessState.
		if err := s.cmd.Wait(); err != nil {
			return
		}
	}()
	select {
	case line := <-first:
		url, ok := strings.CutPrefix(line, "listening on http://")
		if !ok {
			t.Fatalf("the first line is %q", line)
		}
		s.url = "http://" + url
	case <-s.ended:
		t.Fatalf("it ended: %s", s.stderr)
	case <-time.After(patience):
		t.Fatalf("it does not listen: %s", s.stderr)
	}
	return s
}

func (s *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// stop sends a signal and returns the exit code and how long it took.
func (s *process) stop(t *testing.T, sig syscall.Signal) (code int, took time.Duration) {
	t.Helper()
	begin := time.Now()
	s.signal(t, sig)
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not end it: %s", sig, s.stderr)
	}
	return s.cmd.ProcessState.ExitCode(), time.Since(begin)
}

// call makes a request and decodes the answer.
func (s *process) call(t *testing.T, method, path, body string, dest any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if dest != nil {
		if err := json.Unmarshal(text, dest); err != nil {
			t.Fatalf("%s %s: %d %s: %v", method, path, res.StatusCode, text, err)
		}
	}
	return res.StatusCode
}

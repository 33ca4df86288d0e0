package main

import (
	"bytes"
	"errors"
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

// process is the real binary.
type process struct {
	cmd         *exec.Cmd
	out, errors output
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

func start(t *testing.T, program, dsn string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), program, args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errors
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, devdb.EnvDSN+"=") {
			p.cmd.Env = append(p.cmd.Env, pair)
		}
	}
	p.cmd.Env = append(p.cmd.Env, devdb.EnvDSN+"="+dsn)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(patience, func() {
		if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	})
	defer timer.Stop()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "orders")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dsn := dbtest.DSN(t)
	t.Run("stories", func(t *testing.T) {
		before := schemas(t, dsn)
		p := start(t, program, dsn)
		if code := p.end(t); code != 0 || !strings.Contains(p.out.String(), "One charge per key") || p.errors.String() != "" {
			t.Errorf("exit %d\n%s\n%s", code, &p.out, &p.errors)
		}
		// Another run of this program may be under way on the server; this one's schema is named in its first
		// line.
		_, rest, _ := strings.Cut(p.out.String(), "in the database ")
		name, _, _ := strings.Cut(rest, " ")
		if after := schemas(t, dsn); name == "" || after[name] || before[name] {
			t.Errorf("the database %q was left", name)
		}
	})
	t.Run("stopped stories", func(t *testing.T) {
		p := start(t, program, dsn)
		dbtest.Eventually(t, patience, func() (bool, string) { return strings.Contains(p.out.String(), "1. An order"), p.errors.String() })
		stop(t, p, syscall.SIGTERM)
	})
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run("served until "+sig.String(), func(t *testing.T) {
			p := start(t, program, dsn, "-serve", "-addr", "127.0.0.1:0")
			dbtest.Eventually(t, patience, func() (bool, string) {
				return strings.HasPrefix(p.out.String(), "listening on http://127.0.0.1:"), p.errors.String()
			})
			stop(t, p, sig)
		})
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-nothing"}, 2, "-nothing"},
		{[]string{"more"}, 2, `"more"`},
		{[]string{"-h"}, 0, "-addr"},
		{[]string{"-dsn", "root:geheim@tcp(127.0.0.1:1)/x"}, 1, "orders: "},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			p := start(t, program, dsn, tt.args...)
			if code := p.end(t); code != tt.code || !strings.Contains(p.errors.String(), tt.says) || strings.Contains(p.errors.String(), "geheim") || p.out.String() != "" {
				t.Errorf("exit %d, %q, %q", code, &p.out, &p.errors)
			}
		})
	}
}

func stop(t *testing.T, p *process, sig os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if code := p.end(t); code != 0 || time.Since(begin) > patience/2 {
		t.Errorf("%s: exit %d after %s\n%s\n%s", sig, code, time.Since(begin), &p.out, &p.errors)
	}
}

func schemas(t *testing.T, dsn string) map[string]bool {
	t.Helper()
	db := dbtest.OpenDSN(t, dsn)
	rows, err := db.QueryContext(t.Context(), "SHOW DATABASES LIKE 'onerow\\_orders\\_%'")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names[name] = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return names
}

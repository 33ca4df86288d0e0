package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestProgram(t *testing.T) {
	p := build(t)
	t.Run("command line", func(t *testing.T) { testCommandLine(t, p) })
	t.Run("private server", func(t *testing.T) { testPrivateServer(t, p) })
	t.Run("SIGKILL", func(t *testing.T) { testKill(t, p) })
}

func testCommandLine(t *testing.T, p program) {
	data := t.TempDir()
	s := p.serve(t, "-dsn", dbtest.DSN(t), "-data", data)
	addr := strings.TrimPrefix(s.url, "http://")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-nothing"}, 2, "-nothing"},
		{[]string{"nothing"}, 2, `"nothing"`},
		{[]string{"-max-upload", "0"}, 2, "-max-upload"},
		{[]string{"-addr", addr, "-data", t.TempDir()}, 1, "cannot listen on " + addr},
		{[]string{"--addr=127.0.0.1:0", "-data", t.TempDir(), "-dsn", "nonsense geheim"}, 1, "-dsn is not a data source name"},
		{[]string{"-addr", "127.0.0.1:0", "-data", t.TempDir(), "-dsn", "root:geheim@tcp(127.0.0.1:1)/x"}, 1, "does not answer"},
		{[]string{"-h"}, 0, "-addr"},
	} {
		code, stdout, stderr := p.run(t, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.says) || strings.Contains(stderr+stdout, "geheim") || stdout != "" {
			t.Errorf("%v: exit %d, %q, %q", tt.args, code, stdout, stderr)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		code, took := s.stop(t, sig)
		if code != 0 || took > 10*time.Second {
			t.Errorf("%s: exit %d after %s: %s", sig, code, took, s.stderr)
		}
		t.Logf("%s: ended after %s", sig, took)
		s = p.serve(t, "-dsn", dbtest.DSN(t), "-data", data)
	}
}

var privateAddr = regexp.MustCompile(`started privately on (127\.0\.0\.1:\d+)`)

// behindServer is the program as make demo starts it, on a server of its own.
func (p program) behindServer(t *testing.T, dir string) program {
	t.Helper()
	folder := t.TempDir()
	server, script := filepath.Join(folder, "withserver"), filepath.Join(folder, "demo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", server, "../../internal/devdb/cmd/withserver").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	text := fmt.Sprintf("#!/bin/sh\nexec %s -dir %s -- %s \"$@\"\n", server, dir, p)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return program(script)
}

// The private server comes up with the application, keeps its data, and is gone
// when the application has ended.
func testPrivateServer(t *testing.T, p program) {
	data := t.TempDir()
	t.Setenv(devdb.EnvDSN, "")
	if code, _, stderr := p.run(t, "-addr", "127.0.0.1:0", "-data", data); code != 1 || !strings.Contains(stderr, "there is no database: give one with -dsn") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	p = p.behindServer(t, filepath.Join(data, "server"))
	server, err := devdb.Start(t.Context(), devdb.Options{})
	if errors.Is(err, devdb.ErrNoServer) && os.Getenv(devdb.EnvImage) != "" {
		// The tests run on a container, and this machine has no server: it says so.
		code, _, stderr := p.run(t, "-addr", "127.0.0.1:0", "-data", data)
		if code != 1 || !strings.Contains(stderr, devdb.ErrNoServer.Error()) {
			t.Errorf("exit %d, %q", code, stderr)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		s := p.serve(t, "-data", data)
		found := privateAddr.FindStringSubmatch(s.stderr.String())
		if found == nil {
			t.Fatalf("it does not say which server it started: %s", s.stderr)
		}
		var u struct {
			ID    int64 `json:"id"`
			Items []any `json:"items"`
		}
		if s.call(t, "POST", "/api/users", `{"name":"Ada","plan":"free"}`, &u) != 201 || s.call(t, "GET", "/api/users", "", &u) != 200 || len(u.Items) != i+1 {
			t.Errorf("run %d: %+v", i, u)
		}
		code, took := s.stop(t, syscall.SIGTERM)
		if code != 0 || took > 15*time.Second {
			t.Errorf("exit %d after %s: %s", code, took, s.stderr)
		}
		t.Logf("ended after %s", took)
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", found[1])
		if err == nil {
			t.Errorf("the private server is still there: %v", conn.Close())
		}
	}
}

func empty(dir string) (bool, string) {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0, fmt.Sprintf("%s has %d files, %v", dir, len(entries), err)
}

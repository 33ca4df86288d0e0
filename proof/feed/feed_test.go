package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// patience is for things that take a second on an idle machine.
const patience = time.Minute

// build builds a program of a module.
func build(t *testing.T, module, path string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", module, "-o", program, path).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// serve starts the projects example and returns its address.
func serve(t *testing.T, dsn, data string) (url string) {
	t.Helper()
	var errs strings.Builder // read when it has ended
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t, "../../examples", "./projects"), "-addr", "127.0.0.1:0", "-dsn", dsn, "-data", data, "-poll", "50ms", "-max-upload", "1")
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("%v: %s", err, &errs)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("it says %q, %v", line, err)
	}
	return url
}

// feed runs the command.
func feed(t *testing.T, program string, args ...string) (code int, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	return cmd.ProcessState.ExitCode(), string(out)
}

// strangeFolder has files that want to be something else.
func strangeFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{"empty.txt": "", "big.bin": strings.Repeat("x", 1<<20+1), "Straße.png": "a", "STRASSE.jpg": "b",
		"a b%2F#?.txt": "c", ".gitignore": "d", "sub/😀.txt": "e", "Sub/1.txt": "f", strings.Repeat("n", 201) + ".txt": "g", "bad\xff.txt": "h", "new\nline": "i"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(body), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFeed loads the Go distribution's encoding packages and a folder of strange names, and deletes them
// again.
func TestFeed(t *testing.T) {
	dsn, data := dbtest.DSN(t), t.TempDir()
	addr, program := serve(t, dsn, data), build(t, ".", ".")
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, strange := filepath.Join(strings.TrimSpace(string(root)), "src", "encoding"), strangeFolder(t)
	for _, run := range []struct {
		args []string
		want []string
	}{
		{[]string{source}, []string{" 0 refused, 0 failed"}},
		{[]string{source}, []string{"projects: 0 created", "files:    0 created"}},
		// "Sub" and "sub" are one project, both spellings of Straße one screen.
		{[]string{strange}, []string{"projects: 2 created, 1 found, 0 refused", "files:    6 created, 1 new versions, 4 refused, 0 failed"}},
		{[]string{"-delete", source}, []string{" 0 refused, 0 failed"}},
		{[]string{strange, "-delete"}, []string{"projects: 2 deleted"}},
		{[]string{"-delete", strange}, []string{"projects: 0 deleted"}}, // nothing is left to delete
	} {
		code, text := feed(t, program, append(run.args, "-addr", addr)...)
		for _, want := range run.want {
			if code != 0 || !strings.Contains(text, want) {
				t.Errorf("%q: exit code %d, not %q", run.args, code, want)
			}
		}
	}
	db := dbtest.OpenDSN(t, dsn)
	for _, table := range []string{"project", "project_archive", "screen", "screen_archive", "comment"} {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows, %v", table, n, err)
		}
	}
	dbtest.Eventually(t, patience, func() (bool, string) {
		files, err := os.ReadDir(filepath.Join(data, "blobs"))
		return err == nil && len(files) == 0, fmt.Sprintf("%d files are left, %v", len(files), err)
	})
	for _, wrong := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "one folder"},
		{[]string{filepath.Join(data, "missing"), "-addr", addr}, 1, "missing"},
		{[]string{data, "-addr", "ftp://x"}, 1, "address"},
	} {
		if code, text := feed(t, program, wrong.args...); code != wrong.code || !strings.Contains(text, wrong.says) {
			t.Errorf("%q: exit code %d", wrong.args, code)
		}
	}
}

//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain also plays the app that is killed: a child of this same binary that starts a server and waits.
func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv("DEVDB_TEST_CHILD"); ok {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	s, err := Start(context.Background(), Options{Dir: dir, Durable: true})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("ready", s.private.proc.pid, s.DSN(""))
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until the test closes it or kills us
		return 1
	}
	if err := s.Close(); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// app is a running child.
type app struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	out    *bufio.Reader
	server int
	dsn    string
}

func startApp(t *testing.T, dir string) *app {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DEVDB_TEST_CHILD="+dir, EnvDSN+"=")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &app{cmd: cmd, stdin: stdin, out: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			if err := cmd.Process.Kill(); err == nil {
				err = cmd.Wait()
				t.Log("child at the end of the test:", err)
			}
		}
	})
	line, err := a.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "ready %d %s", &a.server, &a.dsn); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return a
}

func (a *app) kill(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
}

// An app is killed with SIGKILL again and again; its server follows it, and the next app finds all that was
// committed.
func TestKilledApp(t *testing.T) {
	dir := t.TempDir()
	for round := range 4 {
		a := startApp(t, dir)
		db := open(t, a.dsn)
		exec1(t, db, "CREATE DATABASE IF NOT EXISTS k")
		exec1(t, db, "CREATE TABLE IF NOT EXISTS k.t (id INT PRIMARY KEY)")
		exec1(t, db, fmt.Sprintf("INSERT INTO k.t VALUES (%d)", round))
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM k.t").Scan(&n); err != nil || n != round+1 {
			t.Fatalf("round %d: %d rows, %v", round, n, err)
		}
		a.kill(t)
		if round%2 == 0 {
			eventually(t, "the server follows its app", func() bool { return !alive(a.server) })
		} // else the next Start has to wait for it
	}
	s := start(t, Options{Dir: dir, Durable: true})
	var n int
	if err := open(t, s.DSN("k")).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 4 {
		t.Errorf("%d rows at the end, %v", n, err)
	}
}

// What an app left behind does not react to SIGTERM, so it is killed. (A stand-in, for no server is as
// stubborn.)
func TestStubbornOrphan(t *testing.T) {
	dir := t.TempDir()
	l, err := lockDir(t.Context(), dir, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "ready")
	p, err := spawn("/bin/sh", []string{"-c", "trap '' TERM; : >" + ready + "; while :; do sleep 60; done"}, nil, null, l)
	if err = errors.Join(err, null.Close()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stand-in is deaf", func() bool { _, err := os.Stat(ready); return err == nil })
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%-10d %-10d\n", dead.Process.Pid, p.pid) // as if that process had started it
	if _, err := l.file.WriteAt([]byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if err := l.unlock(); err != nil { // the child still holds it
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := lockDir(short, dir, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a deaf process does not give the folder back: %v", err)
	}
	l, err = lockDir(t.Context(), dir, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if err := l.unlock(); err != nil {
		t.Error(err)
	}
}

// A run that was killed while it initialised leaves data.new and perhaps a lock of children that still write
// there.
func TestInterruptedInitialisation(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DEVDB_TEST_CHILD="+dir, EnvDSN+"=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "half a data directory", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "data.new", "ib*"))
		return err == nil && len(found) > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("not killed")
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("killed too late for this test: %v", err)
	}
	s := start(t, Options{Dir: dir})
	if err := s.CreateDatabase(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

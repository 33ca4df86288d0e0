//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

func start(t *testing.T, o Options) *Server {
	t.Helper()
	t.Setenv(EnvDSN, "")
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec1(t *testing.T, db *sql.DB, q string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), q); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(15 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			t.Fatal("not in time: ", what)
		case <-tick.C:
		}
	}
}

func TestThrowAwayServer(t *testing.T) {
	s := start(t, Options{})
	t.Log(s.Engine(), s.Version(), "—", s.Source())
	if s.Engine() != s.private.bin.engine() {
		t.Errorf("VERSION() says %s, --version %s", s.Engine(), s.private.bin.version)
	}
	for range 2 {
		if err := s.CreateDatabase(t.Context(), "a`b c"); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, s.DSN("a`b c"))
	var got struct {
		db, charset, isolation, zone string
		now                          time.Time
	}
	q := "SELECT DATABASE(), @@character_set_client, @@" + s.IsolationVariable() + ", @@time_zone, UTC_TIMESTAMP(6)"
	if err := db.QueryRowContext(t.Context(), q).Scan(&got.db, &got.charset, &got.isolation, &got.zone, &got.now); err != nil {
		t.Fatal(err)
	}
	if got.db != "a`b c" || got.charset != "utf8mb4" || got.isolation != "READ-COMMITTED" || got.zone != "+00:00" || got.now.Location() != time.UTC {
		t.Errorf("session: %+v", got)
	}
	var limit int
	if err := db.QueryRowContext(t.Context(), "SELECT @@max_connections").Scan(&limit); err != nil || limit < 500 {
		t.Errorf("max_connections %d, %v", limit, err)
	}
	if err := s.DropDatabase(t.Context(), "a`b c"); err != nil {
		t.Error(err)
	}
	dir, pid := s.private.dir, s.private.proc.pid
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s stays: %v", dir, err)
	}
	if alive(pid) {
		t.Error("the server stays")
	}
}

// A kept folder keeps its data over a clean stop, and has one user at a time.
func TestKeptFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-name-", 8)) // too long for a socket
	t.Setenv(EnvDSN, "")
	s := start(t, Options{Dir: dir, Durable: true})
	if len(s.private.socket) >= maxSocketPath {
		t.Error("socket path too long:", s.private.socket)
	}
	if err := s.CreateDatabase(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	exec1(t, open(t, s.DSN("kept")), "CREATE TABLE t (id INT PRIMARY KEY)")
	if _, err := Start(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrInUse) {
		t.Errorf("second use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.private.socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's folder stays: %v", err)
	}
	s = start(t, Options{Dir: dir, Durable: true})
	exec1(t, open(t, s.DSN("kept")), "INSERT INTO t VALUES (1)")
}

// ^C goes to the foreground process group; the server is in one of its own.
func TestOwnProcessGroup(t *testing.T) {
	s := start(t, Options{})
	group, err := syscall.Getpgid(s.private.proc.pid)
	if err != nil || group != s.private.proc.pid || group == syscall.Getpgrp() {
		t.Errorf("process group %d of server %d, ours %d: %v", group, s.private.proc.pid, syscall.Getpgrp(), err)
	}
}

func TestUsedServerStays(t *testing.T) {
	s := start(t, Options{})
	t.Setenv(EnvDSN, s.DSN(""))
	used, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if used.Version() != s.Version() || !strings.Contains(used.Source(), EnvDSN) {
		t.Errorf("%s %s", used.Version(), used.Source())
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateDatabase(t.Context(), "still_there"); err != nil {
		t.Error(err)
	}
	t.Setenv(EnvDSN, "root:secret@nonsense")
	if _, err := Start(t.Context(), Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// Throw-away folders of killed runs go with a later start; those in use and the young ones stay.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	past := time.Now().Add(-time.Hour)
	mk := func(name string) (dir, lock string) {
		dir = filepath.Join(temp, name)
		lock = filepath.Join(dir, "lock")
		if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return dir, lock
	}
	old, oldLock := mk("onerow-devdb-old")
	young, _ := mk("onerow-devdb-young")
	used, usedLock := mk("onerow-devdb-used")
	l, err := lockDir(t.Context(), used, stopPatience)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{oldLock, usedLock} {
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	start(t, Options{})
	for dir, want := range map[string]bool{old: false, young: true, used: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s stays: %v, want %v", dir, err == nil, want)
		}
	}
	if err := l.unlock(); err != nil {
		t.Error(err)
	}
}

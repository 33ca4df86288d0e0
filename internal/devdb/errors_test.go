//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOtherEngine(t *testing.T) {
	dir := t.TempDir()
	s := start(t, Options{Dir: dir})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := MariaDB
	if s.Engine() == MariaDB {
		other = MySQL
	}
	if err := os.WriteFile(filepath.Join(dir, "data", engineFile), []byte(other+"\n1.2.3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: dir})
	if !errors.Is(err, ErrOtherEngine) || !strings.Contains(err.Error(), other) || !strings.Contains(err.Error(), s.Engine()) {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}

func TestNoServer(t *testing.T) {
	t.Setenv(EnvDSN, "")
	t.Setenv(EnvMysqld, "")
	t.Setenv("PATH", t.TempDir())
	old := serverFolders
	serverFolders = nil
	t.Cleanup(func() { serverFolders = old })
	_, err := Start(t.Context(), Options{})
	if !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "mariadb-server-core mariadb-client-core") {
		t.Errorf("got %v", err)
	}
	t.Setenv(EnvMysqld, "/no/such/mysqld")
	if _, err = Start(t.Context(), Options{}); err == nil || errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), EnvMysqld) {
		t.Errorf("got %v", err)
	}
}

// A program that is no server, or one that fails, is quoted and leaves nothing behind.
func TestBrokenServer(t *testing.T) {
	t.Setenv(EnvDSN, "")
	fake := filepath.Join(t.TempDir(), "mysqld")
	script := "#!/bin/sh\ncase \"$*\" in *--version*) echo mysqld Ver 8.0.0;; *) echo it hurts; exit 3;; esac\n"
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvMysqld, fake)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := Start(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "it hurts") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

// TestLockOfAForkedChild: a child that was forked a moment ago still has the lock of a server that was closed. A server
// that is in use keeps it.
func TestLockOfAForkedChild(t *testing.T) {
	dir := t.TempDir()
	l, err := lockDir(t.Context(), dir, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(t.Context(), dir, time.Hour); !errors.Is(err, ErrInUse) {
		t.Errorf("it is in use: %v", err)
	}
	childs, err := syscall.Dup(int(l.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.unlock(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = syscall.Close(childs) })
	if l, err = lockDir(t.Context(), dir, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := l.unlock(); err != nil {
		t.Error(err)
	}
}

//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPatience is how long a Start waits for the folder's user to let go.
const lockPatience = 20 * time.Second

// ownPatience is the same where this process has it. A child that it has just forked holds the folder of a
// server that was closed, until it is another program: moments, or seconds without a processor.
const ownPatience = 3 * time.Second

// dirLock is the exclusive use of a folder. It is a flock on an open file, and child processes inherit the
// open file: the lock is free exactly when this process and its children are gone. The file names both, for
// the next one's decision and for people.
type dirLock struct{ file *os.File }

// holder is who wrote itself into a lock file.
type holder struct{ app, server int }

// lockDir takes the folder, waiting for a run that is ending. If the app that started the server is dead, its
// orphaned server is asked to end, and after killAfter made to.
func lockDir(ctx context.Context, dir string, killAfter time.Duration) (*dirLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the developer's own folder
	if err != nil {
		return nil, fmt.Errorf("devdb: lock the data directory: %w", err)
	}
	l := &dirLock{file: file}
	started, asked := time.Now(), false
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := flock(file)
		if err == nil {
			if err = l.write(0); err == nil {
				return l, nil
			}
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("devdb: lock %s: %w", path, err), file.Close())
		}
		h := l.read()
		waited := time.Since(started)
		if h.app == os.Getpid() && waited > ownPatience || waited > lockPatience {
			return nil, errors.Join(fmt.Errorf("devdb: %w: %s belongs to process %d (its server: %d); stop it or choose another folder",
				ErrInUse, dir, h.app, h.server), file.Close())
		}
		// The lock is held and the app is dead, so what holds it is the server that is named here: the number
		// can not have been given to another process.
		if h.app > 0 && h.server > 0 && !alive(h.app) {
			switch {
			case !asked:
				asked = true
				err = kill(h.server, syscall.SIGTERM)
			case waited > killAfter:
				err = kill(h.server, syscall.SIGKILL)
			default:
				err = nil
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("devdb: stop the server %d that a killed run left behind: %w", h.server, err), file.Close())
			}
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("devdb: waiting for %s: %w", dir, ctx.Err()), file.Close())
		case <-tick.C:
		}
	}
}

func flock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor fits an int
}

// write names this process and its server (0: none yet) in the lock file.
func (l *dirLock) write(server int) error {
	text := fmt.Sprintf("%-10d %-10d\n", os.Getpid(), server) // of constant length: a reader never sees half of two texts
	_, err := l.file.WriteAt([]byte(text), 0)
	return err
}

// read returns who holds the lock; zero where nobody has written yet.
func (l *dirLock) read() holder {
	var h holder
	buf := make([]byte, 64)
	n, err := l.file.ReadAt(buf, 0)
	if n == 0 && err != nil {
		return holder{}
	}
	if _, err := fmt.Sscan(string(buf[:n]), &h.app, &h.server); err != nil {
		return holder{}
	}
	return h
}

func (l *dirLock) unlock() error { return l.file.Close() }

// alive says whether a process exists (a stranger's, too).
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// kill signals the process group that a server leads. That it is gone already is no error.
func kill(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// proc is a child in a process group of its own, so that ^C in a terminal reaches the app and not the server.
type proc struct {
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // why; valid after done
}

// spawn starts a program with its output in log and the lock inherited. The goroutine that starts it keeps
// its thread until the child has ended: Linux sends the parent-death signal when the *thread* that forked
// ends, and Go ends threads at will.
func spawn(path string, args, env []string, log *os.File, lock *dirLock) (*proc, error) {
	cmd := exec.Command(path, args...) //nolint:gosec // the server program that was found or chosen
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock.file}
	cmd.SysProcAttr = sysProcAttr()
	if len(env) > 0 {
		cmd.Env = append(os.Environ(), env...)
	}
	p := &proc{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	// From here on a killed run's successor knows whom to stop.
	if err := lock.write(p.pid); err != nil {
		_, stopErr := p.stop(0)
		return nil, joinNonNil(err, stopErr)
	}
	return p, nil
}

// ended says whether the child is gone.
func (p *proc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks the child to end, and makes it end when patience is over.
func (p *proc) stop(patience time.Duration) (killed bool, err error) {
	if p.ended() {
		return false, nil
	}
	if err := kill(p.pid, syscall.SIGTERM); err != nil {
		return false, err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return false, nil
	case <-timer.C:
	}
	if err := kill(p.pid, syscall.SIGKILL); err != nil {
		return true, err
	}
	<-p.done
	return true, nil
}

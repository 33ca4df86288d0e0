//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suspendTime is how long a process may take to stop.
const suspendTime = 10 * time.Second

// Suspend stops a process with SIGSTOP and returns when none of its threads runs any more: on a busy
// machine one may still answer a while after the signal was sent. SIGCONT continues it.
func Suspend(pid int) error {
	if err := kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for deadline := time.Now().Add(suspendTime); ; time.Sleep(time.Millisecond) {
		running, err := threads(pid)
		switch {
		case err != nil || running == 0:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("devdb: %d threads of process %d run on after SIGSTOP", running, pid)
		}
	}
}

// threads counts those of a process that are not stopped.
func threads(pid int) (running int, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		text, rerr := os.ReadFile(file) //nolint:gosec // of a process that the caller has chosen
		if rerr != nil {                // the thread has ended
			continue
		}
		if at := strings.LastIndex(string(text), ") "); at < 0 || text[at+2] != 'T' {
			running++
		}
	}
	return running, err
}

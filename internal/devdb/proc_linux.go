package devdb

import "syscall"

// sysProcAttr: a group of its own, and SIGTERM when the parent dies, by SIGKILL too.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

//go:build darwin || freebsd || netbsd || openbsd

package devdb

import "syscall"

// sysProcAttr: a group of its own. There is no parent-death signal here: the next Start on the folder ends an
// orphan.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

package brokenfuzz

import (
	"fmt"
	"syscall"
)

// mount puts a small file system into memory.
func mount(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", disk)); err != nil {
		return fmt.Errorf("soak: no small disk can be mounted, which takes root (in a container CAP_SYS_ADMIN): %w", err)
	}
	return nil
}

func unmount(dir string) error {
	if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("soak: unmount %s: %w", dir, err)
	}
	return nil
}

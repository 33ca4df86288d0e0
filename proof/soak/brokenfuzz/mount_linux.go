package brokenfuzz

import (
	"fmt"
	"os"
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

// room is how many bytes are left.
func room(dir string) (int64, error) {
	var free syscall.Statfs_t
	if err := syscall.Statfs(dir, &free); err != nil {
		return 0, fmt.Errorf("soak: %w", err)
	}
	return int64(free.Bavail) * free.Bsize, nil //nolint:gosec // a small disk
}

// reserve takes so many bytes of the disk, or none.
func reserve(f *os.File, size int64) error {
	if err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err != nil { //nolint:gosec // a descriptor fits an int
		return fmt.Errorf("soak: %w", err)
	}
	return nil
}

package fuzz

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/onerow/onerow/internal/devdb"
)

// Kill sends SIGKILL to a server that has its data in dir, and waits until the process is gone. One that has
// ended by itself is only waited for.
func Kill(dir string, server *devdb.Server) error {
	text, err := os.ReadFile(filepath.Join(dir, "server.pid")) //nolint:gosec // in a folder of ours
	if errors.Is(err, fs.ErrNotExist) {
		return server.Close() //nolint:wrapcheck // it says all
	}
	pid := 0
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if errors.Is(err, syscall.ESRCH) {
		err = nil
	}
	return errors.Join(err, server.Close())
}

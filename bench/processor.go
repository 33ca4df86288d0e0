package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/onerow/onerow"
)

// processors is how much time of processors was used: of this process, which is all clients, and of the
// server.
type processors struct{ clients, server time.Duration }

func (p processors) since(before processors) processors {
	return processors{p.clients - before.clients, p.server - before.server}
}

// tick is the kernel's unit of such times.
const tick = 10 * time.Millisecond

// used asks the kernel.
func (s *site) used(ctx context.Context) (p processors, err error) {
	if s.stat == "" {
		var file, dir string
		if err := onerow.QueryRow(ctx, s.apart, "SELECT @@pid_file, @@datadir", nil, &file, &dir); err != nil {
			return p, err
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		pid, err := os.ReadFile(file) //nolint:gosec // the server's own
		if err != nil {
			return p, fmt.Errorf("which process is the server? %w", err)
		}
		s.stat = filepath.Join("/proc", string(bytes.TrimSpace(pid)), "stat")
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return p, err
	}
	text, err := os.ReadFile(s.stat)
	if err != nil {
		return p, err
	}
	// The name of the program, in brackets, may have spaces in it; utime and stime are the 12th and 13th
	// field behind it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return p, fmt.Errorf("%s: %w", s.stat, err)
		}
		p.server += time.Duration(n) * tick
	}
	p.clients = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return p, nil
}

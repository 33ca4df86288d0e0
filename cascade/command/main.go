package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Main runs the command line of this process and returns its exit code. version is what --version says, "" for
// that of the build.
func Main(version string) int {
	// The first signal asks for a clean stop; a second one ends the process at once. It counts
	// only after a moment: timeout(1) and others signal a process and its group.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) })
	return execute(ctx, environment{ // still deaf to the second signal
		version:  version,
		args:     os.Args[1:],
		stdin:    os.Stdin,
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		getenv:   os.Getenv,
		terminal: drawable(os.Stderr),
	})
}

// secondSignal is how long after the first one a signal is the same.
const secondSignal = 500 * time.Millisecond

// drawable says whether a bar can be drawn: on a terminal that can move its cursor and
// knows its size.
func drawable(f *os.File) bool {
	width, height, err := term.GetSize(int(f.Fd())) //nolint:gosec // a descriptor fits
	return err == nil && width > 0 && height > 0 && os.Getenv("TERM") != "dumb"
}

// environment is everything that the command takes from its process.
type environment struct {
	version        string
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	terminal       bool // stderr is a terminal, so progress may be drawn there
}

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// execute runs one command line and returns the exit code. The end of ctx asks for a
// clean stop. It prints the error, if there is one, and is the only one to do so.
func execute(ctx context.Context, s environment) int {
	err := dispatch(ctx, s)
	if err == nil {
		return exitOK
	}
	return report(s, err)
}

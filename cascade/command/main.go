package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/schema"
)

// Options are what a program gives its command line beside the plan. The zero value is valid.
type Options struct {
	// Version is what --version and the log say; the version of the build's module by default.
	Version string
	// OpenAssets opens the place that --assets or ONEROW_ASSETS names, and returns how to close it. Its error
	// is printed, with the exit code 2; it should not quote the address, which may carry keys. Without it
	// there is no place for assets.
	OpenAssets func(ctx context.Context, address string) (cascade.Assets, func() error, error)
}

// Main runs the command line of this process and returns its exit code, for [os.Exit]. plan is the program's
// own; without one --plan names a file.
func Main(plan *schema.Plan, o Options) int {
	// The first signal asks for a clean stop; a second one ends the process at once. It counts
	// only after a moment: timeout(1) and others signal a process and its group.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) })
	return execute(ctx, shell.Environment{ // still deaf to the second signal
		Version:    o.Version,
		OwnPlan:    plan,
		OpenAssets: o.OpenAssets,
		Args:       os.Args[1:],
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Getenv:     os.Getenv,
		Terminal:   drawable(os.Stderr),
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

// execute runs one command line and returns the exit code. The end of ctx asks for a
// clean stop. It prints the error, if there is one, and is the only one to do so.
func execute(ctx context.Context, s shell.Environment) int {
	err := dispatch(ctx, s)
	if err == nil {
		return shell.ExitOK
	}
	return shell.Report(s, err)
}

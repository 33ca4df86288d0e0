package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs an example and returns the exit code: 0 when play returned nil, 1 after
// an error or a signal, 2 when the command line cannot be understood. play gets a fresh
// database with the toolkit's tables, and a page that writes to stdout.
func Main(flags *flag.FlagSet, args []string, stdout, stderr io.Writer, play func(ctx context.Context, d *Database, page *Page) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// After the first signal the next one has its usual effect: the process ends.
	context.AfterFunc(ctx, stop)

	dsn := flags.String("dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/; default: ONEROW_DSN")
	verbose := flags.Bool("v", false, "say which server it is")
	flags.SetOutput(stderr)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage // flag has printed it
	case flags.NArg() > 0:
		return say(stderr, flags.Name(), fmt.Errorf("it takes flags only, not %q; -h lists them", flags.Arg(0)), exitUsage)
	}
	log := slog.New(slog.DiscardHandler)
	if *verbose {
		log = slog.New(slog.NewTextHandler(stderr, nil))
	}
	err := withDatabase(ctx, *dsn, flags.Name(), log, func(ctx context.Context, d *Database) error {
		page := &Page{w: stdout}
		return errors.Join(play(ctx, d, page), page.err)
	})
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return say(stderr, flags.Name(), fmt.Errorf("stopped before the end: %w", err), exitFailed)
	}
	return say(stderr, flags.Name(), err, exitFailed)
}

// say prints the error as one line.
func say(w io.Writer, name string, err error, code int) int {
	line := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	if _, werr := fmt.Fprintf(w, "%s: %s\n", name, line); werr != nil {
		slog.Debug("standard error is closed", "error", werr)
	}
	return code
}

package connect

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of a command.
const (
	exitFailed = 1
	exitUsage  = 2
)

// ErrUsage marks an error that the command line has made.
var ErrUsage = errors.New("-h lists the flags")

// Command runs a program and returns its exit code: 1 after an error, 2 after [ErrUsage]. declare declares
// the flags, and returns what runs when they are read. The context ends with SIGTERM or Ctrl-C; a second
// signal ends the process at once.
func Command(name string, declare func(*flag.FlagSet) func(context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	run := declare(flags)
	err := flags.Parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage // flag has printed it
	case flags.NArg() > 0:
		err = fmt.Errorf("it takes flags only, not %q (%w)", flags.Arg(0), ErrUsage)
	default:
		err = run(ctx)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrUsage) {
		return exitUsage
	}
	return exitFailed
}

// UnlessStopped returns err, but nil if ctx has ended: a signal is how a server is stopped.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// maxConns is how many transactions of an example run at once.
const maxConns = 16

// Main runs an example that prints one page, as [Command] does. play gets a fresh database with the toolkit's
// tables and the example's. The database is dropped at the end, also after a signal, but not after a second.
func Main(name string, tables []string, play func(ctx context.Context, db *sql.DB) (page string, err error)) int {
	return Command(name, func(flags *flag.FlagSet) func(context.Context) error {
		dsn := flags.String("dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/; default: "+EnvDSN)
		return func(ctx context.Context) (err error) {
			d, err := Open(ctx, *dsn, name, true, maxConns)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Close()) }()
			if err := Create(ctx, d.DB, tables); err != nil {
				return err
			}
			page, err := play(ctx, d.DB)
			_, werr := fmt.Print(page)
			return errors.Join(err, werr)
		}
	})
}

// Command projects is the example application: users with plans, their projects,
// the screens of a project with files, comments on screens. It shows the whole way
// through the toolkit on a real server.
//
//	projects [-addr 127.0.0.1:8080] [-dsn DSN] [-data .data]
//
// make demo starts it on a server of its own. Without -dsn it uses the database in ONEROW_DSN. When
// it serves requests it prints "listening on http://…" on standard output; everything else goes to standard
// error. SIGTERM and Ctrl-C stop it cleanly, a second Ctrl-C at once.
//
// It has no accounts with passwords: anybody who reaches its address may do everything.
// It is an example, and listens on the loopback interface.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/onerow/onerow/examples/projects/internal/app"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs the application and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "projects:", err, "(-h lists the flags)")
		return exitUsage
	}
	err = app.Run(ctx, c)
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) { // stopped, perhaps while it started
		return 0
	}
	fmt.Fprintln(os.Stderr, "projects:", err)
	return exitFailed
}

// parse reads the command line.
func parse(args []string) (app.Config, error) {
	c := app.Config{Out: os.Stdout}
	flags := flag.NewFlagSet("projects", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error, once
	flags.StringVar(&c.Addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes a free one")
	flags.StringVar(&c.DSN, "dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/database; default: ONEROW_DSN")
	flags.StringVar(&c.Data, "data", ".data", "`folder` of the files")
	maxUpload := flags.Int64("max-upload", 32, "largest file, in MiB")
	flags.DurationVar(&c.Grace, "grace", 15*time.Second, "how long the pages let a deletion be undone")
	flags.IntVar(&c.Batch, "batch", 0, "the cascade's `rows` per transaction without anything below (default 1000)")
	flags.IntVar(&c.Chunk, "chunk", 0, "the cascade's `rows` per transaction with something below or a file (default 500)")
	flags.DurationVar(&c.Lease, "lease", 0, "how long a cascade rests after its worker was killed (default 10s)")
	flags.DurationVar(&c.Poll, "poll", 250*time.Millisecond, "how often the idle worker looks for deletions")
	verbose := flags.Bool("v", false, "log details")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stderr)
		flags.PrintDefaults()
		return c, err
	case err != nil:
		return c, err
	case flags.NArg() > 0:
		return c, fmt.Errorf("it takes flags only, not %q", flags.Arg(0))
	case *maxUpload < 1 || *maxUpload > 1<<20:
		return c, fmt.Errorf("-max-upload must be 1 to %d MiB", 1<<20)
	case c.Batch < 0 || c.Chunk < 0 || c.Lease < 0 || c.Poll < 0:
		return c, errors.New("-batch, -chunk, -lease and -poll cannot be negative")
	case c.Grace < 0 || c.Grace > 24*time.Hour:
		return c, errors.New("-grace must be 0s to 24h")
	}
	c.MaxUpload = *maxUpload << 20
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return c, nil
}

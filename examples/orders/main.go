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
	"strings"
	"syscall"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/app"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage: the command line cannot be understood.
var errUsage = errors.New("usage")

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the next one has its usual effect: the process ends.
	context.AfterFunc(ctx, stop)

	c, err := parse(args, stdout, stderr)
	if err == nil {
		err = app.Run(ctx, c)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return 0 // stopped
	case errors.Is(err, errUsage):
		say(stderr, err)
		return exitUsage
	}
	say(stderr, err)
	return exitFailed
}

func say(w io.Writer, err error) {
	if _, werr := fmt.Fprintln(w, "orders:", strings.TrimPrefix(err.Error(), errUsage.Error()+": ")); werr != nil {
		slog.Debug("standard error is closed", "error", werr)
	}
}

func parse(args []string, stdout, stderr io.Writer) (app.Config, error) {
	c := app.Config{Out: stdout}
	flags := flag.NewFlagSet("orders", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by run
	flags.Usage = func() {}
	flags.BoolVar(&c.Serve, "serve", false, "serve the API instead of telling the stories")
	flags.StringVar(&c.Addr, "addr", "127.0.0.1:8081", "with -serve: `address` to listen on; port 0 takes a free one")
	flags.StringVar(&c.DSN, "dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/database; default: ONEROW_DSN")
	flags.Int64Var(&c.Seed, "seed", 1, "of the bank, for the card \"any\"")
	flags.DurationVar(&c.ChargeTime, "charge-time", 10*time.Second, "how long the bank's answer is waited for")
	verbose := flags.Bool("v", false, "log details")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		return c, err
	case err != nil:
		return c, fmt.Errorf("%w: %w (-h lists the flags)", errUsage, err)
	case flags.NArg() > 0:
		return c, fmt.Errorf("%w: there are flags only, not %q", errUsage, flags.Arg(0))
	case c.ChargeTime < time.Second || c.ChargeTime > time.Minute:
		return c, fmt.Errorf("%w: -charge-time must be 1s to 1m", errUsage)
	}
	level := slog.LevelError + 1 // nothing: what goes wrong in the stories does so on purpose
	if c.Serve {
		level = slog.LevelInfo
	}
	if *verbose {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	return c, nil
}

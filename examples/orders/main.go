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

	"github.com/onerow/onerow/examples/orders/internal/app"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs the example and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "orders:", err, "(-h lists the flags)")
		return exitUsage
	}
	err = app.Run(ctx, c)
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) { // stopped
		return 0
	}
	fmt.Fprintln(os.Stderr, "orders:", err)
	return exitFailed
}

// parse reads the command line.
func parse(args []string) (app.Config, error) {
	c := app.Config{Out: os.Stdout}
	flags := flag.NewFlagSet("orders", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error, once
	flags.BoolVar(&c.Serve, "serve", false, "serve the API instead of telling the stories")
	flags.StringVar(&c.Addr, "addr", "127.0.0.1:8081", "with -serve: `address` to listen on; port 0 takes a free one")
	flags.StringVar(&c.DSN, "dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/database; default: ONEROW_DSN")
	flags.DurationVar(&c.ChargeTime, "charge-time", 10*time.Second, "how long the bank's answer is waited for")
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
	case c.ChargeTime < time.Second || c.ChargeTime > time.Minute:
		return c, errors.New("-charge-time must be 1s to 1m")
	}
	level := slog.LevelError + 1 // nothing: what goes wrong in the stories does so on purpose
	if c.Serve {
		level = slog.LevelInfo
	}
	if *verbose {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return c, nil
}

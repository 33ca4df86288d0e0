// Command helpdesk is a helpdesk whose database somebody else has designed: it is adopted while the old
// application writes, and then has an API. See README.md.
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

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/limit"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `helpdesk [serve] [flags]  the API; an empty database is seeded and adopted first
helpdesk seed             makes the old tables, with -rows rows
helpdesk old-writer       writes into them as the old application, until it is stopped; -taught: as one
                          that writes what the files behind the backfill demand
helpdesk adopt            runs the files before the backfill, and the backfill
helpdesk adopt -taught    when all old writers are: the backfill once more, and the other files
`

// config is the command line.
type config struct {
	dsn, addr, data string
	rows            int
	taught          bool
	out             io.Writer
	log             *slog.Logger
}

func (c config) say(format string, args ...any) {
	if _, err := fmt.Fprintf(c.out, format, args...); err != nil {
		c.log.Debug("standard output is closed", "error", err)
	}
}

// command runs one and returns the exit code: 0, 1 after an error, 2 where the command line cannot be read.
func command(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once

	c := config{out: stdout, log: slog.New(slog.NewTextHandler(stderr, nil))}
	name := "serve"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("helpdesk", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		if _, err := io.WriteString(stderr, usage); err == nil {
			flags.PrintDefaults()
		}
	}
	flags.StringVar(&c.dsn, "dsn", "", "data source `name` of a running server, user:password@tcp(host:3306)/database; default: ONEROW_DSN")
	flags.StringVar(&c.addr, "addr", "127.0.0.1:8082", "`address` to listen on; port 0 takes a free one")
	flags.StringVar(&c.data, "data", ".data/helpdesk", "`folder` of the attachments")
	flags.IntVar(&c.rows, "rows", 10_000, "of the old tables, at most 200,000")
	flags.BoolVar(&c.taught, "taught", false, "the old writers are taught")
	commands := map[string]func(context.Context, config) error{"serve": serve, "seed": seed, "old-writer": write, "adopt": adoptAll}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2 // flag has said it
	case commands[name] == nil || flags.NArg() > 0 || c.rows < 1 || c.rows > 200_000:
		flags.Usage()
		return 2
	}
	err = commands[name](ctx, c)
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 0
	}
	if _, werr := fmt.Fprintln(stderr, "helpdesk:", err); werr != nil {
		c.log.Debug("standard error is closed", "error", werr)
	}
	return 1
}

// with opens the database for a command.
func with(ctx context.Context, c config, do func(*connect.Database) error) (err error) {
	place, err := connect.Open(ctx, c.dsn, "helpdesk", false, 20)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	return do(place)
}

func seed(ctx context.Context, c config) error {
	return with(ctx, c, func(place *connect.Database) error {
		is, err := empty(ctx, place.DB)
		if err == nil && !is {
			err = fmt.Errorf("the database %s has a helpdesk already", place.Name)
		}
		if err != nil {
			return err
		}
		return Seed(ctx, place.DB, c.rows)
	})
}

func write(ctx context.Context, c config) error {
	return with(ctx, c, func(place *connect.Database) error {
		w := NewOldWriter(place.DB, uint64(time.Now().UnixNano())) //nolint:gosec // any number does
		w.Taught.Store(c.taught)
		err := w.Run(ctx, nil)
		c.say("%d writes were acknowledged\n", w.Writes.Load())
		return err
	})
}

func adoptAll(ctx context.Context, c config) error {
	return with(ctx, c, func(place *connect.Database) error {
		if !c.taught {
			if err := Expand(ctx, place.DB, c.say); err != nil {
				return err
			}
		}
		if err := Backfill(ctx, place.DB, c.say); err != nil {
			return err
		}
		if !c.taught {
			c.say("now teach the old writers, then: helpdesk adopt -taught\n")
			return nil
		}
		return Contract(ctx, place.DB, c.say)
	})
}

func serve(ctx context.Context, c config) error {
	return with(ctx, c, func(place *connect.Database) error {
		is, err := empty(ctx, place.DB)
		if err != nil {
			return err
		}
		if is { // nobody writes into it yet
			for _, do := range []func() error{
				func() error { return Seed(ctx, place.DB, c.rows) },
				func() error { return Expand(ctx, place.DB, c.say) },
				func() error { return Backfill(ctx, place.DB, c.say) },
				func() error { return Contract(ctx, place.DB, c.say) },
			} {
				if err := do(); err != nil {
					return err
				}
			}
		}
		if err := os.MkdirAll(c.data, 0o750); err != nil {
			return err
		}
		desk, err := NewDesk(ctx, place.DB, Folder(c.data))
		if err != nil {
			return err
		}
		return listen(ctx, c, desk)
	})
}

// listen serves the API, and works off deletions and reservations, until ctx ends.
func listen(ctx context.Context, c config, d *Desk) error {
	plan, err := Plan()
	if err != nil {
		return err
	}
	worker, err := cascade.NewWorker(d.db, plan, cascade.Config{Assets: d.files, Log: c.log})
	if err != nil {
		return err
	}
	listener, err := connect.Listen(ctx, c.addr)
	if err != nil {
		return err
	}
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return worker.Run(ctx) })
	parts.Go(func() error { return limit.NewSweeper(d.db, limit.Config{Log: c.log}, d.bytes).Run(ctx) })
	parts.Go(func() error { return connect.Serve(ctx, listener, API(d, c.log), uploadTime, c.log) })
	c.say("listening on http://%s\n", listener.Addr())
	return parts.Wait()
}

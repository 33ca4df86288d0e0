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

	"github.com/onerow/onerow/examples/projects/internal/app"
	"github.com/onerow/onerow/examples/projects/internal/load"
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

	command, rest := "serve", args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, rest = args[0], args[1:]
	}
	var err error
	switch command {
	case "serve":
		err = serve(ctx, rest, stdout, stderr)
	case "load":
		err = feed(ctx, rest, stdout, stderr)
	case "help":
		err = flag.ErrHelp
		usage(stdout)
	default:
		err = fmt.Errorf("%w: there is no command %q; it is serve, load or help", errUsage, command)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return 0 // stopped while it was starting
	case errors.Is(err, errUsage):
		say(stderr, err)
		return exitUsage
	}
	say(stderr, err)
	return exitFailed
}

func say(w io.Writer, err error) {
	if _, werr := fmt.Fprintln(w, "projects:", strings.TrimPrefix(err.Error(), errUsage.Error()+": ")); werr != nil {
		slog.Debug("standard error is closed", "error", werr)
	}
}

func usage(w io.Writer) {
	if _, err := io.WriteString(w, `projects [serve] [flags]      the web application (-h lists the flags)
projects load DIR [flags]     feeds a folder tree to a running application
`); err != nil {
		slog.Debug("standard output is closed", "error", err)
	}
}

// parse reads flags before and after the other arguments.
func parse(flags *flag.FlagSet, args []string) (others []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w: %w (-h lists the flags)", errUsage, err)
		}
		if flags.NArg() == 0 {
			return others, nil
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}

func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by run
	flags.Usage = func() {
		flags.SetOutput(stderr)
		if _, err := fmt.Fprintf(stderr, "Flags of %s:\n", name); err == nil {
			flags.PrintDefaults()
		}
		flags.SetOutput(io.Discard)
	}
	return flags
}

func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := app.Config{Out: stdout}
	flags := newFlags("projects", stderr)
	help := flags.Usage
	flags.Usage = func() {}
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
	others, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stderr)
		help()
		return err
	case err != nil:
		return err
	case len(others) > 0:
		return fmt.Errorf("%w: serve takes flags only, not %q", errUsage, others[0])
	case *maxUpload < 1 || *maxUpload > 1<<20:
		return fmt.Errorf("%w: -max-upload must be 1 to %d MiB", errUsage, 1<<20)
	case c.Batch < 0 || c.Chunk < 0 || c.Lease < 0 || c.Poll < 0:
		return fmt.Errorf("%w: -batch, -chunk, -lease and -poll cannot be negative", errUsage)
	case c.Grace < 0 || c.Grace > 24*time.Hour:
		return fmt.Errorf("%w: -grace must be 0s to 24h", errUsage)
	}
	c.MaxUpload = *maxUpload << 20
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	return app.Run(ctx, c)
}

func feed(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := load.Config{Out: stdout}
	flags := newFlags("projects load DIR", stderr)
	help := flags.Usage
	flags.Usage = func() {}
	flags.StringVar(&c.Addr, "addr", "http://127.0.0.1:8080", "`URL` of the running application")
	flags.Int64Var(&c.User, "user", 0, "`id` of the user who gets the projects; default: one named \"load\", made if missing")
	flags.BoolVar(&c.Delete, "delete", false, "delete the projects of DIR instead, and wait until they are gone")
	flags.BoolVar(&c.Fail, "fail", false, "report files whose base is taken as conflicts instead of making new versions")
	flags.IntVar(&c.Parallel, "parallel", 8, "how many requests at once")
	others, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help()
		return err
	case err != nil:
		return err
	case len(others) != 1:
		return fmt.Errorf("%w: load takes one folder, there are %d", errUsage, len(others))
	case c.Parallel < 1 || c.Parallel > 256:
		return fmt.Errorf("%w: -parallel must be 1 to 256", errUsage)
	}
	c.Dir = others[0]
	return load.Run(ctx, c)
}

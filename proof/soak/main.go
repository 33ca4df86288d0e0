package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/proof/internal/checkout"
	"github.com/onerow/onerow/proof/soak/adoptfuzz"
	"github.com/onerow/onerow/proof/soak/brokenfuzz"
	"github.com/onerow/onerow/proof/soak/edgefuzz"
	"github.com/onerow/onerow/proof/soak/featurefuzz"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/proof/soak/limitfuzz"
	"github.com/onerow/onerow/proof/soak/load"
	"github.com/onerow/onerow/proof/soak/oscfuzz"
	"github.com/onerow/onerow/proof/soak/poolfuzz"
	"github.com/onerow/onerow/proof/soak/restorefuzz"
	"github.com/onerow/onerow/proof/soak/retentionfuzz"
	"github.com/onerow/onerow/proof/soak/tree"
	"github.com/onerow/onerow/proof/soak/txfuzz"
	"github.com/onerow/onerow/proof/soak/webfuzz"
)

// Exit codes.
const (
	exitBroken = 1
	exitFailed = 2
)

func main() {
	slog.SetLogLoggerLevel(slog.LevelError + 1) // workers meet errors here by design; the oracle says what is wrong
	if os.Getenv(envChild) != "" {
		// ^C in a terminal reaches all processes; these are stopped by the one that started them.
		signal.Ignore(os.Interrupt)
		quietDriver()
		if err := load.Run(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(exitFailed)
		}
		return
	}
	if err := checkout.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(exitFailed)
	}
	if len(os.Args) > 1 && fuzzes[os.Args[1]] != nil {
		os.Exit(fuzzes[os.Args[1]](os.Args[2:]))
	}
	if len(os.Args) > 1 && tree.Modes()[os.Args[1]] != nil {
		os.Exit(mode(os.Args[1:]))
	}
	os.Exit(parent())
}

// fuzzes are the random proofs, which draw what the soak's clients never do.
var fuzzes = map[string]func(args []string) (code int){"transactions": txfuzz.Main, "limits": limitfuzz.Main, "pool": poolfuzz.Main, "edges": edgefuzz.Main, "broken": brokenfuzz.Main, "restores": restorefuzz.Main, "web": webfuzz.Main, "retention": retentionfuzz.Main, "features": featurefuzz.Main, "osc": oscfuzz.Main, "adopt": adoptfuzz.Main}

// mode is size or kill, or what they start.
func mode(args []string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tree.Run(ctx, args); err != nil {
		fmt.Fprintf(os.Stderr, "soak: %s: %v\n", args[0], err)
		return exitBroken
	}
	return 0
}

// quietDriver silences the driver, which would report every broken connection: this is about breaking them.
func quietDriver() {
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
}

type options struct {
	minutes float64
	engine  string
	seed    uint64
	clients int

	kind    string // of the site; "" is one server
	hosts   bool
	trouble []string // kinds of it, for several servers

	webs, workers int
	between       time.Duration // what is done to the connections of a proxy, about
}

func parseOptions(args []string) (options, error) {
	o := options{webs: 2, workers: 2, between: 600 * time.Millisecond}
	flags := flag.NewFlagSet("soak", flag.ExitOnError)
	several := func() error { return nil }
	if len(args) > 0 && args[0] == "cluster" {
		flags = flag.NewFlagSet("soak cluster", flag.ExitOnError)
		several = o.clusterFlags(flags)
		args = args[1:]
	} else {
		fuzz.EngineFlag(flags, &o.engine)
	}
	flags.Float64Var(&o.minutes, "minutes", 10, "how long there is chaos; 0.5 is half a minute")
	flags.Uint64Var(&o.seed, "seed", 0, "what decides what is drawn; default: another each time")
	flags.IntVar(&o.clients, "clients", 16, "how many clients there are")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // not a secret
	}
	switch {
	case o.minutes <= 0:
		return o, errors.New("-minutes must be more than 0")
	case o.clients < o.webs:
		return o, fmt.Errorf("-clients must be %d or more", o.webs)
	case flags.NArg() > 0:
		return o, fmt.Errorf("there is no %q: it is cluster, size, kill, trash, transactions, limits, pool, edges, broken, restores, web, retention, features, osc, adopt, or flags alone", flags.Arg(0))
	}
	if err := fuzz.CheckEngine(&o.engine); err != nil {
		return o, err
	}
	err := several()
	return o, err
}

// command is how to repeat the soak.
func (o options) command() string {
	command := "go run -C proof ./soak "
	if o.kind != "" {
		command += "cluster -kind " + o.kind + " "
	}
	command += fmt.Sprintf("-minutes %v -clients %d -seed %d", o.minutes, o.clients, o.seed)
	if o.kind != "" && len(o.trouble) < len(o.troubles()) {
		command += " -trouble " + strings.Join(o.trouble, ",")
	}
	if o.kind != "" && !o.hosts {
		command += " -hosts=false"
	}
	if o.engine != "" && o.kind != galera && o.kind != group {
		command += " -engine " + o.engine
	}
	return fuzz.Again(command)
}

// last is the last line of a soak that did not end well: what it was, and how to repeat it.
func last(o options, code int, cause string) {
	cause = strings.Join(strings.Fields(cause), " ")
	fmt.Fprintf(os.Stderr, "soak: exit code %d: %s; again (the seed draws the same, the machine does not): %s\n", code, cause, o.command())
}

func parent() (code int) {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return exitFailed
	}
	cause := ""
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "soak: %s\n", debug.Stack())
			code, cause = exitFailed, fmt.Sprint("panic: ", p)
		}
		if code != 0 {
			last(o, code, cause)
		}
	}()
	code, cause = o.soak()
	return code
}

// soak makes the soak and returns the exit code, with its cause.
func (o options) soak() (code int, cause string) {
	quietDriver()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program
	dir, err := os.MkdirTemp("", "onerow-soak-")
	if err != nil {
		return exitFailed, err.Error()
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := &soak{options: o, dir: dir, out: os.Stdout, log: log, length: time.Duration(o.minutes * float64(time.Minute))}
	found, err := s.run(ctx)
	if found == "" && err == nil {
		if err := os.RemoveAll(dir); err != nil {
			return exitFailed, err.Error()
		}
		return 0, ""
	}
	fmt.Fprintln(os.Stderr, "soak: the server's data and the journals are left in", dir)
	if err != nil {
		cause := "the soak itself failed: " + err.Error()
		if found != "" {
			cause = found + "; " + cause
		}
		return exitFailed, cause
	}
	return exitBroken, found
}

// say prints a line of the report; that it cannot be printed is all that could be said about it.
func say(out io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(out, format+"\n", args...)
	return err
}

package fuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/onerow/onerow/internal/devdb"
)

// Exit codes of Main.
const (
	exitBroken = 1
	exitFailed = 2
)

// Options are the flags of every random proof.
type Options struct {
	Seed    uint64
	Length  time.Duration
	Engine  string // mariadb, mysql, or "" for any
	Clients int

	minutes, seconds float64
	set              *flag.FlagSet
}

// NewOptions declares the flags.
func NewOptions(set *flag.FlagSet, clients int) *Options {
	o := &Options{set: set}
	set.Uint64Var(&o.Seed, "seed", 0, "what decides what is drawn; default: another each time")
	set.Float64Var(&o.minutes, "minutes", 2, "how long the load is")
	set.Float64Var(&o.seconds, "seconds", 0, "how long the load is, instead of -minutes")
	EngineFlag(set, &o.Engine)
	set.IntVar(&o.Clients, "clients", clients, "how many clients there are")
	return o
}

// Parse reads the flags and refuses what has no meaning.
func (o *Options) Parse(args []string) error {
	if err := o.set.Parse(args); err != nil {
		return fmt.Errorf("fuzz: %w", err)
	}
	o.Length = time.Duration(o.minutes * float64(time.Minute))
	if o.seconds != 0 {
		o.Length = time.Duration(o.seconds * float64(time.Second))
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // not a secret
	}
	switch {
	case o.Length <= 0:
		return errors.New("-minutes and -seconds must be more than 0")
	case o.Clients < 2:
		return errors.New("-clients must be 2 or more")
	case o.set.NArg() > 0:
		return fmt.Errorf("there is no %q: flags only", o.set.Arg(0))
	}
	return CheckEngine(&o.Engine)
}

// EngineFlag declares -engine, for CheckEngine.
func EngineFlag(set *flag.FlagSet, engine *string) {
	set.StringVar(engine, "engine", "", "mariadb or mysql; default: the server program that is found")
}

// CheckEngine refuses an engine that there is not, and spells the others in small letters.
func CheckEngine(engine *string) error {
	*engine = strings.ToLower(*engine)
	if *engine != "" && *engine != "mariadb" && *engine != "mysql" {
		return fmt.Errorf("-engine must be mariadb or mysql, not %q", *engine)
	}
	return nil
}

// Again adds to a command the server program that the environment chooses.
func Again(command string) string {
	if program := os.Getenv(devdb.EnvMysqld); program != "" {
		return devdb.EnvMysqld + "=" + program + " " + command
	}
	return command
}

// Rand draws for one part of the run, which has a number of its own, so that parts do not disturb each other.
func (o *Options) Rand(part uint64) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, part)) //nolint:gosec // not a secret
}

// command says how to repeat the run: with each flag that was given, and the seed.
func (o *Options) command() string {
	text := "go run -C proof ./soak " + o.set.Name()
	o.set.Visit(func(f *flag.Flag) {
		if f.Name != "seed" {
			text += fmt.Sprintf(" -%s=%s", f.Name, f.Value)
		}
	})
	return Again(text + fmt.Sprint(" -seed ", o.Seed))
}

// Main parses the flags, calls run and returns the exit code.
func Main(o *Options, args []string, run func(ctx context.Context, found *Findings) error) int {
	name := o.set.Name()
	if err := o.Parse(args); err != nil {
		fmt.Fprintf(os.Stderr, "soak: %s: %v\n", name, err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program
	fmt.Printf("soak: %s: seed %d, %v, %d clients\n", name, o.Seed, o.Length, o.Clients)
	found := NewFindings(o.Seed)
	found.out = os.Stdout
	err := run(ctx, found)
	fmt.Print(found.Report())
	code := 0
	if found.Any() {
		code = exitBroken
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %s: the run itself failed: %v\n", name, err)
		code = max(code, exitFailed)
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "soak: %s: exit code %d; again (the seed draws the same, the machine does not): %s\n", name, code, o.command())
		return code
	}
	fmt.Printf("soak: %s: nothing is broken\n", name)
	return 0
}

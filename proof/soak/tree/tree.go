// Package tree is what needs minutes and millions of rows to show, on a private server with durable settings:
//
//	go run -C proof ./soak size            2 million rows below one root: memory, speed, and what a foreground feels
//	go run -C proof ./soak kill            eight workers, one of them killed each second for two minutes
//	go run -C proof ./soak trash           2 million rows kept, deleted and brought back by processes that are killed
//
// ONEROW_MYSQLD chooses the server program. It prints a table and fails if a promise is broken.
package tree

import (
	"context"
	"errors"
	"flag"
	"time"
)

// Modes are what [Run] does: size, kill and trash, and what these start.
func Modes() map[string]func(ctx context.Context, flags *flag.FlagSet, args []string) error {
	return map[string]func(context.Context, *flag.FlagSet, []string) error{
		"size": runSize, "kill": runKill, "trash": runTrash,
		"spin":    runSpin,    // what size -spin starts
		"worker":  runWorker,  // what all start
		"restore": runRestore, // what trash starts
	}
}

// Run runs a mode, by its name and with its flags.
func Run(ctx context.Context, args []string) error {
	return Modes()[args[0]](ctx, flag.NewFlagSet(args[0], flag.ExitOnError), args[1:])
}

func runSize(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var s size
	flags.IntVar(&s.rows, "rows", 2_000_000, "rows below the root")
	flags.IntVar(&s.small, "small", 10_000, "rows below the root that memory is compared with")
	flags.Float64Var(&s.share, "share", 0.2, "the foreground's load, as a share of the server's capacity")
	flags.Float64Var(&s.load, "load", 0.1, "share of the time that the worker spends in batches beside the foreground (cascade-worker run --load)")
	flags.DurationVar(&s.target, "target", 4*time.Millisecond, "what a batch should take beside the foreground (cascade-worker run --target)")
	flags.DurationVar(&s.window, "window", 3*time.Minute, "how long the foreground is measured beside the deletion; the rest is then deleted at full speed")
	flags.IntVar(&s.rounds, "rounds", 12, "the window is cut into so many periods, each after one as long without the deletion")
	flags.DurationVar(&s.settle, "settle", 2*time.Second, "how long the server may catch up before a period without the deletion")
	flags.IntVar(&s.clients, "clients", 8, "connections of the foreground")
	flags.BoolVar(&s.elsewhere, "elsewhere", false, "beside the foreground, delete in a second server on this machine: what that costs comes of shared processors and disk, not of locks")
	flags.BoolVar(&s.spin, "spin", false, "only this: beside the foreground, delete nothing, but spin in a process without a database, as -load and -target say; what that costs comes of shared processors alone")
	flags.DurationVar(&s.measure, "measure", 20*time.Second, "how long capacity and the unloaded foreground are measured")
	flags.BoolVar(&s.short, "short", false, "20,000 rows and some seconds: that it runs, and the memory; times of seconds prove nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.short {
		s.rows, s.small, s.window, s.rounds, s.measure, s.settle = 20_000, 2_000, 6*time.Second, 2, 3*time.Second, time.Second
	}
	if s.rounds < 1 || s.window <= 0 || s.settle <= 0 {
		return errors.New("-rounds, -window and -settle have to be more than 0")
	}
	if s.spin && (s.elsewhere || s.load <= 0 || s.load >= 1 || s.target <= 0) {
		return errors.New("-spin deletes nothing, so -elsewhere has no meaning beside it; -load has to be between 0 and 1, -target more than 0")
	}
	return s.run(ctx)
}

func runKill(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var k kill
	flags.Float64Var(&k.minutes, "minutes", 2, "how long workers are killed")
	flags.IntVar(&k.workers, "workers", 8, "worker processes")
	flags.Uint64Var(&k.seed, "seed", uint64(time.Now().UnixNano()), "seed of what is random") //nolint:gosec // a time is not negative
	if err := flags.Parse(args); err != nil {
		return err
	}
	return k.run(ctx)
}

func runTrash(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var s trash
	flags.IntVar(&s.rows, "rows", 2_000_000, "rows below the root")
	flags.IntVar(&s.small, "small", 10_000, "rows below the root that memory is compared with")
	flags.DurationVar(&s.every, "every", time.Second, "how long a process lives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return s.run(ctx)
}

func runRestore(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var r restorer
	flags.Int64Var(&r.job, "job", 0, "the job")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return r.run(ctx)
}

func runSpin(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var h hog
	flags.DurationVar(&h.target, "target", 0, "how long at a time")
	flags.Float64Var(&h.load, "load", 0, "share of the time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	h.run(ctx)
	return nil
}

func runWorker(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var w child
	flags.DurationVar(&w.target, "target", 0, "what a batch should take")
	flags.Float64Var(&w.load, "load", 0, "share of the time spent in batches")
	flags.DurationVar(&w.lease, "lease", 0, "lease")
	flags.BoolVar(&w.drain, "drain", false, "end when nothing is due")
	flags.BoolVar(&w.trash, "trash", false, "keep what is deleted")
	flags.BoolVar(&w.tokens, "tokens", false, "log the token of each batch")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return w.run(ctx)
}

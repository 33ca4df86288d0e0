// Command atsize compares the verbs of a web app beside few rows and beside many:
//
//	go run -C proof ./atsize                          10⁴ rows beside 10⁷; about 9 GB of disk, half an hour
//	go run -C proof ./atsize -large 100000 -rounds 5  a short form
//
// It starts a server of its own, which package devdb finds, with a buffer pool of 4 GB, and fills two
// schemas: so many projects, idempotency keys and request ids, and a tenth of it in the archive. Owners have
// 1,000 projects each. Calls go to a working set, owners that are spread evenly over the table, which is read
// once before. Then rounds go through the verbs, each on one schema and at once on the other, on one session
// each.
//
// Each verb must examine as many rows (the session's Handler_read counters) and send as many statements in
// both, exactly. The ratio is the median of the rounds' ratios of medians; above 1.3 it exits with 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/onerow/onerow/internal/devdb"
)

const perOwner = 1000

type options struct {
	small, large  int // rows
	owners        int // of the working set
	rounds, calls int
}

func main() {
	var o options
	flag.IntVar(&o.small, "small", 10_000, "rows of the small schema")
	flag.IntVar(&o.large, "large", 10_000_000, "rows of the large one")
	flag.IntVar(&o.owners, "owners", 1000, "owners of the working set, at most; each has 1,000 projects, and as many keys")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds")
	flag.IntVar(&o.calls, "calls", 200, "calls of each verb in a round")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "atsize:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancelled just before
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.small < perOwner || o.small%perOwner != 0 || o.large%perOwner != 0 || o.large <= o.small || min(o.owners, o.rounds, o.calls) < 1 {
		return fmt.Errorf("-small and -large are multiples of %d, the second larger; the other numbers are 1 or more", perOwner)
	}
	if err := os.Unsetenv(devdb.EnvDSN); err != nil { // a running server would have another buffer pool
		return err
	}
	server, err := devdb.Start(ctx, devdb.Options{Args: []string{
		"--innodb-buffer-pool-size=4G", "--loose-innodb-log-file-size=2G", "--loose-innodb-redo-log-capacity=4G",
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Printf("%s %s, buffer pool 4 GB, nothing is flushed at COMMIT\n", server.Engine(), server.Version())
	var sizes [2]*size
	for i, rows := range []int{o.small, o.large} {
		s, err := newSize(ctx, server, rows, o.owners)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.db.Close()) }()
		sizes[i] = s
	}
	list := verbs()
	for round := range o.rounds + 1 { // the first one warms up
		for at, v := range list {
			for _, s := range sizes {
				if err := s.measure(ctx, at, v, round, o.calls); err != nil {
					return fmt.Errorf("%s beside %d rows: %w", v.name, s.rows, err)
				}
			}
		}
		fmt.Fprintf(os.Stderr, "\rround %d of %d", round, o.rounds)
	}
	fmt.Fprintln(os.Stderr)
	return report(list, sizes)
}

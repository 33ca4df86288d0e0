package limitfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Databases: in one sessions are killed, in the other one not.
const (
	database = "limits"
	quiet    = "calm"
)

const (
	owners   = 3
	longest  = 60_000                // bytes after which a connection is cut, at most
	between  = 2 * time.Second       // quiet points
	poolSize = 8                     // fewer than clients
	killing  = 80 * time.Millisecond // between two kills, at most
)

type counts struct{ done, refused, failed, unknown, looks, quiets atomic.Int64 }

// world is one run.
type world struct {
	*fuzz.Options
	found    *fuzz.Findings
	server   *devdb.Server
	shop     *shop
	admin    *sql.DB // unguarded, straight to the server
	killers  *sql.DB // the same, in the quiet database
	straight *sql.DB // of pool.Open, straight to the server
	pools    []*sql.DB
	cutter   *fuzz.Cutter
	killer   fuzz.Killer
	counts   counts

	still   sync.RWMutex // held by those who act; wholly at a quiet point
	looking sync.Mutex   // one snapshot at a time, for the ledgers follow each other
	ledgers [owners][limits]ledger

	mu    sync.Mutex
	oddly map[string]int
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("limits", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 16), oddly: map[string]int{}}
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if w.server, err = fuzz.Start(ctx, w.Engine); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, w.server.Close()) }()
	if err := w.setUp(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.killers.Close()) }()
	before := fuzz.Goroutines(w.killers)
	if err := w.connect(); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	for _, db := range append(w.pools, w.straight, w.admin) {
		fuzz.Close(db)
	}
	if err := errors.Join(w.cutter.Close(), fuzz.Left(ctx, w.killers, database, before, w.found)); err != nil {
		return err
	}
	fmt.Println("soak: limits:", w)
	for text, n := range w.oddly {
		fmt.Printf("   %d times: %s\n", n, text)
	}
	return w.shown()
}

// setUp makes the tables and the pool that kills.
func (w *world) setUp(ctx context.Context) (err error) {
	if err := fuzz.Databases(ctx, w.server, database, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	first, err := fuzz.Admin(w.server, database)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if err := errors.Join(createTables(ctx, first, owners), first.Close()); err != nil {
		return err
	}
	for owner := range owners {
		for i := range limits {
			w.ledgers[owner][i] = ledger{name: fmt.Sprintf("owner %d, %s", owner+1, columns[i]), last: sight{version: 1}}
		}
	}
	if w.shop, err = newShop(); err != nil {
		return err
	}
	w.killers, err = fuzz.Admin(w.server, quiet)
	return err //nolint:wrapcheck // it says all
}

// connect opens the pools.
func (w *world) connect() (err error) {
	addr := w.server.Config("").Addr
	if w.cutter, err = fuzz.NewCutter(addr, w.Rand(1), longest); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if w.admin, err = fuzz.Admin(w.server, database); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	w.admin.SetMaxIdleConns(poolSize)
	open := func(addr, params string) *sql.DB {
		db, oerr := pool.Open(fuzz.DSN(w.server, addr, database, "innodb_lock_wait_timeout=5"+params))
		if oerr != nil {
			err = errors.Join(err, oerr)
			return nil
		}
		db.SetMaxOpenConns(poolSize)
		db.SetMaxIdleConns(poolSize)
		return db
	}
	w.straight = open(addr, "")
	w.pools = []*sql.DB{open(w.cutter.Addr(), ""), open(w.cutter.Addr(), "&"+w.server.IsolationVariable()+"=%27REPEATABLE-READ%27")}
	return err
}

// load runs the clients, the worker, the sweep and the trouble, until the time is over or ctx ends.
func (w *world) load(ctx context.Context) error {
	worker, err := cascade.NewWorker(w.straight, plan, cascade.Config{Poll: 50 * time.Millisecond, Lease: time.Second, MaxFailures: 1000, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	sweeper := limit.NewSweeper(w.straight, limit.Config{Pause: 50 * time.Millisecond, Every: time.Second, Log: slog.New(slog.DiscardHandler)}, w.shop.rules[:]...)
	backCtx, stopBack := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBack()
	var back sync.WaitGroup
	var workErr, sweepErr error
	back.Go(func() { workErr = worker.Run(backCtx) })
	back.Go(func() { sweepErr = sweeper.Run(backCtx) })

	limited, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	var clients, trouble sync.WaitGroup
	for i := range w.Clients {
		c := &client{world: w, number: i, r: w.Rand(100 + uint64(i))} //nolint:gosec // i is small
		clients.Go(func() {
			for limited.Err() == nil {
				w.still.RLock()
				c.act(context.WithoutCancel(limited))
				w.still.RUnlock()
			}
		})
	}
	var killErr, quietErr error
	trouble.Go(func() {
		if killErr = w.killer.Run(limited, w.killers, database, w.Rand(2), killing); killErr != nil {
			cancel() // without trouble nothing is shown
		}
	})
	trouble.Go(func() { w.watch(limited) })
	trouble.Go(func() {
		for r := w.Rand(3); quietErr == nil && fuzz.Pause(limited, between); {
			quietErr = w.quietPoint(context.WithoutCancel(limited), r)
		}
	})
	trouble.Go(func() {
		for fuzz.Pause(limited, 10*time.Second) {
			fmt.Println("  ", w)
		}
	})
	trouble.Wait()
	w.cutter.Stop()
	if err := fuzz.Ended(&clients, w.found); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	err = w.quietPoint(context.WithoutCancel(ctx), w.Rand(4)) // with the sweep, which has what is noted
	stopBack()
	back.Wait()
	return errors.Join(err, killErr, quietErr, workErr, sweepErr)
}

// watch looks at one snapshot after the other. One whose session is killed says nothing.
func (w *world) watch(ctx context.Context) {
	for ctx.Err() == nil {
		w.looking.Lock()
		_ = w.snapshot(context.WithoutCancel(ctx)) //nolint:errcheck // as said; that there are looks at all is demanded at the end
		w.looking.Unlock()
	}
}

// String is the progress.
func (w *world) String() string {
	c := &w.counts
	return fmt.Sprintf("%d calls and transactions: %d done, %d over a limit, %d failed, %d unknown; %d sessions and %d queries killed, %d connections cut; %d snapshots, %d quiet points",
		c.done.Load()+c.refused.Load()+c.failed.Load()+c.unknown.Load(), c.done.Load(), c.refused.Load(), c.failed.Load(), c.unknown.Load(),
		w.killer.Kills.Load(), w.killer.Queries.Load(), w.cutter.Cuts.Load(), c.looks.Load(), c.quiets.Load())
}

var digits = regexp.MustCompile(`[0-9]+`)

// oddity counts errors that are neither a refusal nor trouble, to be read.
func (w *world) oddity(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := fmt.Sprintf("%.160s", digits.ReplaceAllString(err.Error(), "N")); len(w.oddly) < 20 || w.oddly[text] > 0 {
		w.oddly[text]++
	}
}

// shown is an error if something did not happen at all.
func (w *world) shown() error {
	for what, n := range map[string]int64{
		"call was done": w.counts.done.Load(), "call was refused": w.counts.refused.Load(), "snapshot was looked at": w.counts.looks.Load(), "quiet point was reached": w.counts.quiets.Load(),
		"session was killed": w.killer.Kills.Load(), "query was killed": w.killer.Queries.Load(), "connection was cut": w.cutter.Cuts.Load(),
	} {
		if n == 0 {
			return fmt.Errorf("soak: nothing is shown: no %s", what)
		}
	}
	return nil
}

package brokenfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

const (
	database = "broken"
	account  = "app"
	poolSize = 8
)

// Kinds of findings.
const (
	brokenLost    = "what was acknowledged is not there, or not once"
	brokenRefused = "what was refused is there"
	brokenTwice   = "what has an unknown outcome is there more than once"
	brokenHalf    = "a part of a transaction is there"
	brokenWorker  = "the worker ended"
	brokenQueue   = "the queue does not drain"
	brokenCounts  = "what is counted is not what was deleted"
	brokenTrash   = "what was deleted does not come back"
	brokenRoom    = "the room or the numbers are not what the rows say"
	brokenServer  = "the server finds its own table damaged; what else is found may follow from that"
	brokenGone    = "a deleted row, or what was below it, is there"
)

// world is one run.
type world struct {
	*fuzz.Options
	found  *fuzz.Findings
	server *server
	shop   *shop
	pools  []*sql.DB // the second one prepares
	book   book
	now    atomic.Value // what the matter is with the server
	only   string       // the kinds of trouble that are drawn
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("broken", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 12)}
	w.now.Store("nothing")
	set.StringVar(&w.only, "trouble", "kill,stop,full,connections,statements,readonly,locks", "what is drawn of these")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if w.server, err = newServer(ctx, w.Engine); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.server.close()) }()
	if err := createAccount(ctx, w.server.admin); err != nil {
		return err
	}
	for _, prepares := range []bool{false, true} {
		db, err := w.server.open(func(cfg *mysql.Config) {
			if prepares {
				cfg.InterpolateParams, cfg.MultiStatements = false, false
			}
			cfg.Timeout, cfg.ReadTimeout = 2*time.Second, 30*time.Second
		})
		if err != nil {
			return err
		}
		defer fuzz.Close(db)
		w.pools = append(w.pools, db)
	}
	if w.shop, err = newShop(ctx, w.pools[0]); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := w.checkTables(ctx); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if err := w.judge(ctx); err != nil {
		return err
	}
	fmt.Println("soak: broken:", w)
	w.book.print()
	return w.shown()
}

// load lets callers call and workers work while the server is not well, until the time is over.
func (w *world) load(ctx context.Context) error {
	workCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var back, clients, trouble sync.WaitGroup
	for range 2 {
		worker, err := cascade.NewWorker(w.pools[0], w.shop.plan, cascade.Config{Poll: 100 * time.Millisecond, Lease: 2 * time.Second, Load: 1, Batch: 20, Chunk: 10})
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		back.Go(func() {
			if err := worker.Run(workCtx); err != nil || workCtx.Err() == nil {
				w.found.Add(brokenWorker, "%v", err)
			}
		})
	}
	limited, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	for i := range w.Clients {
		c := &client{world: w, number: i, r: w.Rand(100 + uint64(i))} //nolint:gosec // small
		clients.Go(func() {
			for limited.Err() == nil {
				c.call(context.WithoutCancel(limited))
			}
		})
	}
	trouble.Go(func() {
		for fuzz.Pause(limited, 10*time.Second) {
			fmt.Println("  ", w)
		}
	})
	err := w.trouble(limited)
	cancel()
	trouble.Wait()
	err = errors.Join(err, fuzz.Ended(&clients, w.found))
	if err == nil {
		err = w.drain(context.WithoutCancel(ctx))
	}
	stop()
	back.Wait()
	return err
}

// String is the progress.
func (w *world) String() string {
	return fmt.Sprintf("%s; %v", &w.book, w.now.Load())
}

// shown is an error if something did not happen at all.
func (w *world) shown() error {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	for kind, n := range w.book.tally {
		if n[done] == 0 {
			return fmt.Errorf("soak: nothing is shown: no %q was ever acknowledged", kind)
		}
	}
	return nil
}

package poolfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
)

const (
	database = "small"
	quiet    = "calm"
	poolSize = 3
	hurried  = 20 * time.Millisecond // the longest of deadlines
)

// Kinds of findings.
const (
	brokenAnswer = "one request has two answers"
	brokenError  = "an error that no verb names"
	brokenEnd    = "the tables are not what was answered"
)

// world is one run.
type world struct {
	*fuzz.Options
	found *fuzz.Findings
	shop  *shop
	db    *sql.DB // three connections

	made, numbered, effects sync.Map // by request id, claim key and key: what was answered
	done, refused, late     atomic.Int64
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("pool", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 1000)}
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	server, err := fuzz.Start(ctx, w.Engine)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := fuzz.Databases(ctx, server, database, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	calm, err := fuzz.Admin(server, quiet)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, calm.Close()) }()
	before := fuzz.Goroutines(calm)
	if w.db, err = pool.Open(fuzz.DSN(server, server.Config("").Addr, database, "innodb_lock_wait_timeout=5")); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	w.db.SetMaxOpenConns(poolSize)
	w.db.SetMaxIdleConns(poolSize)
	if w.shop, err = newShop(ctx, w.db); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err = w.judge(ctx)
	fuzz.Close(w.db)
	fmt.Printf("soak: pool: %d calls done, %d refused, %d out of time\n", w.done.Load(), w.refused.Load(), w.late.Load())
	return errors.Join(err, fuzz.Left(ctx, calm, database, before, w.found))
}

// load lets the callers call, and a worker delete, until the time is over.
func (w *world) load(ctx context.Context) error {
	worker, err := cascade.NewWorker(w.db, plan, cascade.Config{Poll: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	workCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var back, clients sync.WaitGroup
	var workErr error
	back.Go(func() { workErr = worker.Run(workCtx) })
	limited, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	for i := range w.Clients {
		r := w.Rand(100 + uint64(i)) //nolint:gosec // i is small
		clients.Go(func() {
			for limited.Err() == nil {
				w.call(context.WithoutCancel(limited), r)
			}
		})
	}
	<-limited.Done()
	err = fuzz.Ended(&clients, w.found)
	stop()
	back.Wait()
	if errors.Is(workErr, context.Canceled) {
		workErr = nil
	}
	return errors.Join(err, workErr)
}

// call makes one call and looks at its answer.
func (w *world) call(ctx context.Context, r *rand.Rand) {
	if r.IntN(3) == 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(r.Int64N(int64(hurried))))
		defer cancel()
		ctx = limited
	}
	owner, id := int64(r.IntN(owners)+1), int64(r.IntN(600)+1)
	var err error
	switch r.IntN(8) {
	case 0, 1:
		request := fmt.Sprint("request ", r.IntN(5000))
		var res onerow.Result[file]
		if res, err = w.shop.files.Create(ctx, w.db, file{UserID: owner, Name: request}, repo.RequestID(fmt.Sprint(owner, " ", request))); err == nil {
			w.same(&w.made, fmt.Sprint(owner, " ", request), res.Row.ID)
		}
	case 2:
		_, err = w.shop.files.Archive(ctx, w.db, id)
	case 3:
		_, err = w.shop.files.Activate(ctx, w.db, id)
	case 4:
		_, err = w.shop.files.Delete(ctx, w.db, id)
	case 5:
		name := fmt.Sprint("effect ", r.IntN(5000))
		if err = w.shop.effect(ctx, w.db, name); err == nil {
			w.same(&w.effects, name, 1)
		}
	case 6:
		key := fmt.Sprint("claim ", r.IntN(5000))
		if got, claimed := w.shop.numbers.Claim(ctx, w.db, key, 1); claimed == nil {
			w.same(&w.numbered, key, got.Row.From)
		} else {
			err = claimed
		}
	default:
		key := fmt.Sprint("claim ", r.IntN(5000))
		var from int64
		err = onerow.InTx(ctx, w.db, func(ctx context.Context, tx *onerow.Tx) error {
			got, err := w.shop.numbers.Claim(ctx, tx, key, 1)
			if err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
			from = got.Row.From
			_, err = w.shop.files.Create(ctx, tx, file{UserID: owner, Name: key}, repo.RequestID(fmt.Sprint(owner, " ", key)))
			return err //nolint:wrapcheck // it is looked at
		})
		if err == nil {
			w.same(&w.numbered, key, from)
		}
	}
	switch {
	case err == nil:
		w.done.Add(1)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, onerow.ErrOutcomeUnknown):
		w.late.Add(1)
	case isAllowed(err):
		w.refused.Add(1)
	default:
		w.found.Add(brokenError, "%v", err)
	}
}

// same holds an answer against the first one.
func (w *world) same(answers *sync.Map, key string, answer int64) {
	if first, there := answers.LoadOrStore(key, answer); there && first != answer {
		w.found.Add(brokenAnswer, "%s: %v, then %d", key, first, answer)
	}
}

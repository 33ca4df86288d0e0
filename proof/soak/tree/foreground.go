package tree

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
)

// foreground is the load of an application on the same tables: it works on accounts of
// its own.
type foreground struct {
	db      *sql.DB
	clients int
	items   []int64 // its own; their ids have gaps
}

// settle makes the foreground's rows.
func settle(ctx context.Context, db *sql.DB, clients int) (*foreground, error) {
	account, _, err := plant(ctx, db, 100_000)
	if err != nil {
		return nil, err
	}
	f := &foreground{db: db, clients: clients}
	err = onerow.Query(ctx, db, "SELECT i.id FROM item AS i JOIN project AS p ON p.id = i.project_id WHERE p.account_id = ?", []any{account}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		f.items = append(f.items, id)
		return err
	})
	return f, err
}

// What a page reads: the item's project, the page of items around it, how many events
// it has, and the last of them.
const (
	sqlProject = "SELECT p.id FROM item AS i JOIN project AS p ON p.id = i.project_id WHERE i.id = ?"
	sqlItems   = "SELECT id FROM item WHERE project_id = ? AND id >= ? ORDER BY id LIMIT 20"
	sqlCount   = "SELECT COUNT(*) FROM event WHERE item_id = ?"
	sqlEvents  = "SELECT id FROM event WHERE item_id = ? ORDER BY id DESC LIMIT 20"
)

// request is what a web request does: it reads a page and writes what its user did there, in 8 round trips.
func (f *foreground) request(ctx context.Context) error {
	item := f.items[rand.IntN(len(f.items))] //nolint:gosec // a load, not a secret
	var project, events int64
	if err := onerow.QueryRow(ctx, f.db, sqlProject, []any{item}, &project); err != nil {
		return err
	}
	ignore := func(rows *sql.Rows) error { return rows.Scan(new(int64)) }
	if err := onerow.Query(ctx, f.db, sqlItems, []any{project, item}, ignore); err != nil {
		return err
	}
	if err := onerow.QueryRow(ctx, f.db, sqlCount, []any{item}, &events); err != nil {
		return err
	}
	if err := onerow.Query(ctx, f.db, sqlEvents, []any{item}, ignore); err != nil {
		return err
	}
	return onerow.InTx(ctx, f.db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE item SET touched = touched + 1 WHERE id = ?", item); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO event (item_id, body) VALUES (?, 'a visitor came and did something')", item)
		return err
	})
}

// capacity is how many requests per second the server answers when all clients ask
// again at once.
func (f *foreground) capacity(ctx context.Context, d time.Duration) (perSecond float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var n atomic.Int64
	errs := make([]error, f.clients)
	var all sync.WaitGroup
	for i := range f.clients {
		all.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				if errs[i] = f.request(ctx); errs[i] == nil {
					n.Add(1)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			return 0, err
		}
	}
	return float64(n.Load()) / d.Seconds(), nil
}

// open asks at times of its own, whether or not earlier requests are answered, until
// ctx ends, and returns how long each took from the time that it should have begun:
// one that waits for a client waits for the server.
func (f *foreground) open(ctx context.Context, perSecond float64) (latencies []time.Duration, err error) {
	type call struct{ at time.Time }
	calls := make(chan call, 1<<16)
	results := make([][]time.Duration, 4*f.clients)
	errs := make([]error, len(results))
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			for c := range calls {
				if err := f.request(context.WithoutCancel(ctx)); err != nil {
					errs[i] = err
				}
				results[i] = append(results[i], time.Since(c.at))
			}
		})
	}
	next := time.Now()
	for ctx.Err() == nil {
		next = next.Add(time.Duration(rand.ExpFloat64() / perSecond * float64(time.Second))) //nolint:gosec // a load, not a secret
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
		case <-timer.C:
			calls <- call{next}
		}
		timer.Stop()
	}
	close(calls)
	all.Wait()
	for _, some := range results {
		latencies = append(latencies, some...)
	}
	if len(latencies) == 0 {
		return nil, errors.New("the foreground asked nothing")
	}
	slices.Sort(latencies)
	return latencies, errors.Join(errs...)
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p))]
}

func describe(sorted []time.Duration) string {
	round := func(p float64) time.Duration { return percentile(sorted, p).Round(10 * time.Microsecond) }
	return fmt.Sprintf("p50 %v, p95 %v, p99 %v, max %v (%d requests)", round(.5), round(.95), round(.99), round(1), len(sorted))
}

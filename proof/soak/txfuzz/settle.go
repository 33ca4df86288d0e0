package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// settle looks at each session that is left in a pool, closes the pools, and counts what is left then.
func (w *world) settle(ctx context.Context, goroutines int) error {
	for _, p := range w.pools {
		w.probeAll(ctx, p)
		fuzz.Close(p.db)
	}
	return errors.Join(w.cutter.Close(), fuzz.Left(ctx, w.admin, database, goroutines, w.found))
}

// probeAll takes all sessions that the pool has, so that each is looked at.
func (w *world) probeAll(ctx context.Context, p *shared) {
	var conns []*sql.Conn
	for range p.db.Stats().Idle {
		conn, err := p.db.Conn(ctx)
		if err != nil {
			continue // then it is not there any more
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		w.probe(ctx, conn, p.name)
	}
	for _, conn := range conns {
		_ = conn.Close() //nolint:errcheck // it may be gone with its session
	}
}

// judge reads all tables.
func (w *world) judge(ctx context.Context) error {
	rows := map[int64]map[int]int64{}
	err := onerow.Query(ctx, w.admin, "SELECT tx, n, v, s FROM "+database+".effect", nil, func(r *sql.Rows) error {
		var id, v int64
		var n int
		var s string
		if err := r.Scan(&id, &n, &v, &s); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		if rows[id] == nil {
			rows[id] = map[int]int64{}
		}
		rows[id][n] = v
		if s != "" && s != nastyOf(id, n) {
			w.found.Add(brokenValue, "transaction %d, row %d has %q, not %q", id, n, s, nastyOf(id, n))
		}
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	var counters [hotRows]int64
	err = onerow.Query(ctx, w.admin, "SELECT id, v FROM "+database+".hot", nil, func(r *sql.Rows) error {
		var id int
		var v int64
		if err := r.Scan(&id, &v); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		counters[id-1] = v
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	judgeAll(w.records, rows, counters, w.found)
	fmt.Println("soak: transactions:", w)
	return nil
}

// shown is an error if something did not happen at all: the zeros of an idle run say nothing.
func (w *world) shown() error {
	for what, n := range map[string]int64{
		"transaction was acknowledged": w.counts.acked.Load(), "transaction failed": w.counts.failed.Load(), "session was looked at": w.counts.probes.Load(),
		"session was killed": w.killer.Kills.Load(), "query was killed": w.killer.Queries.Load(), "connection was cut": w.cutter.Cuts.Load(),
	} {
		if n == 0 {
			return fmt.Errorf("soak: nothing is shown: no %s", what)
		}
	}
	return nil
}

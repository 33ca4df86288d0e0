package txfuzz

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
)

// client runs one transaction, and looks at a session of the pool behind it.
func (w *world) client(ctx context.Context, r *rand.Rand) {
	o := &op{world: w, id: w.ids.Add(1), seed: r.Uint64(), pool: w.pools[r.IntN(len(w.pools))]}
	if len(w.attacks) > 0 && r.IntN(3) == 0 {
		if o.attack = w.attacks[r.IntN(len(w.attacks))]; o.attack == deadlines {
			o.attack = "" // a loop of its own has it
		}
	}
	ctx, cancel := context.WithTimeout(ctx, w.draw(r))
	kind := r.IntN(10)
	var rec *record
	switch {
	case kind < 2 && o.attack == "" || o.attack == "texts":
		rec = o.session(ctx)
	case kind < 4 && o.attack != "ends":
		rec = o.begun(ctx)
	default:
		o.idempotent = r.IntN(3) == 0 && o.attack != "ends" && o.attack != "drops" && o.attack != "outfile"
		o.careful = o.idempotent || r.IntN(3) == 0 && o.attack != "drops"
		rec = o.inTx(ctx)
	}
	cancel()
	w.keep(rec)
	if rec.verdict == acked && (o.attack == "comments" || r.IntN(3) == 0) {
		w.visible(context.WithoutCancel(ctx), rec)
	}
	if r.IntN(2) == 0 {
		w.probe(context.WithoutCancel(ctx), o.pool.db, o.pool.name)
	}
}

// draw is a deadline: a few come within the transaction.
func (w *world) draw(r *rand.Rand) time.Duration {
	switch r.IntN(12) {
	case 0:
		return time.Duration(r.Int64N(int64(30 * time.Millisecond)))
	case 1:
		return time.Duration(r.Int64N(int64(300 * time.Millisecond)))
	}
	return 30 * time.Second
}

// overshoot holds the time of an answer against the deadline.
func (w *world) overshoot(ctx context.Context, err error) {
	deadline, _ := ctx.Deadline()
	over := time.Since(deadline)
	for worst := w.counts.worst.Load(); int64(over) > worst && !w.counts.worst.CompareAndSwap(worst, int64(over)); {
		worst = w.counts.worst.Load()
	}
	if over > w.late {
		w.found.Add(brokenLate, "%v: %v", over.Round(time.Millisecond), err)
	}
}

func (w *world) keep(rec *record) {
	map[verdict]*atomic.Int64{acked: &w.counts.acked, failed: &w.counts.failed, unknown: &w.counts.unknown}[rec.verdict].Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, rec)
}

// visible has another session look at once for what was acknowledged: at the end it may be there because a
// later BEGIN on the same session committed it.
func (w *world) visible(ctx context.Context, rec *record) {
	there := map[int]int64{}
	err := onerow.Query(ctx, w.admin, "SELECT n, v FROM "+w.schema+".effect WHERE tx = ?", []any{rec.id}, func(rows *sql.Rows) error {
		var n int
		var v int64
		err := rows.Scan(&n, &v)
		there[n] = v
		return err //nolint:wrapcheck // it is not looked at
	})
	if err == nil && !rec.whole(there) {
		w.found.Add(brokenYet, "%s", rec.differs(there))
	}
}

// probe writes in autocommit by some session, and has another one look: what was acknowledged is there.
func (w *world) probe(ctx context.Context, db onerow.DB, name string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	id := w.ids.Add(1)
	if _, err := db.ExecContext(ctx, "INSERT INTO probe (id) VALUES (?)", id); err != nil {
		return // nothing was acknowledged
	}
	var n int
	if err := w.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+w.schema+".probe WHERE id = ?", id).Scan(&n); err != nil {
		return // this says nothing of the session
	}
	w.counts.probes.Add(1)
	if n == 0 {
		w.found.Add(brokenOpen, "pool %s: an INSERT in autocommit was acknowledged, and another session does not see it (after transaction %d or so)", name, id-1)
	}
}

package retentionfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// stops are minutes from a change at which the clock is put; between them it runs by itself.
var stops = []int{-100, -62, -33, -3, 1, 27, 32, 59, 64, 100}

// travel takes the clock through both changes, until ctx ends.
func (w *world) travel(ctx context.Context) error {
	r := w.Rand(5)
	start, stay := time.Now(), w.Length/time.Duration(2*len(stops))
	for half, change := range w.changes {
		for i, minutes := range stops {
			at := change.Add(time.Duration(minutes)*time.Minute + time.Duration(r.Int64N(int64(3*time.Minute))) - 90*time.Second)
			if err := w.clock.set(ctx, w.calm, at); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			if !fuzz.Pause(ctx, stay*time.Duration(half*len(stops)+i+1)-time.Since(start)) {
				return nil
			}
		}
	}
	return nil
}

// settleTries is how often what is held is dealt with.
const settleTries = 5

// finish kills all workers but the first, hires new ones, ends what users have left half done, and lets the
// workers do all that is due.
func (w *world) finish(ctx context.Context, db *sql.DB) error {
	for i := range w.crew.all {
		if i == 0 {
			continue
		}
		if err := w.crew.dismiss(i, true); err != nil {
			return err
		}
		if err := w.crew.hire(ctx, i); err != nil {
			return err
		}
	}
	for range settleTries {
		held, err := w.settle(ctx, db)
		if err != nil {
			return err
		}
		if held == 0 {
			break
		}
	}
	longest := time.Duration(0)
	for _, t := range w.tables {
		longest = max(longest, t.keep)
	}
	// What was brought back is due once more then, and no reading of the clock is two instants.
	if err := w.clock.set(ctx, w.calm, w.clock.now().Add(longest+48*time.Hour)); err != nil {
		return err
	}
	return w.drain(ctx, db)
}

// settle brings back what jobs hold, or lets the deletion go on.
func (w *world) settle(ctx context.Context, db *sql.DB) (held int, err error) {
	var jobs []queue.Job
	err = onerow.Query(ctx, db, "SELECT id, resource, resource_id, deletion_id FROM onerow_job WHERE state = 'held'", nil, func(rows *sql.Rows) error {
		var j queue.Job
		err := rows.Scan(&j.ID, &j.Resource, &j.ResourceID, &j.DeletionID)
		jobs = append(jobs, j)
		return err
	})
	if err != nil {
		return 0, err //nolint:wrapcheck // it says all
	}
	for _, j := range jobs {
		_, _, err := recover.Job(ctx, w.pools[0].db, w.plan(), j.ID, recover.Options{})
		if err != nil {
			err = queue.Cancel(ctx, w.pools[0].db, j.Resource, j.ResourceID, j.DeletionID)
		}
		if err != nil {
			_, err = queue.Retry(ctx, w.pools[0].db, j.ID)
		}
		w.book.count("settle", err)
	}
	return len(jobs), nil
}

// patience is for how long nothing may change at the end. A policy that has met an error rests for a minute.
const patience = 100 * time.Second

// A job that has met the server's own state rests up to five minutes by the server's clock, and half as long
// again. So that nobody waits for it the clock is moved where nothing has changed for idle.
const (
	idle  = 4 * time.Second
	rests = 8 * time.Minute
)

// drain waits until nothing is due and no job is open; where windows are closed it moves the clock.
func (w *world) drain(ctx context.Context, db *sql.DB) error {
	var last [2]int64
	seen, said := time.Now(), time.Now()
	for {
		due, tables, err := w.due(ctx, db)
		if err != nil {
			return err
		}
		var open, seq int64
		if err := onerow.QueryRow(ctx, db, "SELECT (SELECT COUNT(*) FROM onerow_job), (SELECT MAX(seq) FROM witness)", nil, &open, &seq); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		now := [2]int64{seq, open}
		switch {
		case due+open == 0:
			return nil
		case now != last:
			last, seen = now, time.Now()
		case time.Since(seen) > patience:
			w.found.Add(brokenDrain, "for %v nothing changes: %d rows are due, %d jobs are open; it is %s, %q; the workers said %s", patience, due, open, text(w.clock.now()), w.overdue(ctx, db, tables), w.crew.said())
			return nil
		}
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Printf("   %s; %d rows are due, %d jobs are open\n", w, due, open)
		}
		if err := w.openWindow(ctx, tables, open, time.Since(seen)); err != nil {
			return err
		}
		fuzz.Pause(ctx, 300*time.Millisecond)
	}
}

// overdue names some rows that are due, and some jobs that are open.
func (w *world) overdue(ctx context.Context, db *sql.DB, tables []table) (names []string) {
	for _, t := range tables {
		err := onerow.Query(ctx, db, "SELECT id, version, CAST(at AS CHAR) FROM "+t.name+" WHERE "+w.isDue(t)+" LIMIT 3", nil, func(rows *sql.Rows) error {
			var id, version int64
			var at string
			err := rows.Scan(&id, &version, &at)
			names = append(names, fmt.Sprintf("%s %d, version %d, since %s", t.name, id, version, at))
			return err
		})
		if err != nil {
			names = append(names, err.Error())
		}
	}
	err := onerow.Query(ctx, db, "SELECT id, resource, resource_id, state, COALESCE(worker, ''), token, CAST(due_at AS CHAR), COALESCE(last_error, '') FROM onerow_job LIMIT 5", nil, func(rows *sql.Rows) error {
		var id, token int64
		var resource, key, state, worker, due, why string
		err := rows.Scan(&id, &resource, &key, &state, &worker, &token, &due, &why)
		names = append(names, fmt.Sprintf("job %d of %s %q is %s, of %q, token %d, due %s: %s", id, resource, key, state, worker, token, due, why))
		return err
	})
	if err != nil {
		names = append(names, err.Error())
	}
	return names
}

// isDue is the condition that a row is due for certain.
func (w *world) isDue(t table) string {
	cutoff := w.clock.now().Add(-t.keep - 2*time.Hour)
	where := fmt.Sprintf("at > '1999-01-01' AND at <= '%s'", w.reading(t, cutoff, time.UTC))
	if !t.isTimestamp() {
		where += " AND MONTH(at) > 0 AND DAYOFMONTH(at) > 0 AND YEAR(at) > 2020"
	}
	return where
}

// due counts the rows that are due for certain.
func (w *world) due(ctx context.Context, db *sql.DB) (n int64, tables []table, err error) {
	for _, t := range w.tables {
		var here int64
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM (SELECT 1 AS one FROM "+t.name+" WHERE "+w.isDue(t)+" LIMIT 100000) AS d", nil, &here); err != nil {
			return 0, nil, err //nolint:wrapcheck // it says all
		}
		if n += here; here > 0 {
			tables = append(tables, t)
		}
	}
	return n, tables, nil
}

// openWindow moves the clock to where rows may be queued, if the windows of all tables with rows are closed,
// and to where no job rests any more.
func (w *world) openWindow(ctx context.Context, tables []table, open int64, still time.Duration) error {
	now := w.clock.now()
	if open > 0 {
		if still < idle || now.Sub(w.moved) < idle {
			return nil
		}
		w.moved = now.Add(rests)
		return w.clock.set(ctx, w.calm, w.moved)
	}
	var next time.Time
	for _, t := range tables {
		if w.design.open(t, now) {
			return nil
		}
		if at := w.opens(t, now); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if next.IsZero() {
		return nil
	}
	return w.clock.set(ctx, w.calm, next.Add(5*time.Second))
}

// mostMemory is the default of -memory. See the package for what was measured.
const mostMemory = 64

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// memoryIsFlat holds what the workers had in memory against the bound, and the first one's second half
// against its first.
func (w *world) memoryIsFlat(m memory) {
	if mb(m.most) > float64(w.memory) {
		w.found.Add(brokenMemory, "a worker had %.1f MB, more than %d", mb(m.most), w.memory)
	}
	if first, second := mb(m.halves[0]), mb(m.halves[1]); second > 1.5*first+16 {
		w.found.Add(brokenMemory, "the first worker had at most %.1f MB in the first half of the load, and %.1f MB after it", first, second)
	}
}

// printErrors lists the answers of users that were errors, the most common ones.
func (w *world) printErrors() {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	kinds := map[string]int{}
	for text, n := range w.book.errors {
		kinds[strings.Map(noDigits, text)] += n
	}
	texts := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return kinds[b] - kinds[a] })
	for _, text := range texts[:min(len(texts), 12)] {
		fmt.Printf("   %d times: %.200s\n", kinds[text], text)
	}
}

func noDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return '#'
	}
	return r
}

var errShown = errors.New("soak: nothing is shown")

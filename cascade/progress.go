package cascade

import (
	"context"
	"maps"
	"time"

	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
)

// committed takes a committed batch into the books.
func (l *lease) committed(ctx context.Context, t work.Tally, took, spent time.Duration) error {
	l.planned = true
	rows := t.Rows()
	if rows > 0 {
		l.setbacks.end(l.job.ID)
	}
	l.pace.Took(took, spent, rows)
	l.tell(Event{Took: took, Deleted: t.Deleted, Detached: t.Detached})
	if !l.cfg.Progress || rows == 0 {
		return nil
	}
	return l.tellProgress(ctx, t)
}

// tellProgress tells how far the job is after a batch: as it is stored, and from then on as its batches add
// to that. One statement the first time and after an unknown outcome, else none.
func (l *lease) tellProgress(ctx context.Context, t work.Tally) error {
	if l.stale {
		stored, err := queue.Get(ctx, l.db, l.job.ID)
		if err != nil {
			return err
		}
		l.shown, l.stale = stored, false
	} else {
		l.shown.Tables, l.shown.DeletedRows = added(l.shown.Tables, t.Deleted)
		l.shown.Detached, l.shown.DetachedRows = added(l.shown.Detached, t.Detached)
	}
	shown := l.shown
	l.tell(Event{Progress: &shown})
	return nil
}

// added returns counts of rows by table with more of them, and their sum. What was told before stays as it
// was.
func added(counts, more map[string]int64) (all map[string]int64, sum int64) {
	all = maps.Clone(counts)
	for table, n := range more {
		if n > 0 {
			all[table] += n
		}
	}
	for _, n := range all {
		sum += n
	}
	return all, sum
}

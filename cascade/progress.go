package cascade

import (
	"context"
	"maps"
	"time"

	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
)

// counts is a number of rows by table.
type counts = map[string]int64

// committed takes a committed batch into the books.
func (l *lease) committed(ctx context.Context, t work.Tally, took, spent time.Duration) error {
	l.planned = true
	rows := t.Rows()
	if rows > 0 {
		l.setbacks.end(l.job.ID)
	}
	l.pace.Took(took, spent, rows)
	for table, n := range t.Deleted {
		if n > 0 {
			l.counts[table] += n
		}
	}
	for table, n := range t.Detached {
		if n > 0 {
			l.detached[table] += n
		}
	}
	l.tell(Batch{Took: took, Deleted: t.Deleted, Detached: t.Detached})
	if !l.cfg.Progress || rows == 0 {
		return nil
	}
	return l.tellProgress(ctx)
}

// tellProgress tells how far the job is. What was counted before this run is read once.
func (l *lease) tellProgress(ctx context.Context) error {
	if l.stale {
		stored, err := queue.Get(ctx, l.db, l.job.ID)
		if err != nil {
			return err
		}
		l.job.Job, l.counts, l.detached, l.stale = withToken(stored, l.job.Token), stored.Tables, stored.Detached, false
		if l.detached == nil {
			l.detached = counts{}
		}
	}
	job := l.job.Job
	job.Tables, job.Detached = maps.Clone(l.counts), maps.Clone(l.detached)
	for _, n := range job.Tables {
		job.DeletedRows += n
	}
	for _, n := range job.Detached {
		job.DetachedRows += n
	}
	l.tell(Progress{job})
	return nil
}

// withToken is the stored job under the token that this worker holds: the stored
// one may be a successor's by now, and the fence must not pass for it.
func withToken(stored queue.Job, token int64) queue.Job {
	stored.Token, stored.DeletedRows, stored.DetachedRows = token, 0, 0
	return stored
}

package cascade

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/work"
)

// counts is a number of rows by table.
type counts = map[string]int64

// sqlCount and sqlCountDetached: the primary key (job, table) decides. Nobody else writes
// the counts of the job whose fence this transaction holds.
const (
	sqlCount             = `INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) VALUES `
	sqlCountMore         = ` ON DUPLICATE KEY UPDATE deleted_rows = deleted_rows + VALUES(deleted_rows)`
	sqlCountDetached     = `INSERT INTO onerow_job_detached (job_id, table_name, detached_rows) VALUES `
	sqlCountMoreDetached = ` ON DUPLICATE KEY UPDATE detached_rows = detached_rows + VALUES(detached_rows)`
)

// count is the last statement of a batch that deleted something, and another one if it
// detached something.
func (l *lease) count(ctx context.Context, tx *onerow.Tx, t work.Tally) error {
	if err := l.add(ctx, tx, t.Deleted, sqlCount, sqlCountMore); err != nil {
		return err
	}
	return l.add(ctx, tx, t.Detached, sqlCountDetached, sqlCountMoreDetached)
}

func (l *lease) add(ctx context.Context, tx *onerow.Tx, c counts, insert, more string) error {
	var t tables
	t.add(l.job.ID, c)
	return t.write(ctx, tx, insert, more)
}

// tables are counts of rows by job and table.
type tables struct {
	rows []string
	args []any
}

func (t *tables) add(job int64, c counts) {
	for _, table := range slices.Sorted(maps.Keys(c)) {
		if c[table] > 0 {
			t.rows, t.args = append(t.rows, "(?, ?, ?)"), append(t.args, job, table, c[table])
		}
	}
}

// write is one statement, none without rows.
func (t *tables) write(ctx context.Context, tx *onerow.Tx, insert, more string) error {
	if len(t.rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insert+strings.Join(t.rows, ", ")+more, t.args...)
	return err
}

// committed takes a committed batch into the books.
func (l *lease) committed(ctx context.Context, t work.Tally, took, spent time.Duration) error {
	l.planned = true
	rows := t.Rows()
	if rows > 0 {
		l.setbacks.end(l.job.ID)
	}
	l.pace.Took(took, spent, rows)
	l.cfg.Observer.Batch(took)
	for table, n := range t.Deleted {
		if n > 0 {
			l.counts[table] += n
			l.cfg.Observer.Deleted(table, n)
		}
	}
	for table, n := range t.Detached {
		if n > 0 {
			l.detached[table] += n
			l.cfg.Observer.Detached(table, n)
		}
	}
	if l.cfg.OnProgress == nil || rows == 0 {
		return nil
	}
	return l.tell(ctx)
}

// tell reports the job. What was counted before this run is read once.
func (l *lease) tell(ctx context.Context) error {
	if l.stale {
		stored, err := Get(ctx, l.db, l.job.ID)
		if err != nil {
			return err
		}
		l.job, l.counts, l.detached, l.stale = withToken(stored, l.job.Token), stored.Tables, stored.Detached, false
		if l.detached == nil {
			l.detached = counts{}
		}
	}
	job := l.job
	job.Tables, job.Detached = maps.Clone(l.counts), maps.Clone(l.detached)
	for _, n := range job.Tables {
		job.DeletedRows += n
	}
	for _, n := range job.Detached {
		job.DetachedRows += n
	}
	l.report(job)
	return nil
}

// withToken is the stored job under the token that this worker holds: the stored
// one may be a successor's by now, and the fence must not pass for it.
func withToken(stored Job, token int64) Job {
	stored.Token, stored.DeletedRows, stored.DetachedRows = token, 0, 0
	return stored
}

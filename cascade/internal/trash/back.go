package trash

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// Step is what one statement of a job has kept.
type Step struct {
	Job, Number int64
	Table       string
	Cut         []string // the columns that became NULL; nil: the rows were deleted
	Rows        int64    // that are left
	keep        time.Duration
}

// sqlSteps reads the job's part of the primary key backwards.
const sqlSteps = `SELECT step, table_name, cut, kept_rows FROM onerow_trash FORCE INDEX (PRIMARY)
WHERE job_id = ? AND step > 0 AND step < ? AND expires_at > UTC_TIMESTAMP(6) ORDER BY step DESC LIMIT ? FOR UPDATE`

// Steps locks the job's steps before one, from the last. What has expired does not come back, so that its
// assets may go before it. One statement.
func Steps(ctx context.Context, tx onerow.DB, job, before int64, most int) (steps []Step, err error) {
	return steps, onerow.Query(ctx, tx, sqlSteps, []any{job, before, most}, func(rows *sql.Rows) error {
		s := Step{Job: job}
		var table, cut []byte
		if err := rows.Scan(&s.Number, &table, &cut, &s.Rows); err != nil {
			return err
		}
		if s.Table = string(table); len(cut) > 0 {
			if err := json.Unmarshal(cut, &s.Cut); err != nil {
				return fmt.Errorf("step %d of job %d: %w", s.Number, job, err)
			}
		}
		steps = append(steps, s)
		return nil
	})
}

// In is the condition that rows of the trash table under an alias are of the step.
func (s Step) In(alias string) string {
	column := func(name string) string { return alias + "." + ident.Quote(name) }
	return column(ident.ColTrashJob) + " = " + strconv.FormatInt(s.Job, 10) + " AND " + column(ident.ColTrashStep) + " = " + strconv.FormatInt(s.Number, 10)
}

// Read locks the rows of a step and reads them, as far as a worker knows them: keys and owners. It does not
// fix what the transaction sees: the rows above, which are locked next, may have been written since. One
// statement.
func (s Step) Read(ctx context.Context, tx onerow.DB, t *graph.Table) (list []graph.Row, err error) {
	scanner := t.Scanner(nil, 0)
	query := "SELECT " + t.Columns(nil) + " FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) WHERE " + s.In("k") + " FOR UPDATE"
	return list, onerow.Query(ctx, tx, query, nil, func(rows *sql.Rows) error {
		v, _, err := scanner.Scan(rows)
		list = append(list, v)
		return err
	})
}

// Count is how many rows of the step the trash table holds.
func (s Step) Count(ctx context.Context, tx onerow.DB, t *graph.Table) (n int64, err error) {
	query := "SELECT COUNT(*) FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) WHERE " + s.In("k") + " LOCK IN SHARE MODE"
	return n, onerow.QueryRow(ctx, tx, query, nil, &n)
}

// InsertSQL puts rows of a step back, all of them where no keys are given.
func (s Step) InsertSQL(t *graph.Table, keys []rowkey.Key) string {
	query := exactlyInsert + t.From + " (" + t.Trash.Written + ") SELECT " + t.Trash.Written + " FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) WHERE " + s.In("k")
	if keys != nil {
		query += " AND " + t.Key.In("k", keys)
	}
	return query
}

// RejoinSQL sets references again that were cut and are still NULL, or takes marks off rows that still refer
// to the same. Both tables are read by their primary keys.
func (s Step) RejoinSQL(g *graph.Graph, t *graph.Table, keys []rowkey.Key) string {
	var set, still []string
	for _, column := range s.Cut {
		name := ident.Quote(column)
		set = append(set, "t."+name+" = k."+name)
		same := g.Marks(t, column)
		if len(same) == 0 {
			still = append(still, "t."+name+" IS NULL")
			continue
		}
		still = append(still, "t."+name+" IS NOT NULL")
		for _, column := range same {
			name := ident.Quote(column)
			still = append(still, "t."+name+" <=> k."+name)
		}
	}
	for _, column := range t.Trash.Moves {
		set = append(set, "t."+column+" = t."+column)
	}
	return exactlyUpdate + t.Trash.From + " AS k FORCE INDEX (PRIMARY) JOIN " + t.From + " AS t FORCE INDEX (PRIMARY) ON " + t.Key.Equal("t", t.Key, "k") +
		" SET " + strings.Join(set, ", ") + " WHERE " + s.In("k") + " AND " + t.Key.In("k", keys) + " AND " + strings.Join(still, " AND ")
}

// sqlBack and sqlStuck write by the primary key. What has come back has expired, and of its step nothing is
// left: who purges takes the rows out, for nobody has to wait for that.
const (
	sqlBack  = `UPDATE onerow_trash SET kept_rows = 0, error = NULL, expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE job_id = ? AND step = ? AND kept_rows > 0`
	sqlStuck = `UPDATE onerow_trash SET kept_rows = ?, error = ` + dbtext.Param + ` WHERE job_id = ? AND step = ?`
)

// MarkReturned notes that the rows of a step have come back, but for those that are stuck, with the reason.
// One statement, 2 where some are stuck.
func (s Step) MarkReturned(ctx context.Context, tx onerow.DB, t *graph.Table, stuck []rowkey.Key, why string) error {
	if len(stuck) == 0 {
		n, err := onerow.Affected(ctx, tx, sqlBack, s.Job, s.Number)
		if err == nil && n != 1 {
			err = fault.ErrEndedUnsaid
		}
		return err
	}
	if left := s.Rows - int64(len(stuck)); left > 0 {
		others := "DELETE k FROM " + t.Trash.From + " AS k FORCE INDEX (PRIMARY) WHERE " + s.In("k") + " AND NOT (" + t.Key.In("k", stuck) + ")"
		n, err := onerow.Affected(ctx, tx, others)
		if err == nil && n != left {
			err = fault.ErrEndedUnsaid
		}
		if err != nil {
			return err
		}
	}
	return s.Stay(ctx, tx, int64(len(stuck)), why)
}

// sqlBackAgain follows sqlNote.
const sqlBackAgain = ` ON DUPLICATE KEY UPDATE kept_rows = kept_rows + VALUES(kept_rows)`

// NoteBack notes how many rows of steps are back, under the negated number of the step: that stays as long as
// the job does, and the step itself goes when it is purged. One statement, none without steps.
func NoteBack(ctx context.Context, tx onerow.DB, steps []Step) error {
	back := slices.Clone(steps)
	for i := range back {
		back[i].Number, back[i].keep = -back[i].Number, queue.DefaultKeep
	}
	return note(ctx, tx, back, sqlBackAgain)
}

// StepEnded is the step under which a restore notes that the job was done before, and so has deleted its
// root.
const StepEnded = "-9223372036854775807"

// sqlEnded follows on the job that the transaction has locked in the archive, by primary keys.
const sqlEnded = `INSERT IGNORE INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at)
SELECT id, ` + StepEnded + `, '', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND FROM onerow_job_archive WHERE id = ? AND state = 'done'`

// NoteEnded notes that the job was done, if it was. One statement.
func NoteEnded(ctx context.Context, tx onerow.DB, jobID int64) error {
	_, err := tx.ExecContext(ctx, sqlEnded, queue.DefaultKeep.Microseconds(), jobID)
	return err
}

// sqlWasEnded reads by the primary key.
const sqlWasEnded = `SELECT COUNT(*) FROM onerow_trash WHERE job_id = ? AND step = ` + StepEnded

// WasEnded says whether that is noted. One statement.
func WasEnded(ctx context.Context, db onerow.DB, jobID int64) (bool, error) {
	var n int64
	err := onerow.QueryRow(ctx, db, sqlWasEnded, []any{jobID}, &n)
	return n > 0, err
}

// Stay notes why rows of a step stay in the trash. One statement.
func (s Step) Stay(ctx context.Context, tx onerow.DB, rows int64, why string) error {
	_, err := tx.ExecContext(ctx, sqlStuck, rows, dbtext.Arg(why), s.Job, s.Number)
	return err
}

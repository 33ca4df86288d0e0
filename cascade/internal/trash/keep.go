package trash

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// exactly and exactHint are those of ident.Exactly, and have MySQL plan the statement as graph.Dive does.
const (
	exactly       = "/*M! SET STATEMENT " + ident.ExactMode + ", " + ident.UTC + " FOR */ "
	exactHint     = " /*+ SET_VAR(" + ident.ExactMode + ") SET_VAR(" + ident.UTC + ") SET_VAR(eq_range_index_dive_limit=0) */ " // see graph.Dive
	exactlyInsert = exactly + "INSERT" + exactHint + "INTO "
	exactlyUpdate = exactly + "UPDATE" + exactHint
)

// Keeper keeps what one job deletes. One goroutine uses it.
type Keeper struct {
	job   int64
	last  int64  // the step that was taken last; never given again, for a COMMIT that was not answered may have happened
	none  bool   // the job is to keep nothing
	taken []Step // in the transaction at hand
}

// sqlLast reads the job's part of the primary key.
const sqlLast = `SELECT COALESCE(MAX(step), 0), COALESCE(MAX(step = 0), 0) FROM onerow_trash WHERE job_id = ?`

// Open is the keeper of a job. One statement.
func Open(ctx context.Context, db onerow.DB, jobID int64) (*Keeper, error) {
	k := &Keeper{job: jobID}
	return k, onerow.QueryRow(ctx, db, sqlLast, []any{jobID}, &k.last, &k.none)
}

// Keeps says whether rows of the table are kept.
func (k *Keeper) Keeps(t *graph.Table) bool { return k != nil && !k.none && t != nil && t.Trash != nil }

// Begin is called where a transaction begins, also again.
func (k *Keeper) Begin() {
	if k != nil {
		k.taken = nil
	}
}

// copySQL copies rows on the server's side, along an index.
func (k *Keeper) copySQL(t *graph.Table, index, where string, via Via) string {
	return exactlyInsert + t.Trash.From + " (" + ident.Quotes(ident.ColTrashJob, ident.ColTrashStep, ident.ColTrashLost) + ", " + t.Trash.Columns + ") SELECT " +
		strconv.FormatInt(k.job, 10) + ", " + strconv.FormatInt(k.last, 10) + ", " + t.Trash.LostSQL(via.Edge, via.Lost) + ", " + t.Trash.Columns +
		" FROM " + t.From + " AS c" + index + " WHERE " + where
}

// RowsSQL and LeavesSQL are what Rows and Leaves send, for people to read.
func RowsSQL(t *graph.Table, where string) string {
	return new(Keeper).copySQL(t, byKey, where, Via{})
}

// LeavesSQL is two statements.
func LeavesSQL(s *graph.Source, parents []rowkey.Key, limit int64) []string {
	k := new(Keeper)
	return []string{k.copySQL(s.Table, s.Wide(), leavesWhere(s, parents, limit), Via{Edge: s.Edge}), k.deleteSQL(s.Table)}
}

func leavesWhere(s *graph.Source, parents []rowkey.Key, limit int64) string {
	return s.Columns.In("c", parents) + s.WhenC + " LIMIT " + strconv.FormatInt(limit, 10) + " FOR UPDATE"
}

const byKey = " FORCE INDEX (PRIMARY)"

// Via is how a job has come to rows: over an edge, whose row above is not looked for again, and whether
// that row is gone.
type Via struct {
	Edge *graph.Edge
	Lost bool
}

// Rows keeps locked rows that are about to be deleted, all of them or it fails. One statement.
func (k *Keeper) Rows(ctx context.Context, tx onerow.DB, t *graph.Table, where string, rows int, via Via) error {
	n, err := k.copy(ctx, tx, t, byKey, where, nil, via)
	if err == nil && n != int64(rows) {
		err = fault.ErrEndedUnsaid
	}
	return err
}

// Leaves keeps and deletes rows below the parents that nobody has read, limit at most, and returns how many.
// The first statement locks and copies along the index of the edge, and the second one deletes what was
// copied, by the primary keys of both tables: a row that came between them stays.
func (k *Keeper) Leaves(ctx context.Context, tx onerow.DB, s *graph.Source, parents []rowkey.Key, limit int64, lost bool) (int64, error) {
	n, err := k.copy(ctx, tx, s.Table, s.Wide(), leavesWhere(s, parents, limit), nil, Via{Edge: s.Edge, Lost: lost})
	if err != nil || n == 0 {
		return 0, err
	}
	deleted, err := onerow.Affected(ctx, tx, k.deleteSQL(s.Table))
	if err == nil && deleted != n {
		err = fault.ErrEndedUnsaid
	}
	return deleted, err
}

// deleteSQL deletes the rows that the last step has kept.
func (k *Keeper) deleteSQL(t *graph.Table) string {
	kept := Step{Job: k.job, Number: k.last}
	return "DELETE c FROM " + t.Trash.From + " AS k" + byKey + " STRAIGHT_JOIN " + t.From + " AS c" + byKey + " ON " + t.Key.Equal("c", t.Key, "k") + " WHERE " + kept.In("k")
}

// Cut keeps rows whose references are about to become NULL. One statement.
func (k *Keeper) Cut(ctx context.Context, tx onerow.DB, s *graph.Source, where string) error {
	_, err := k.copy(ctx, tx, s.Table, byKey, where, s.Nulls, Via{Edge: s.Edge})
	return err
}

func (k *Keeper) copy(ctx context.Context, tx onerow.DB, t *graph.Table, index, where string, cut []string, via Via) (int64, error) {
	k.last++
	n, err := onerow.Affected(ctx, tx, k.copySQL(t, index, where, via))
	if err == nil && n > 0 {
		k.taken = append(k.taken, Step{Job: k.job, Number: k.last, Table: t.Name, Cut: cut, Rows: n, keep: t.Trash.Keep})
	}
	return n, err
}

// sqlNote is followed by one list of values for each step.
const sqlNote = `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) VALUES `

// Note writes down what the transaction has kept, at its end. One statement, none where it has kept nothing.
func (k *Keeper) Note(ctx context.Context, tx onerow.DB) error {
	if k == nil {
		return nil
	}
	return note(ctx, tx, k.taken, "")
}

func note(ctx context.Context, tx onerow.DB, steps []Step, again string) error {
	if len(steps) == 0 {
		return nil
	}
	var args []any
	for _, s := range steps {
		cut := []byte{}
		if s.Cut != nil {
			var err error
			if cut, err = json.Marshal(s.Cut); err != nil {
				return err
			}
		}
		args = append(args, s.Job, s.Number, []byte(s.Table), cut, s.Rows, s.keep.Microseconds())
	}
	const values = ", (?, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)"
	_, err := tx.ExecContext(ctx, sqlNote+strings.TrimPrefix(strings.Repeat(values, len(steps)), ", ")+again, args...)
	return err
}

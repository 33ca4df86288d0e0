package quota

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/internal/trace"
)

const (
	// maxRows is how many marks, and how many wrong flags, one transaction takes on.
	maxRows = 10_000
	// chunk is how many rows one of its statements writes.
	chunk = 1_000
)

// Result is what a recalculation did.
type Result struct {
	// Changed is the number of rows whose flag was wrong and was set.
	Changed int `json:"changed"`
	// Marks is the number of marks that were settled.
	Marks int `json:"marks"`
	// Generation is the number of the owner's recalculation, from 1 on.
	Generation int64 `json:"generation"`
	// Postponed: only in a transaction of the caller's. Another recalculation committed since this
	// transaction's snapshot was taken, or there was more to do than one transaction takes on; a mark was
	// left, for [Rule.Settle] or the sweep.
	Postponed bool `json:"postponed,omitempty"`
}

// Recalculate sets the quota flags of an owner's rows as the owner's limit and the declared order demand, and
// settles the owner's marks. It writes only flags that are wrong, and neither versions nor updated_at. Two
// recalculations of one owner never overlap, a slow one cannot overwrite what a newer one did, and no mark is
// lost; see the package documentation.
//
// On a pool it is one transaction, or several when more than 10,000 flags or marks are to be written, run
// again when the server refuses it or the answer to COMMIT is lost: running it again is always right. (Result
// then counts what the last run of it did.) On a transaction it is a part of that: nothing is run again,
// [onerow.Retryable] says whether the caller may, and the owner's generation row stays locked until COMMIT;
// see [Result.Postponed].
//
// Statements beside BEGIN and COMMIT: one to bump the generation, one to read the marks, the limit's, one or
// two to find wrong flags; then one for each 1,000 flags, one for each 1,000 marks, and one more if there was
// either. On a transaction one more, first. The first two travel together on a pool of [pool.Open], as those
// that write do, with COMMIT, unless they are long.
func (r *Rule) Recalculate(ctx context.Context, db onerow.DB, owner ...any) (_ Result, err error) {
	ctx, span := trace.Start(ctx, "quota.Recalculate", slog.String("onerow.resource", r.resource))
	defer span.End(&err)
	o, err := r.owner.Encode(owner)
	if err != nil {
		return Result{}, errtext.Wrap(err, "quota: recalculate an owner of %s", r.resource)
	}
	return r.recalculateAll(ctx, db, o)
}

// recalculateAll is Recalculate, by the key that the owner's marks have.
func (r *Rule) recalculateAll(ctx context.Context, db onerow.DB, o recount.Owner) (Result, error) {
	var total Result
	for {
		var step step
		// The first statement, the bump, waits for a lost attempt to end, and the rest is right however often
		// it runs: that is what InIdempotentTx asks for.
		err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			step, err = r.recalculate(ctx, tx, o)
			return err
		})
		if err != nil {
			return total, errtext.Wrap(err, "quota: recalculate owner %s of %s", o.Key, r.resource)
		}
		total.Changed += sum(step.changed)
		total.Marks += sum(step.marks)
		total.Generation, total.Postponed = step.generation, step.postponed
		if !step.again {
			return total, nil
		}
	}
}

// Settle recalculates if the owner has a mark: what a request calls after its verb has committed. One
// statement when there is none; otherwise that one and those of [Rule.Recalculate].
func (r *Rule) Settle(ctx context.Context, db onerow.DB, owner ...any) (err error) {
	ctx, span := trace.Start(ctx, "quota.Settle", slog.String("onerow.resource", r.resource))
	defer span.End(&err)
	o, err := r.owner.Encode(owner)
	if err != nil {
		return errtext.Wrap(err, "quota: settle an owner of %s", r.resource)
	}
	return r.settle(ctx, db, o)
}

func (r *Rule) settle(ctx context.Context, db onerow.DB, o recount.Owner) error {
	marked, err := r.marked(ctx, db, o)
	if err != nil || !marked {
		return err
	}
	_, err = r.recalculateAll(ctx, db, o)
	return err
}

// step is what one transaction did. The numbers of rows are there when it has committed.
type step struct {
	generation       int64
	changed, marks   []int64 // rows, by statement
	again, postponed bool    // again: there is more, for another transaction
}

func sum(rows []int64) (total int) {
	for _, n := range rows {
		total += int(n)
	}
	return total
}

func (r *Rule) recalculate(ctx context.Context, tx *onerow.Tx, o recount.Owner) (s step, err error) {
	var seen int64
	if tx.Joined() {
		if seen, err = r.generation(ctx, tx, o); err != nil {
			return s, err
		}
	}
	var marks []int64
	if s.generation, marks, err = r.bump(ctx, tx, o); err != nil {
		return s, err
	}
	if tx.Joined() && s.generation != seen+1 {
		s.postponed = true
		return s, recount.Quota(ctx, tx, r.resource, o.Key)
	}
	wrong, err := r.survey(ctx, tx, o)
	if err != nil {
		return s, err
	}
	writes, err := r.flips(o, wrong)
	if err != nil {
		return s, err
	}
	s.changed = counted(writes)
	full := wrong.count() >= maxRows
	again := full || len(marks) >= maxRows
	if !full {
		slices.Sort(marks)
		drops, err := inChunks(sqlDeleteMarks, marks)
		if err != nil {
			return s, err
		}
		s.marks = counted(drops)
		writes = append(writes, drops...)
	}
	// What is left for another transaction is marked, should that one never run.
	if again && (len(marks) == 0 || !full) {
		writes = append(writes, recount.QuotaStmt(r.resource, o.Key))
	}
	if wrong.count() > 0 || len(marks) > 0 {
		writes = append(writes, onerow.Stmt{Query: sqlTouch, Args: []any{r.resource, o.Key}})
	}
	s.again, s.postponed = again && !tx.Joined(), again && tx.Joined()
	return s, errtext.Wrap(packet.ExecLast(ctx, tx, writes...), "write flags and settle marks")
}

// The row's generation as this transaction sees it. Plain read, primary key.
const sqlGeneration = `SELECT generation FROM onerow_quota_owner WHERE resource = ? AND owner = ?`

func (r *Rule) generation(ctx context.Context, tx *onerow.Tx, o recount.Owner) (int64, error) {
	var generation int64
	err := onerow.QueryRow(ctx, tx, sqlGeneration, []any{r.resource, o.Key}, &generation)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return generation, errtext.Wrap(err, "read the generation")
}

// It locks the owner's row exclusively until the transaction ends, so the next recalculation of the same
// owner waits here, before its snapshot is taken. The new generation comes back with the marks. changed_at is
// left to touch, so that a check that finds nothing does not make an owner "changed lately".
const sqlBump = `INSERT INTO onerow_quota_owner (resource, owner, generation, changed_at)
 VALUES (?, ?, LAST_INSERT_ID(1), UTC_TIMESTAMP(6))
 ON DUPLICATE KEY UPDATE generation = LAST_INSERT_ID(generation + 1)`

// The new generation, and the marks: a range of the index owner, which covers it; oldest first. Plain read.
const sqlReadMarks = `SELECT 0, CAST(LAST_INSERT_ID() AS SIGNED)
 UNION ALL (SELECT 1, id FROM onerow_quota_mark WHERE resource = ? AND owner = ? ORDER BY id LIMIT ?)`

func (r *Rule) bump(ctx context.Context, tx *onerow.Tx, o recount.Owner) (generation int64, marks []int64, err error) {
	bump := onerow.Stmt{Query: sqlBump, Args: []any{r.resource, o.Key}}
	err = packet.QueryAfter(ctx, tx, []onerow.Stmt{bump}, sqlReadMarks, []any{r.resource, o.Key, maxRows}, func(rows *sql.Rows) error {
		var isMark bool
		var n int64
		if err := rows.Scan(&isMark, &n); err != nil {
			return err
		}
		if isMark {
			marks = append(marks, n)
		} else {
			generation = n
		}
		return nil
	})
	return generation, marks, errtext.Wrap(err, "bump the generation and read the marks")
}

// The owner's row is locked by the bump already.
const sqlTouch = `UPDATE onerow_quota_owner SET changed_at = UTC_TIMESTAMP(6) WHERE resource = ? AND owner = ?`

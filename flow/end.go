package flow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// Under the lock of a stage's row. The first is a range of the primary key, the second one of the index
// open_requests: the stages of one flow. Both are forced: of few rows MySQL reads, and locks, all. Neither is
// a single-table statement: MariaDB ends a DELETE of one table (11.8: an UPDATE too) without an error when it
// is killed before its first row.
const (
	sqlEndStages   = `DELETE s FROM onerow_flow AS s FORCE INDEX (PRIMARY) WHERE flow = ?`
	sqlEndRequests = `UPDATE onerow_flow_request AS r FORCE INDEX (open_requests) JOIN (SELECT 1) AS one SET r.status = 'finished', r.ended_at = UTC_TIMESTAMP(6)
 WHERE r.flow = ? AND r.status = 'running'`
)

// Finish ends the flow: all of its stages together, and their request ids are Done. Call it last of all, when
// everything else, the messages to others too, is done: a crash before it repeats the last work, a crash
// after it has nothing to repeat. Put it into the transaction of the last write where there is one.
//
// Only an owner of a stage can finish; otherwise the error is [ErrLost]. Finishing again is a no-op. When the
// answer to COMMIT is lost the error is [onerow.ErrOutcomeUnknown]; call again.
func Finish(ctx context.Context, db onerow.DB, r Run) (_ Result, err error) {
	ctx, span := trace.Start(ctx, "flow.Finish", slog.String("onerow.flow", r.Flow))
	defer span.End(&err)
	res := Result{onerow.Result[Run]{Row: r, Changed: true}, Done}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := Prove(ctx, tx, r); err != nil {
			return err
		}
		return tx.Savepoint(ctx, savepoint, func() error {
			return endAll(ctx, tx, 0, onerow.Stmt{Query: sqlEndStages, Args: []any{r.Flow}}, onerow.Stmt{Query: sqlEndRequests, Args: []any{r.Flow}})
		})
	})
	if errors.Is(err, ErrFinished) {
		res.Changed, res.Replayed = false, true
		return res, nil
	}
	if err != nil {
		return Result{}, r.wrap("finish", err)
	}
	return res, nil
}

// rounds bounds how often stages are ended that others claim meanwhile.
const rounds = 20

// endAll drops the stages and ends their requests. At READ COMMITTED nothing locks the gaps, so a
// stage that is claimed while the DELETE waits for another one can be behind the place that it has
// reached. The UPDATE begins later and meets that stage's request: then more requests than
// stages have ended (kept: those whose stage stays), and both run again, a bounded number of times.
func endAll(ctx context.Context, tx *onerow.Tx, kept int64, stages, requests onerow.Stmt) error {
	missed := -kept
	for range rounds {
		dropped, err := onerow.Affected(ctx, tx, stages.Query, stages.Args...)
		if err != nil {
			return fmt.Errorf("end the stages: %w", err)
		}
		ended, err := onerow.Affected(ctx, tx, requests.Query, requests.Args...)
		if err != nil {
			return fmt.Errorf("end the requests: %w", err)
		}
		if missed += ended - dropped; missed <= 0 || ended+dropped == 0 {
			return nil
		}
	}
	return errRestless
}

// sqlTakeOver locks the stage's row, exclusively and by the primary key, or makes it: 1
// affected row says made, 2 that there is an owner (it always changes the row).
const sqlTakeOver = `INSERT INTO onerow_flow (flow, stage, request_id, call_token, claimed_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))
 ON DUPLICATE KEY UPDATE version = version + 1`

// Under that lock. sqlReplace is by the primary key, the others are parts of it and of
// the index open_requests: the stages of one flow. The term on the stage is written in a way that makes no
// range of it, for which MySQL would read, and lock, all of a small table in spite of FORCE INDEX.
const (
	sqlReplace = `UPDATE onerow_flow SET request_id = ?, call_token = ?, claimed_at = UTC_TIMESTAMP(6), version = version + 1
 WHERE flow = ? AND stage = ?`
	sqlDropStages  = `DELETE s FROM onerow_flow AS s FORCE INDEX (PRIMARY) WHERE flow = ? AND NOT (stage <=> ?)`
	sqlSupersedeBy = `UPDATE onerow_flow_request AS r FORCE INDEX (open_requests) JOIN (SELECT 1) AS one SET r.status = 'superseded', r.superseded_by = ?, r.ended_at = UTC_TIMESTAMP(6)
 WHERE r.flow = ? AND r.status = 'running' AND NOT (r.stage = ? AND r.request_id = ?)`
)

// Supersede makes the request the owner of its stage, whoever is now, and ends all other stages of the flow:
// new work replaces the running one. A transaction of the old run that has proven its ownership is waited
// for; the old run learns at its next proof that it is superseded. Without a running one it is a claim. Give
// it the transaction that changes what the old run works on: until it commits, the old run is the owner.
//
// The same id again is Redelivered, after Finish Done, and [ErrSuperseded] when another has superseded it
// meanwhile: an old Supersede that arrives late does not take over again. Retries are those of [Claim].
func Supersede(ctx context.Context, db onerow.DB, r Run) (_ Result, err error) {
	ctx, span := trace.Start(ctx, "flow.Supersede", slog.String("onerow.flow", r.Flow))
	defer span.End(&err)
	if err := r.check(); err != nil {
		return Result{}, err
	}
	return r.own(ctx, db, "supersede", r.supersede)
}

func (r Run) supersede(ctx context.Context, tx *onerow.Tx, token []byte) (res Result, err error) {
	n, err := onerow.Affected(ctx, tx, sqlTakeOver, r.Flow, r.Stage, r.RequestID, token)
	if err != nil {
		return res, fmt.Errorf("lock the stage: %w", err)
	}
	made := n == 1
	_, err = tx.ExecContext(ctx, sqlAdmit, r.Flow, r.Stage, r.RequestID)
	switch {
	case mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return r.ended(ctx, tx, made)
	case err != nil:
		return res, fmt.Errorf("admit: %w", err)
	}
	kept := int64(0)
	if !made {
		kept = 1 // the row of the request that is replaced
		if err := onerow.AffectOne(ctx, tx, sqlReplace, r.RequestID, token, r.Flow, r.Stage); err != nil {
			return res, fmt.Errorf("replace the owner: %w", err)
		}
	}
	err = endAll(ctx, tx, kept, onerow.Stmt{Query: sqlDropStages, Args: []any{r.Flow, r.Stage}},
		onerow.Stmt{Query: sqlSupersedeBy, Args: []any{r.RequestID, r.Flow, r.Stage, r.RequestID}})
	if err != nil {
		return res, err
	}
	return admitted(true), nil
}

// Owner is a line of [Owners].
type Owner struct {
	Run
	// Since is when the request was admitted, by the database's clock.
	Since time.Time
}

// sqlOwners: a range of the primary key; locks nothing.
const sqlOwners = `SELECT stage, request_id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', claimed_at) FROM onerow_flow WHERE flow = ? ORDER BY stage`

// Owners returns who owns the stages of a flow. One statement.
func Owners(ctx context.Context, db onerow.DB, flow string) ([]Owner, error) {
	var all []Owner
	err := onerow.Query(ctx, db, sqlOwners, []any{flow}, func(rows *sql.Rows) error {
		o := Owner{Run: Run{Flow: flow}}
		var since int64
		err := rows.Scan(&o.Stage, &o.RequestID, &since)
		o.Since = time.UnixMicro(since).UTC()
		all = append(all, o)
		return err
	})
	return all, errtext.Wrap(err, "flow: owners of flow %q", flow)
}

package queue

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/dbtext"
)

// longestActor is the length of the column, in bytes.
const longestActor = 255

type actorKey struct{}

type actor struct{ name, reason string }

// WithActor says who acts, and why, to what is called with the context: a middleware knows that, and a
// delete passes it on. What these calls change they note in onerow_action, in the same transaction: [Log],
// [EnqueueMany], [Cancel], [Retry], [RetryParked], [SkipParked], recover.Rows, admin.ExpireTrash,
// admin.Pause, [PauseJob] and their ends, and so repo.Delete, its Undo and
// recover.Job. It is one statement more, and on a pool a transaction where there was none; without an actor
// nothing is noted. admin.ReadReport reads it.
//
// The name is cut to 255 bytes, the reason to 2000; what is not UTF-8 in them is replaced. An empty name
// takes the actor away.
func WithActor(ctx context.Context, name, reason string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor{dbtext.Fit(name, longestActor), dbtext.Fit(reason, fault.MaxText)})
}

func actorOf(ctx context.Context) (a actor, known bool) {
	a, _ = ctx.Value(actorKey{}).(actor)
	return a, a.name != ""
}

// Noted runs fn, and notes the action that it returns, unless that is the zero value: without an actor fn is
// all there is, with one both are in one transaction.
func Noted(ctx context.Context, db onerow.DB, fn func(ctx context.Context, db onerow.DB) (Action, error)) error {
	if _, known := actorOf(ctx); !known {
		_, err := fn(ctx, db)
		return err
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		a, err := fn(ctx, tx)
		if err != nil || a.Action == "" {
			return err
		}
		return act(ctx, tx, a)
	})
}

// The actions of this package's verbs. Package admin has more: expire, of what was in the trash and does not
// come back, pause and resume.
const (
	actionDelete   = "delete"
	actionCancel   = "cancel" // the deletion was taken back
	actionRetry    = "retry"
	actionRetryRow = "retry row"
	actionSkipRow  = "skip row"
	actionRestore  = "restore"
	actionRestored = "restored" // the restore has ended
	actionPause    = "pause"
	actionResume   = "resume"
	actionFirst    = "first" // the job was put before others
)

// Action is what somebody has done, see [WithActor].
type Action struct {
	ID int64 `json:"id"`
	// Action is delete, cancel, retry, retry row, skip row, restore and at its end restored, expire, pause,
	// resume or first.
	Action string    `json:"action"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	// What it was about, as far as the call knew: 0 and "" where it did not. Table and Key name a row that
	// could not be deleted.
	Resource   string `json:"resource,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	DeletionID int64  `json:"deletion_id,omitempty"`
	JobID      int64  `json:"job,omitempty"`
	Table      string `json:"table,omitempty"`
	Key        string `json:"key,omitempty"`
}

// sqlAct appends, it waits for nobody. sqlActOnRow copies which row it is from that of a parked row, which it
// locks, by the primary key; of a skipped row only where that is asked for. sqlActOnLogged follows on
// deletions that the transaction has just logged, by their primary key: the ids between theirs are of other
// nodes. sqlActOnCancelled follows on the job that sqlCancel has locked, by the unique key one_open, and says
// whether that has ended a restore.
const (
	sqlAct = `INSERT INTO onerow_action (action, resource, resource_id, deletion_id, job_id, actor, reason, acted_at)
VALUES (?, NULLIF(?, ''), NULLIF(?, ''), NULLIF(?, 0), NULLIF(?, 0), ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6))`
	sqlActOnRow = `INSERT INTO onerow_action (action, job_id, table_name, row_key, actor, reason, acted_at)
SELECT ?, p.job_id, p.table_name, p.row_key, ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6) FROM onerow_parked AS p FORCE INDEX (PRIMARY)
WHERE p.id = ? AND (p.state = 'parked' OR ?) FOR UPDATE`
	sqlActOnLogged = `INSERT INTO onerow_action (action, resource, resource_id, deletion_id, actor, reason, acted_at)
SELECT ?, d.resource, d.resource_id, d.id, ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6) FROM onerow_deletion AS d FORCE INDEX (PRIMARY)
WHERE d.id BETWEEN ? AND ? + ? * @@auto_increment_increment AND MOD(d.id - ?, @@auto_increment_increment) = 0`
	sqlActOnCancelled = `INSERT INTO onerow_action (action, resource, resource_id, deletion_id, actor, reason, acted_at)
SELECT IF(j.state = 'restored', ?, ?), j.resource, j.resource_id, NULLIF(j.deletion_id, 0), ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6)
FROM onerow_job AS j FORCE INDEX (one_open) WHERE j.resource = ? AND j.resource_id = ? AND j.state IN ('cancelled', 'restored')`
)

// act notes an action, at the end of its transaction, if somebody acts; the action's own reason where the
// actor gives none. One statement, or none.
func act(ctx context.Context, tx onerow.DB, a Action) error {
	who, known := actorOf(ctx)
	if !known {
		return nil
	}
	reason := cmp.Or(who.reason, dbtext.Fit(a.Reason, fault.MaxText))
	_, err := tx.ExecContext(ctx, sqlAct, a.Action, []byte(a.Resource), []byte(a.ResourceID), a.DeletionID, a.JobID, dbtext.Arg(who.name), dbtext.Arg(reason))
	return err
}

// actOnJob is act for a job that was read.
func actOnJob(ctx context.Context, tx onerow.DB, action string, job Job, reason string) error {
	return act(ctx, tx, Action{Action: action, Reason: reason, Resource: job.Resource, ResourceID: job.ResourceID, DeletionID: job.DeletionID, JobID: job.ID})
}

// actOnRow is act for a parked row, before it changes.
func actOnRow(ctx context.Context, tx onerow.DB, action string, id int64, skippedToo bool) error {
	who, known := actorOf(ctx)
	if !known {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlActOnRow, action, dbtext.Arg(who.name), dbtext.Arg(who.reason), id, skippedToo)
	return err
}

// actOnCancelled is act for the job that sqlCancel has locked.
func actOnCancelled(ctx context.Context, tx onerow.DB, resource string, key []byte) error {
	who, known := actorOf(ctx)
	if !known {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlActOnCancelled, actionRestored, actionCancel, dbtext.Arg(who.name), dbtext.Arg(who.reason), resource, key)
	return err
}

// actOnLogged is act for deletions that were logged by one statement.
func actOnLogged(ctx context.Context, tx onerow.DB, first int64, count int) error {
	who, known := actorOf(ctx)
	if !known || count == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlActOnLogged, actionDelete, dbtext.Arg(who.name), dbtext.Arg(who.reason), first, first, count-1, first)
	return err
}

// sqlActions reads the parts of the indexes of a deletion and of a job. Texts come as bytes, see package
// dbtext.
const (
	actionColumns = `(SELECT id, action, CAST(actor AS BINARY), CAST(reason AS BINARY), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acted_at),
  COALESCE(resource, ''), COALESCE(resource_id, ''), COALESCE(deletion_id, 0), COALESCE(job_id, 0), COALESCE(table_name, ''), COALESCE(row_key, '') FROM onerow_action `
	sqlActions = actionColumns + `FORCE INDEX (deletion) WHERE deletion_id = ? ORDER BY id LIMIT ?) UNION ` + actionColumns + `FORCE INDEX (job) WHERE job_id = ? ORDER BY id LIMIT ?) ORDER BY id`
)

// sqlLastActions reads the end of the primary key.
const sqlLastActions = actionColumns + `FORCE INDEX (PRIMARY) ORDER BY id DESC LIMIT ?)`

// ListActions returns the newest actions of all, newest first; or those on a deletion or its job, unless both
// are 0, oldest first, limit at most of each. One statement.
func ListActions(ctx context.Context, db onerow.DB, deletionID, jobID int64, limit int) (list []Action, err error) {
	if limit <= 0 {
		return nil, fmt.Errorf("%w: %d at most", ErrInvalid, limit)
	}
	query, args := sqlActions, []any{deletionID, limit, jobID, limit}
	if deletionID == 0 && jobID == 0 {
		query, args = sqlLastActions, []any{limit}
	}
	err = onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var a Action
		var action, resource, id, table, key []byte
		var when sql.NullInt64
		err := rows.Scan(&a.ID, &action, &a.Actor, &a.Reason, &when, &resource, &id, &a.DeletionID, &a.JobID, &table, &key)
		a.Action, a.Resource, a.ResourceID, a.Table, a.Key, a.At = string(action), string(resource), string(id), string(table), string(key), dbtime.At(when)
		list = append(list, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cascade: list actions: %w", err)
	}
	return list, nil
}

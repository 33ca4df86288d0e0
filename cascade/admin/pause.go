package admin

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
)

// PauseState says that all workers of a database wait, or that they leave the jobs of one resource.
type PauseState struct {
	On bool `json:"on"`
	// Resource is the one whose jobs are left; "" for all workers.
	Resource string `json:"resource,omitempty"`
	// Reason is what was given to [Pause].
	Reason string `json:"reason,omitempty"`
	// Since is when it was paused, by the database's clock, UTC.
	Since time.Time `json:"since,omitzero"`
}

// All lock a row by its primary key: the switch of all workers, or a resource's. Assignments go from left to
// right: changed_at still sees the old is_on.
const (
	sqlPause = `INSERT INTO onerow_switch (name, is_on, reason, changed_at) VALUES ('pause', 1, ` + dbtext.Param + `, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE changed_at = IF(is_on, changed_at, VALUES(changed_at)), reason = VALUES(reason), is_on = 1, version = version + 1`
	sqlResume     = `UPDATE onerow_switch SET is_on = 0, changed_at = UTC_TIMESTAMP(6), version = version + 1 WHERE name = 'pause' AND is_on = 1`
	sqlControlSet = `INSERT INTO onerow_control (kind, name, value, changed_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE changed_at = IF(kind = 'pause', changed_at, VALUES(changed_at)), value = VALUES(value), version = version + 1`
	sqlControlDrop = `DELETE FROM onerow_control WHERE kind = ? AND name = ?`
)

// maxResource is how many bytes the name of a resource may have.
const maxResource = 64

// Pause makes all workers of the database wait, where the resource is "": they claim nothing, and who has a
// job keeps its lease and goes on with it after [Resume]. A worker looks at the switch once per second at
// most, also while it only reads, so it stops within a second and the rest of its batch.
//
// Of a resource the workers leave the jobs: they claim none, and give back those that they have, within a
// second and the rest of their batch; meanwhile they work others. It is no failure of the jobs. No plan is
// asked for the name; the error is [queue.ErrInvalid] for what cannot be one.
//
// The reason is shown; it is cut to 255 bytes. Pausing again gives another reason. One statement, 2 in a
// transaction with an actor. Calling it again is safe. [queue.PauseJob] pauses one job.
func Pause(ctx context.Context, db onerow.DB, resource, reason string) error {
	if len(resource) > maxResource {
		return fmt.Errorf("%w: the resource %q must have 1 to %d bytes", queue.ErrInvalid, resource, maxResource)
	}
	query, fits := sqlPause, dbtext.Fit(reason, governor.MaxReason)
	args := []any{dbtext.Arg(fits)}
	if resource != "" {
		query, args = sqlControlSet, []any{governor.KindPause, []byte(resource), []byte(fits)}
	}
	return switched(ctx, db, queue.Action{Action: "pause", Resource: resource, Reason: reason}, query, args)
}

// Resume takes a pause back, of all workers for "", or of a resource. It is a no-op when that is not paused;
// what else is paused stays so. One statement, 2 in a transaction with an actor.
func Resume(ctx context.Context, db onerow.DB, resource string) error {
	query, args := sqlResume, []any(nil)
	if resource != "" {
		query, args = sqlControlDrop, []any{governor.KindPause, []byte(resource)}
	}
	return switched(ctx, db, queue.Action{Action: "resume", Resource: resource}, query, args)
}

// switched pauses or resumes by one statement, and notes the action if that changes anything.
func switched(ctx context.Context, db onerow.DB, a queue.Action, query string, args []any) error {
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (queue.Action, error) {
		if n, err := onerow.Affected(ctx, db, query, args...); err != nil || n == 0 {
			return queue.Action{}, err
		}
		return a, nil
	})
	if err != nil {
		return fmt.Errorf("cascade: %s %s: %w", a.Action, cmp.Or(a.Resource, "all workers"), err)
	}
	return nil
}

// Both read by the primary keys. They are two, for a user may have rights on one of the tables only.
const (
	sqlPaused          = `SELECT '', CAST(reason AS BINARY), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at) FROM onerow_switch WHERE name = 'pause' AND is_on = 1`
	sqlPausedResources = `SELECT name, value, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at) FROM onerow_control WHERE kind = 'pause' ORDER BY name`
)

// Paused says whether all workers are paused. One statement.
func Paused(ctx context.Context, db onerow.DB) (PauseState, error) {
	list, err := readPaused(ctx, db, sqlPaused)
	if err != nil || len(list) == 0 {
		return PauseState{}, err
	}
	return list[0], nil
}

// PausedResources lists the resources that are paused, by name. One statement.
func PausedResources(ctx context.Context, db onerow.DB) ([]PauseState, error) {
	return readPaused(ctx, db, sqlPausedResources)
}

func readPaused(ctx context.Context, db onerow.DB, query string) ([]PauseState, error) {
	return readAll(ctx, db, "cascade: read what is paused", query, nil, func(rows *sql.Rows, p *PauseState) error {
		var since sql.NullInt64
		err := rows.Scan(&p.Resource, &p.Reason, &since)
		p.On, p.Since = true, dbtime.At(since)
		return err
	})
}

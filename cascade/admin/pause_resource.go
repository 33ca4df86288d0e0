package admin

import (
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

// ResourcePause is a resource whose jobs no worker works.
type ResourcePause struct {
	Resource string `json:"resource"`
	// Reason is what was given to [PauseResource].
	Reason string `json:"reason,omitempty"`
	// Since is when it was paused, by the database's clock, UTC.
	Since time.Time `json:"since,omitzero"`
}

// All three go by the primary key. Assignments go from left to right.
const (
	sqlControlSet = `INSERT INTO onerow_control (kind, name, value, changed_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE changed_at = IF(kind = 'pause', changed_at, VALUES(changed_at)), value = VALUES(value), version = version + 1`
	sqlControlDrop     = `DELETE FROM onerow_control WHERE kind = ? AND name = ?`
	sqlPausedResources = `SELECT name, value, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at) FROM onerow_control WHERE kind = 'pause' ORDER BY name`
)

// PauseResource makes all workers of the database leave the jobs of a resource: they claim none, and give
// back those that they have, within a second and the rest of their batch; meanwhile they work others. It is
// no failure of the jobs. The reason is shown; it is cut to 255 bytes. Pausing again gives another reason.
// The error is [queue.ErrInvalidDeletion] for what cannot be a resource's name; no plan is asked for it.
//
// One statement, 2 in a transaction with an actor. Calling it again is safe.
func PauseResource(ctx context.Context, db onerow.DB, resource, reason string) error {
	if resource == "" || len(resource) > queue.MaxResource {
		return fmt.Errorf("%w: the resource %q must have 1 to %d bytes", queue.ErrInvalidDeletion, resource, queue.MaxResource)
	}
	value := []byte(dbtext.Fit(reason, governor.MaxReason))
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (queue.Action, error) {
		_, err := db.ExecContext(ctx, sqlControlSet, governor.KindPause, []byte(resource), value)
		return queue.Action{Action: queue.ActionPause, Resource: resource, Reason: reason}, err
	})
	if err != nil {
		return fmt.Errorf("cascade: pause %s: %w", resource, err)
	}
	return nil
}

// ResumeResource lets workers work the jobs of a resource again. It is a no-op when it is not paused. One
// statement, 2 in a transaction with an actor.
func ResumeResource(ctx context.Context, db onerow.DB, resource string) error {
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (queue.Action, error) {
		n, err := onerow.Affected(ctx, db, sqlControlDrop, governor.KindPause, []byte(resource))
		if err != nil || n == 0 {
			return queue.Action{}, err
		}
		return queue.Action{Action: queue.ActionResume, Resource: resource}, nil
	})
	if err != nil {
		return fmt.Errorf("cascade: resume %s: %w", resource, err)
	}
	return nil
}

// PausedResources lists the resources that are paused, by name. One statement.
func PausedResources(ctx context.Context, db onerow.DB) ([]ResourcePause, error) {
	var list []ResourcePause
	err := onerow.Query(ctx, db, sqlPausedResources, nil, func(rows *sql.Rows) error {
		var p ResourcePause
		var since sql.NullInt64
		err := rows.Scan(&p.Resource, &p.Reason, &since)
		p.Since = dbtime.At(since)
		list = append(list, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cascade: read which resources are paused: %w", err)
	}
	return list, nil
}

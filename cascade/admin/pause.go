package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
)

// PauseState is the switch that all workers of a database obey.
type PauseState struct {
	On bool `json:"on"`
	// Reason is what was given to [Pause].
	Reason string `json:"reason,omitempty"`
	// Since is when it was switched on, by the database's clock, UTC.
	Since time.Time `json:"since,omitzero"`
}

// sqlPause and sqlResume lock the switch's row by its primary key. Assignments go from
// left to right: changed_at still sees the old is_on.
const (
	sqlPause = `INSERT INTO onerow_switch (name, is_on, reason, changed_at) VALUES ('pause', 1, ` + dbtext.Param + `, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE changed_at = IF(is_on, changed_at, VALUES(changed_at)), reason = VALUES(reason), is_on = 1, version = version + 1`
	sqlResume = `UPDATE onerow_switch SET is_on = 0, changed_at = UTC_TIMESTAMP(6), version = version + 1 WHERE name = 'pause' AND is_on = 1`
)

// Pause makes all workers of the database wait: they claim nothing, and who has a job
// keeps its lease and goes on with it after [Resume]. A worker looks at the switch once
// per second at most, also while it only reads, so it stops within a second and the rest of
// its batch. The reason is shown with the workers; it is cut to 255 bytes. Pausing again gives another
// reason.
//
// One statement, 2 in a transaction with an actor. Calling it again is safe.
func Pause(ctx context.Context, db onerow.DB, reason string) error {
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (queue.Action, error) {
		_, err := db.ExecContext(ctx, sqlPause, dbtext.Arg(dbtext.Fit(reason, governor.MaxReason)))
		return queue.Action{Action: queue.ActionPause, Reason: reason}, err
	})
	if err != nil {
		return fmt.Errorf("cascade: pause: %w", err)
	}
	return nil
}

// Resume lets the workers go on. It is a no-op when they are not paused. One statement, 2 in a transaction
// with an actor.
func Resume(ctx context.Context, db onerow.DB) error {
	err := queue.Noted(ctx, db, func(ctx context.Context, db onerow.DB) (queue.Action, error) {
		n, err := onerow.Affected(ctx, db, sqlResume)
		if err != nil || n == 0 {
			return queue.Action{}, err
		}
		return queue.Action{Action: queue.ActionResume}, nil
	})
	if err != nil {
		return fmt.Errorf("cascade: resume: %w", err)
	}
	return nil
}

// Paused reads the switch. One statement.
func Paused(ctx context.Context, db onerow.DB) (PauseState, error) {
	on, reason, since, err := governor.ReadSwitch(ctx, db)
	if err != nil {
		return PauseState{}, fmt.Errorf("cascade: read whether workers are paused: %w", err)
	}
	return PauseState{On: on, Reason: reason, Since: dbtime.At(since)}, nil
}

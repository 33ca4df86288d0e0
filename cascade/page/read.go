package page

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// How much the page reads at most, however much there is.
const (
	showDue     = 50  // jobs that are due, the longest waiting first
	showLater   = 100 // others, the running ones first
	showTrouble = 200 // dead jobs, and as many with leftovers: equal ones are one entry
	showEnded   = 15
	showParked  = 200 // the same
)

// sqlClock is the database's clock; the page's times and ages are all by it.
const sqlClock = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

func databaseClock(ctx context.Context, db onerow.DB) (time.Time, error) {
	var micros int64
	if err := onerow.QueryRow(ctx, db, sqlClock, nil, &micros); err != nil {
		return time.Time{}, fmt.Errorf("ask the database's clock: %w", err)
	}
	return time.UnixMicro(micros).UTC(), nil
}

// troubledJobs are the dead ones, then those with leftovers: 2 statements each.
func troubledJobs(ctx context.Context, db onerow.DB) ([]queue.Job, error) {
	dead, err := queue.List(ctx, db, queue.ListOptions{State: queue.Dead, Limit: showTrouble})
	if err != nil {
		return nil, err
	}
	left, err := queue.List(ctx, db, queue.ListOptions{State: queue.Leftovers, Limit: showTrouble})
	return append(dead, left...), err
}

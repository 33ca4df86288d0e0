package cascade

import (
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// Observer is told what workers do, for metrics: package cascade/prommetrics implements
// it. Its methods are called on the workers' goroutines, after the batch that they are
// about was committed; they must be safe for concurrent use and return at once. After a
// crash, or a COMMIT without an answer, something may have been told of twice or not at
// all: the tables are the record.
type Observer interface {
	// Batch was committed after that time.
	Batch(took time.Duration)
	// Deleted rows of a table.
	Deleted(table string, rows int64)
	// Detached rows of a table: their reference to a deleted row is NULL now.
	Detached(table string, rows int64)
	// Parked a row of a table.
	Parked(table string)
	// LeaseLost: another worker has taken over a job of this one.
	LeaseLost()
	// Throttled says why the worker waits from now on; "" that it does not. The reason begins with its kind:
	// paused, database (it cannot be asked), threads, lag, query, load, or throttle for one of the
	// application's own.
	Throttled(reason string)
	// Ended an attempt to work a job: it is in that state now.
	Ended(state queue.State)
}

// unobserved is the observer of a worker that has none.
type unobserved struct{}

func (unobserved) Batch(time.Duration)    {}
func (unobserved) Deleted(string, int64)  {}
func (unobserved) Detached(string, int64) {}
func (unobserved) Parked(string)          {}
func (unobserved) LeaseLost()             {}
func (unobserved) Throttled(string)       {}
func (unobserved) Ended(queue.State)      {}

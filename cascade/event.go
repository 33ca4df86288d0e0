package cascade

import (
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// Event is what a worker tells [Config].OnEvent: one thing, whose fields are set. More may be added.
//
// An event follows the commit that it tells of. After a crash, or a COMMIT without an answer, something may
// have been told twice or not at all: the tables are the record.
type Event struct {
	// Took is how long a batch took that was committed.
	Took time.Duration
	// Deleted and Detached are that batch's rows by table. A detached row's reference to a deleted one is
	// NULL now.
	Deleted, Detached map[string]int64
	// Ended is the state of a job after an attempt to work it: [queue.Ready] if it is to be tried again.
	Ended queue.State
	// LeaseLost says that another worker took over a job of this one.
	LeaseLost bool
	// Parallel is how many jobs are worked at once from now on: an operator has set another number
	// (admin.Set), or took that back. A pool that is bounded may need room.
	Parallel int
	// ParkedIn is the table of a row that was parked.
	ParkedIn string
	// Progress is how far a job is, after each batch and when it ends, as the worker knows it. See
	// [Config].Progress.
	Progress *queue.Job
	// Retained is the resource or table of whose rows a step of the plan's retention has Queued so many;
	// AllQueued says that it has come to the end of what is due.
	Retained  string
	Queued    int
	AllQueued bool
	// Throttled is why the worker waits from now on; where it points to an empty text, it goes on. Its kind
	// stands before the colon: paused, database, threads, lag, query, load or throttle.
	Throttled *string
}

// tell calls OnEvent, one call at a time.
func (w *Worker) tell(e Event) {
	if w.cfg.OnEvent == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.cfg.OnEvent(e)
}

package cascade

import (
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// Event is what a worker tells [Config].OnEvent: one of [Batch], [Ended], [LeaseLost], [Parallel], [Parked],
// [Progress], [Retained] and [Throttled]. More may be added: pass over what you do not know.
//
// An event follows the commit that it tells of. After a crash, or a COMMIT without an answer, something may
// have been told twice or not at all: the tables are the record.
type Event interface{ event() }

// Batch tells that a batch was committed.
type Batch struct {
	Took time.Duration
	// Deleted and Detached are rows by table. A detached row's reference to a deleted one is NULL now.
	Deleted, Detached map[string]int64
}

// Ended tells that an attempt to work a job ended, and which state the job is in now: [queue.Ready] if it is
// to be tried again.
type Ended struct{ State queue.State }

// LeaseLost tells that another worker took over a job of this one.
type LeaseLost struct{}

// Parallel tells that an operator set another number of jobs to be worked at once (admin.Set), or took that
// back. A pool that is bounded may need room.
type Parallel struct{ Jobs int }

// Parked tells that a row was parked.
type Parked struct{ Table string }

// Progress tells how far a job is, after each batch and when it ends, as the worker knows it. See
// [Config].Progress.
type Progress struct{ Job queue.Job }

// Throttled tells why the worker waits from now on; with an empty reason it goes on. Its kind stands before
// the colon: paused, database, threads, lag, query, load or throttle.
type Throttled struct{ Reason string }

func (Batch) event()     {}
func (Ended) event()     {}
func (LeaseLost) event() {}
func (Parallel) event()  {}
func (Parked) event()    {}
func (Progress) event()  {}
func (Retained) event()  {}
func (Throttled) event() {}

// tell calls OnEvent, one call at a time.
func (w *Worker) tell(e Event) {
	if w.cfg.OnEvent == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.cfg.OnEvent(e)
}

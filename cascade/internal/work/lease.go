package work

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// Lease is the job as the queue has given it to this worker, and all that this package needs of the queue.
// A worker that has lost the job changes nothing: every writing method proves the lease token in its own
// transaction, first.
type Lease interface {
	// Batch runs fn in a transaction, between the proof of the token and the counts, which are what fn has
	// put into the tally. fn may run more than once. last says that fn has ended the job.
	Batch(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx, t Tally) (last bool, err error)) error
	// Rehearse is Batch with a ROLLBACK at its end.
	Rehearse(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx) error) error
	// Renew proves the token and renews the lease. One statement.
	Renew(ctx context.Context) error
	// Keep is called before each read: it renews the lease once a third of it has passed, and waits as long
	// as something more important goes on.
	Keep(ctx context.Context) error
	// Limit is how many rows a batch may delete or detach unread.
	Limit() int
	// End moves the job to the archive, in its last batch, and notes why, where it was not to delete
	// anything.
	End(ctx context.Context, tx *onerow.Tx, state queue.State, why string) error
	// Parked is told of a row that was parked.
	Parked(ctx context.Context, table, key, cause string)
}

// Tally is what a batch has done: rows by table.
type Tally struct {
	// Deleted and Detached are told. Cut are rows that were detached and are to go themselves: each counts as
	// deleted, when it goes.
	Deleted, Detached, Cut map[string]int64
}

// NewTally is that of a batch that has done nothing yet.
func NewTally() Tally { return Tally{map[string]int64{}, map[string]int64{}, map[string]int64{}} }

// Add counts what another tally has counted, too.
func (t Tally) Add(other Tally) {
	for i, from := range []map[string]int64{other.Deleted, other.Detached, other.Cut} {
		for table, rows := range from {
			[]map[string]int64{t.Deleted, t.Detached, t.Cut}[i][table] += rows
		}
	}
}

// Rows is the sum.
func (t Tally) Rows() (n int64) {
	for _, c := range []map[string]int64{t.Deleted, t.Detached, t.Cut} {
		for _, rows := range c {
			n += rows
		}
	}
	return n
}

package queue

import (
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// Deletion is somebody's intent to delete a row and everything below it.
type Deletion struct {
	// ID is what [Log] returned; the job and the hidden root row carry it. 0: the deletion was not logged.
	ID int64
	// Resource is the resource's name in the plan.
	Resource string
	// ResourceID is the root row's id, see [onerow.EncodeKey].
	ResourceID string
	// Owner is whose row it is, see [onerow.EncodeKey]; "" for none. Only logged.
	Owner string
	// From is where the row was deleted from, "active" or "archived", or [FromOperator].
	From string
	// Grace is how long the deletion can be cancelled, in whole microseconds.
	Grace time.Duration
	// After is the id of a job that has ended, as far as the caller knows, or 0. Where the job of [Enqueue]
	// has no higher one, and a finished job has the same, it gets another, above all others: AUTO_INCREMENT
	// of onerow_job falls below the ids of the archive where that table is rebuilt by copying it, or restored
	// without its definition. Workers see to it, too, when they claim a job.
	After int64
	// NoTrash has the job keep nothing of what it deletes, whatever the plan says of trash: erasure.
	NoTrash bool
}

// FromOperator is what [Deletion].From says where an operator has a row deleted that no
// delete has hidden or removed: the job may take it away wherever it is. Without it an
// archived row goes only if its job's own deletion hides it.
const FromOperator = "operator"

// FromDue is what [Deletion].From says where the plan's retention asks for the deletion, see
// package cascade. Its job takes the row away wherever it is, if it is due still when the job begins.
const FromDue = "due"

// maxResource is how many bytes the name of a resource may have, and maxFrom how many [Deletion].From.
const (
	maxResource = 64
	maxFrom     = 8
)

// state is where its job begins.
func (d Deletion) state() State {
	if d.Grace > 0 {
		return Scheduled
	}
	return Ready
}

func (d Deletion) check() error {
	switch {
	case d.Resource == "" || len(d.Resource) > maxResource:
		return fmt.Errorf("%w: the resource %q must have 1 to %d bytes", ErrInvalid, d.Resource, maxResource)
	case d.ResourceID == "" || len(d.ResourceID) > onerow.MaxKeyLen:
		return fmt.Errorf("%w: the id %q of a %s must have 1 to %d bytes", ErrInvalid, d.ResourceID, d.Resource, onerow.MaxKeyLen)
	case len(d.Owner) > onerow.MaxKeyLen:
		return fmt.Errorf("%w: the owner has %d bytes, %d fit", ErrInvalid, len(d.Owner), onerow.MaxKeyLen)
	case len(d.From) > maxFrom:
		return fmt.Errorf("%w: it is from %q, which has more than 8 bytes", ErrInvalid, d.From)
	case d.Grace < 0:
		return fmt.Errorf("%w: the grace period %s is negative", ErrInvalid, d.Grace)
	}
	return nil
}

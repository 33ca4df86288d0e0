package queue

import (
	"errors"
	"fmt"
	"github.com/onerow/onerow/cascade/internal/fault"
)

var (
	// ErrInvalidDeletion means that a [Deletion] lacks something or has a value that does not fit.
	ErrInvalidDeletion = errors.New("cascade: invalid deletion")
	// ErrNoJob means that there is no such job.
	ErrNoJob = errors.New("cascade: no such job")
	// ErrTooLate means that no job of this deletion is in its grace period any more.
	ErrTooLate = errors.New("cascade: too late to cancel the deletion")
	// ErrNotDead means that only a job that is dead, held or ended with leftovers can be retried.
	// The detail is [*NotDeadError].
	ErrNotDead = errors.New("cascade: the job is not dead")
	// ErrNoParked means that there is no such parked row: it never was, or it was unparked.
	ErrNoParked = errors.New("cascade: no such parked row")
	// ErrOpenJob means that a newer job for the same row is open. The detail is [*OpenJobError].
	ErrOpenJob = errors.New("cascade: another job for the row is open")
	// ErrOtherDeletion means that the root row is not the one that the job's deletion is
	// about, or that another deletion hides it, so the job does not touch it.
	ErrOtherDeletion = errors.New("cascade: the row belongs to another deletion")
	// ErrInvalidConfig means that nobody can work, list or purge like that: a number or a duration is out of
	// its bounds.
	ErrInvalidConfig = errors.New("cascade: invalid configuration")
)

// NotDeadError is the detail of [ErrNotDead].
type NotDeadError struct {
	JobID int64
	State State // the state that the job is in
}

// Error says in which state the job is.
func (e *NotDeadError) Error() string {
	return fmt.Sprintf("cascade: job %d is %s; only a job that is dead, held or ended with leftovers can be retried", e.JobID, e.State)
}

// Is makes errors.Is(err, ErrNotDead) true.
func (e *NotDeadError) Is(target error) bool { return target == ErrNotDead }

// OpenJobError is the detail of [ErrOpenJob].
type OpenJobError struct {
	JobID int64 // the job that was to be retried
	Open  int64 // the job that is open
}

// Error names the job that is open.
func (e *OpenJobError) Error() string {
	return fmt.Sprintf("cascade: job %d cannot be retried: job %d for the same row is open and does its work", e.JobID, e.Open)
}

// Is makes errors.Is(err, ErrOpenJob) true.
func (e *OpenJobError) Is(target error) bool { return target == ErrOpenJob }

// IsServerState says whether err, of whatever verb, is about the state of the server, as
// cascade.ErrServerState is: what it refused then it may take later.
func IsServerState(err error) bool { return fault.ServerState(err) != nil }

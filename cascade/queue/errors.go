package queue

import (
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/answers"
)

var (
	// ErrInvalid means a wrong argument or configuration: a [Deletion] that lacks something or does not fit,
	// a number or a duration with which nobody can work, list or purge.
	ErrInvalid = answers.New(400, "the request is not valid", "cascade: invalid argument or configuration")
	// ErrNoJob means that there is no such job; of admin.ReadReport, no such deletion.
	ErrNoJob = answers.New(404, "no such job or deletion", "cascade: no such job")
	// ErrTooLate means that no job of this deletion is in its grace period any more.
	ErrTooLate = answers.New(409, "too late: the deletion has begun", "cascade: too late to cancel the deletion")
	// ErrWrongState means that the state that a job is in does not allow what was asked for. The job is
	// returned with it.
	ErrWrongState = answers.New(409, "the state of the job does not allow it", "cascade: the state of the job does not allow it")
	// ErrOpenJob means that a newer job for the same row is open, whose number the error ends with.
	ErrOpenJob = answers.New(409, "another job for it is open", "cascade: another job for the row is open")
	// ErrOtherDeletion means that the root row is not the one that the job's deletion is
	// about, or that another deletion hides it, so the job does not touch it.
	ErrOtherDeletion = answers.New(409, "it belongs to another deletion", "cascade: the row belongs to another deletion")
)

// IsServerState says whether err, of whatever verb or worker, is about the state that the server is in: its
// connections or its memory are used up, a disk is full, it is read-only, it ended the statement. What it
// refused then it may take later. The text says what may be done.
func IsServerState(err error) bool { return fault.ServerState(err) != nil }

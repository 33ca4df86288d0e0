package fault

import "errors"

// Errors that end an attempt to work a job.
var (
	// ErrLeaseLost means that another worker has claimed the job since, or that an operator has taken it
	// away; this one has changed nothing with this batch and must stop.
	ErrLeaseLost = errors.New("cascade: the lease of the job is lost")
	// ErrPaused: an operator has paused the job's resource.
	ErrPaused = errors.New("cascade: the resource is paused")
	// ErrTurn: the job goes on when those have had their turn that are due, and there is a slot.
	ErrTurn = errors.New("cascade: the turn of the job is over")
	// ErrMisfit: the tables are not as the plan has them, so no statement can be made, see graph.Read. Every
	// job of the plan would meet it.
	ErrMisfit = errors.New("the plan does not fit the database")
	// ErrDrift: the plan or the schema is not the one any more that the job was begun under. How a job fails,
	// or one worker's part in it, is no answer of a call: queue.Job's LastError and the log have it.
	ErrDrift = errors.New("cascade: the plan or the schema has changed under the job")
	// ErrParked: more rows than Config.MaxParked could not be deleted, those apart that somebody has skipped.
	ErrParked = errors.New("cascade: too many rows are parked")
	// ErrLoop: rows refer to each other in a loop in which no reference can be cut.
	ErrLoop = errors.New("cascade: rows refer to each other in a loop")
	// ErrStuck: rows below the root are left that several passes could not delete.
	ErrStuck = errors.New("cascade: rows are left that several passes could not delete; retry the job when nobody moves or adds rows there")
)

// Fate is what becomes of a job after an attempt to work it.
type Fate int

const (
	// Done means that the job is in the archive.
	Done Fate = iota
	// Lost means that somebody else has the job, so nothing is stored.
	Lost
	// GivenBack means that the job is due again at once.
	GivenBack
	// Postponed means that the job is due again in a moment. It is no failure.
	Postponed
	// PostponedWithAll means the same, and that the other jobs would fare no better: the worker pauses.
	PostponedWithAll
	// Rests means that the server has refused this job for a state of its own. The job is due again after a
	// pause that grows. It is no failure, and the others go on.
	Rests
	// Failed means that it is a failure. The job is due again after a pause that grows, or dead after too
	// many.
	Failed
	// Dead means that it is a failure that trying again does not mend.
	Dead
)

// FateOf says what becomes of a job by the error that its attempt ended with. If the worker was stopped, the
// error may be of that.
func FateOf(err error, stopped bool) Fate {
	state := ServerState(err)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, ErrLeaseLost):
		return Lost
	case errors.Is(err, ErrPaused), errors.Is(err, ErrTurn), stopped:
		return GivenBack
	case state != nil && state.Everybodys():
		return PostponedWithAll
	case state != nil:
		return Rests
	case Transient(err) && connectionLost(err):
		return PostponedWithAll
	case Transient(err):
		return Postponed
	case errors.Is(err, ErrDrift), errors.Is(err, ErrParked):
		return Dead
	case errors.Is(err, ErrMisfit):
		return PostponedWithAll
	}
	return Failed
}

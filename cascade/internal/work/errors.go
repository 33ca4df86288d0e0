package work

import "errors"

// What a job fails of.
var (
	// ErrParked: more rows than Config.MaxParked could not be deleted, those apart that somebody has skipped.
	ErrParked = errors.New("cascade: too many rows are parked")
	// ErrLoop: rows refer to each other in a loop in which no reference can be cut.
	ErrLoop = errors.New("cascade: rows refer to each other in a loop")
	// ErrStuck: rows below the root are left that several passes could not delete.
	ErrStuck = errors.New("cascade: rows are left that several passes could not delete; retry the job when nobody moves or adds rows there")
)

package work

import "errors"

// What a job fails of. Package cascade documents them.
var (
	ErrParked        = errors.New("cascade: too many rows are parked")
	ErrLoop          = errors.New("cascade: rows refer to each other in a loop")
	ErrOtherDeletion = errors.New("cascade: the row belongs to another deletion")
	ErrStuck         = errors.New("cascade: rows are left that several passes could not delete; retry the job when nobody moves or adds rows there")
)

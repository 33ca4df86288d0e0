package cascade

import (
	"errors"

	"github.com/onerow/onerow/cascade/queue"
)

// ErrInvalidConfig means that a worker cannot be made of this configuration.
var ErrInvalidConfig = queue.ErrInvalidConfig

// errDrift: the plan or the schema is not the one any more that the job was begun under. How a job fails, or
// one worker's part in it, is no answer of a call: [queue.Job].LastError and the log have it.
var errDrift = errors.New("cascade: the plan or the schema has changed under the job")

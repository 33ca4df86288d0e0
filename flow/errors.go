package flow

import (
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
)

var (
	// ErrInvalidArgument means: a name or an id cannot be one.
	ErrInvalidArgument = answers.Fault("flow: invalid argument")
	// ErrOwned means: another request owns the stage. The detail is [*OwnedError].
	ErrOwned = errors.New("flow: another request owns the stage")
	// ErrLost means: the request does not own the stage any more, or never did; it should
	// stop. It wrote nothing with this call. The detail is [*LostError].
	ErrLost = errors.New("flow: the request does not own the stage")
	// ErrSuperseded is an ErrLost: another request took over.
	ErrSuperseded = errors.New("flow: the request was superseded")
	// ErrFinished is an ErrLost: the request has finished the flow.
	ErrFinished = errors.New("flow: the request has finished")
	// ErrNoStep means: there is no step with this id.
	ErrNoStep = errors.New("flow: no such step")
	// errMoved: the owner that refused the INSERT is gone.
	errMoved = fmt.Errorf("flow: the stage was owned and is free again: %w", onerow.ErrMoved)
	// errRestless: what endAll ends is not seen to end.
	errRestless = errors.New("flow: stages are claimed as fast as they are ended, or a trigger keeps their requests running; try again")
)

// OwnedError is the detail of [ErrOwned].
type OwnedError struct {
	// Run is what was refused, Owner the request id that owns the stage.
	Run   Run
	Owner string
	// Since is when the owner was admitted, by the database's clock.
	Since time.Time
}

// Error says who owns the stage.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("flow: stage %q of flow %q belongs to request %q since %s; drop the message of request %q, or supersede",
		e.Run.Stage, e.Run.Flow, e.Owner, e.Since.Format(time.RFC3339), e.Run.RequestID)
}

// Is makes errors.Is(err, ErrOwned) true.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// LostError is the detail of [ErrLost].
type LostError struct {
	Run Run
	// Status is what became of the request: superseded, finished, or empty when it was never
	// admitted or is forgotten.
	Status Status
	// By is the request id that superseded it.
	By string
}

// Error says why the request is not the owner.
func (e *LostError) Error() string {
	switch e.Status {
	case Superseded:
		return fmt.Sprintf("flow: request %q lost stage %q of flow %q to request %q; stop", e.Run.RequestID, e.Run.Stage, e.Run.Flow, e.By)
	case Finished:
		return fmt.Sprintf("flow: request %q has finished flow %q; stop", e.Run.RequestID, e.Run.Flow)
	}
	return fmt.Sprintf("flow: request %q does not own stage %q of flow %q; claim it first, or stop", e.Run.RequestID, e.Run.Stage, e.Run.Flow)
}

// Is makes errors.Is true for ErrLost and for the reason.
func (e *LostError) Is(target error) bool {
	return target == ErrLost || target == ErrSuperseded && e.Status == Superseded || target == ErrFinished && e.Status == Finished
}

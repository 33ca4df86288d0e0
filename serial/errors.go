package serial

import (
	"errors"
	"fmt"

	"github.com/onerow/onerow"
)

var (
	// ErrInvalidArgument means: the name of a series, a claim key, an amount or a table cannot be one.
	ErrInvalidArgument = errors.New("serial: invalid argument")
	// ErrMismatch means: the claim key was used for another amount. The detail is
	// [*MismatchError].
	ErrMismatch = errors.New("serial: the claim key was used for another amount")
	// ErrVoided means: the claim's range was voided and may not be used. The detail is
	// [*VoidedError].
	ErrVoided = errors.New("serial: the range was voided")
	// ErrNoClaim means: there is no claim with this key.
	ErrNoClaim = errors.New("serial: no such claim")
	// errMoved: the claim that refused the INSERT is gone.
	errMoved = fmt.Errorf("serial: the claim key was taken and is free again: %w", onerow.ErrMoved)
	// errVoid: the row is locked, the UPDATE was sent twice, and the claim is not voided.
	errVoid = errors.New("serial: the claim does not become voided; is there a trigger?")
)

// MismatchError is the detail of [ErrMismatch].
type MismatchError struct {
	// Claim is what the key has.
	Claim Claim
	// Amount is what was asked for now.
	Amount int64
}

// Error says what the key has.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("serial: claim %q of series %q has the numbers %d to %d and cannot have %d numbers; use another key for another event",
		e.Claim.Key, e.Claim.Series, e.Claim.From, e.Claim.To, e.Amount)
}

// Is makes errors.Is(err, ErrMismatch) true.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// VoidedError is the detail of [ErrVoided].
type VoidedError struct{ Claim Claim }

// Error says which range was voided, and why.
func (e *VoidedError) Error() string {
	return fmt.Sprintf("serial: the numbers %d to %d of series %q, claimed as %q, were voided: %s; use another key to claim anew",
		e.Claim.From, e.Claim.To, e.Claim.Series, e.Claim.Key, e.Claim.VoidReason)
}

// Is makes errors.Is(err, ErrVoided) true.
func (e *VoidedError) Is(target error) bool { return target == ErrVoided }

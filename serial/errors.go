package serial

import (
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
)

var (
	// ErrInvalidArgument means: the name of a series, a claim key, an amount or a table cannot be one.
	ErrInvalidArgument = errors.New("serial: invalid argument")
	// ErrMismatch means: the claim key was used for another amount. The detail is [*ClaimError].
	ErrMismatch = answers.New(422, "this key was used for another amount", "serial: the claim key was used for another amount")
	// ErrVoided means: the claim's range was voided and may not be used. The detail is [*ClaimError].
	ErrVoided = answers.New(410, "the numbers were voided", "serial: the range was voided")
	// ErrExhausted means: the series has fewer numbers left than were asked for; its last one is 2⁶³-2.
	ErrExhausted = errors.New("serial: the series has no more numbers")
	// ErrNoClaim means: there is no claim with this key.
	ErrNoClaim = answers.New(404, "no such numbers", "serial: no such claim")
	// errMoved: the claim that refused the INSERT is gone.
	errMoved = fmt.Errorf("serial: the claim key was taken and is free again: %w", onerow.ErrMoved)
	// errVoid: the row is locked, the UPDATE was sent twice, and the claim is not voided.
	errVoid = errors.New("serial: the claim does not become voided; is there a trigger?")
)

// ClaimError is the detail of [ErrMismatch] and [ErrVoided]: what the key has.
type ClaimError struct {
	error
	Claim Claim
}

// Unwrap makes errors.Is find the sentinel.
func (e *ClaimError) Unwrap() error { return e.error }

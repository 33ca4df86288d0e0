package problem

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/repo"
)

// retryAfter is what a client is told to wait when the database is away, in
// seconds.
const retryAfter = 2

// From says what err is to a client. Business errors get the status and the words
// that they deserve; what the database refuses for now is 503 with Retry-After; the
// rest is 500 without a word about its cause, which is for the log.
func From(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	p = classify(err)
	p.Cause = err
	return p
}

func classify(err error) *Problem {
	var taken *repo.NameTakenError
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &taken):
		p := of(http.StatusConflict, "name-taken", "The name is taken", "There is an active %s with the name %q already, its id is %d. Choose another name.", taken.Resource, taken.Name, taken.ID)
		p.ExistingID, _ = taken.ID.(int64)
		return p
	case errors.As(err, &tooBig):
		return New(http.StatusRequestEntityTooLarge, "The body may have at most %d bytes.", tooBig.Limit)
	case errors.Is(err, repo.ErrRequestMismatch):
		return of(http.StatusUnprocessableEntity, "idempotency-key-reused", "The Idempotency-Key was used for something else",
			"An earlier request with this Idempotency-Key had another payload. Use a new key for new work.")
	case errors.Is(err, repo.ErrGone):
		return of(http.StatusGone, "gone", "What the request made is gone", "An earlier request with this Idempotency-Key made it, and it was deleted since. It is not made again; use a new key to make another one.")
	case errors.Is(err, repo.ErrTooLate):
		return of(http.StatusConflict, "too-late", "Too late", "The deletion can no longer be cancelled: its grace period is over.")
	case errors.Is(err, repo.ErrNotActive):
		return of(http.StatusConflict, "archived", "It is archived", "It is archived. Activate it first.")
	case errors.Is(err, store.ErrArchived):
		return of(http.StatusConflict, "archived", "The project is archived", "The project is archived, so it takes nothing new. Activate it first.")
	case errors.Is(err, onerow.ErrNotFound), errors.Is(err, repo.ErrParentNotFound), errors.Is(err, queue.ErrNoJob):
		return New(http.StatusNotFound, "There is nothing under this address, or it has been deleted.")
	}
	if p := input(err); p != nil {
		return p
	}
	return unavailable(err)
}

// input is about what the client sent; nil for everything else.
func input(err error) *Problem {
	var name *names.Error
	switch {
	case errors.As(err, &name):
		return badName(name)
	case errors.Is(err, names.ErrTooManyCopies), errors.Is(err, repo.ErrNoFreeName):
		return of(http.StatusConflict, "no-free-name", "No free name", "There are too many copies of this name. Rename some of them.")
	case errors.Is(err, store.ErrTier):
		return of(http.StatusUnprocessableEntity, "no-such-plan", "No such plan", "The plan must be one of %q, %q and %q.", store.Free, store.Pro, store.Team)
	case errors.Is(err, store.ErrText):
		return of(http.StatusUnprocessableEntity, "text", "The text cannot be stored", "The text must be visible, valid UTF-8 without control characters, and have 1 to %d characters.", store.MaxComment)
	case errors.Is(err, repo.ErrInvalidCursor):
		return New(http.StatusBadRequest, "The cursor is not one that this list returned.")
	case errors.Is(err, repo.ErrUnsupported):
		return New(http.StatusBadRequest, "This is not possible here.")
	case errors.Is(err, store.ErrUploadBroken):
		return New(http.StatusBadRequest, "The body ended before it was complete. Upload the file again.")
	case errors.Is(err, store.ErrUploadLost):
		return of(http.StatusConflict, "upload-lost", "The upload was given up", "The upload took too long. Upload the file again.")
	case errors.Is(err, repo.ErrConflict):
		return of(http.StatusConflict, "conflict", "Conflict", "Others changed it at the same time. Look at it again and decide anew.")
	}
	return nil
}

func badName(e *names.Error) *Problem {
	switch {
	case errors.Is(e, names.ErrEmpty):
		return of(http.StatusUnprocessableEntity, "name-empty", "The name is empty", "Nothing can be seen of the name. Choose another one.")
	case errors.Is(e, names.ErrTooLong):
		what := "The name"
		if e.Reason != "" {
			what += " (" + e.Reason + ")"
		}
		return of(http.StatusUnprocessableEntity, "name-too-long", "The name is too long", "%s has %d characters, at most %d are allowed.", what, e.Length, e.Limit)
	}
	return of(http.StatusUnprocessableEntity, "name-invalid", "The name is invalid", "The name cannot be used: %s.", e.Reason)
}

// busyNumbers are server errors that mean "not now", beside those that onerow runs again: too many
// connections, read only, out of resources.
var busyNumbers = map[uint16]bool{1040: true, 1041: true, 1129: true, 1203: true, 1226: true, 1836: true}

// unavailable tells what will pass from what will not.
func unavailable(err error) *Problem {
	var my *mysql.MySQLError
	var network net.Error
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		p := of(http.StatusServiceUnavailable, "outcome-unknown", "The outcome is unknown", "The database did not answer in time, so this may or may not have happened. Look, or repeat the request; with an Idempotency-Key that is safe.")
		p.RetryAfter = retryAfter
		return p
	case onerow.Retryable(err), errors.Is(err, context.DeadlineExceeded), errors.As(err, &network),
		errors.Is(err, mysql.ErrInvalidConn), errors.As(err, &my) && busyNumbers[my.Number]:
		p := of(http.StatusServiceUnavailable, "unavailable", "The database does not answer", "Nothing was changed. Try again in a moment.")
		p.RetryAfter = retryAfter
		return p
	}
	return New(http.StatusInternalServerError, "Something went wrong here. The log has the details under the request id.")
}

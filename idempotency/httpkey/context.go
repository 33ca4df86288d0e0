package httpkey

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/errtext"
)

// What a request's context lacks.
var (
	// ErrNoTx: the request has no transaction; its handler is not wrapped by OneCommit, or its method is
	// safe.
	ErrNoTx = errors.New("httpkey: the request has no transaction")
	// ErrNoClaim: the request has no claim; its handler is not wrapped by TwoStep, or it came without a key.
	ErrNoClaim = errors.New("httpkey: the request has no claim")
)

// state is what the handler and the middleware tell each other.
type state struct {
	tx    *onerow.Tx         // OneCommit
	claim *idempotency.Claim // TwoStep

	usedTx  atomic.Bool // the handler has asked for tx
	notDone atomic.Bool
}

type stateKey struct{}

func stateOf(ctx context.Context) *state {
	s, _ := ctx.Value(stateKey{}).(*state)
	return s
}

// Tx is the transaction of [Middleware.OneCommit], in which the key and the answer are stored: what the
// handler writes with it commits with them, or is undone. It must not be used after the handler has returned,
// nor by two goroutines at once. When a statement of it fails, answer with 5xx: the transaction is rolled
// back, and if the server refused it (a deadlock), run again with the handler. [ErrNoTx] outside of
// OneCommit.
func Tx(ctx context.Context) (*onerow.Tx, error) {
	s := stateOf(ctx)
	if s == nil || s.tx == nil {
		return nil, ErrNoTx
	}
	if err := s.tx.Err(); err != nil {
		return nil, errtext.Wrap(err, "httpkey: the transaction of the request")
	}
	s.usedTx.Store(true)
	return s.tx, nil
}

// NotDone says that nothing was done for the request, nothing at all, as when a connection to a payment
// service could not be made: the answer is sent and not stored, and the next request with the key runs the
// handler. It counts whatever the handler does afterwards. Where the request has no key it does nothing; in
// OneCommit it rolls back.
func NotDone(ctx context.Context) {
	if s := stateOf(ctx); s != nil {
		s.notDone.Store(true)
	}
}

// Claim is the claim of [Middleware.TwoStep]: its Token is to be passed on where Config.Lease is used, and it
// is what Keys.Owned and Keys.Extend take. The middleware ends it; the handler must not. [ErrNoClaim] outside
// of TwoStep.
func Claim(ctx context.Context) (idempotency.Claim, error) {
	s := stateOf(ctx)
	if s == nil || s.claim == nil {
		return idempotency.Claim{}, ErrNoClaim
	}
	return *s.claim, nil
}

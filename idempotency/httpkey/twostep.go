package httpkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// errPanicked is stored for a handler that did not return.
var errPanicked = errors.New("the handler panicked; whether the work was done is not known")

// TwoStep is for handlers whose work is outside of the database. It claims the key, runs the handler, and
// ends the claim, see the package documentation. Statements: 2.
func (m *Middleware) TwoStep(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := m.take(w, r, next)
		if q == nil {
			return
		}
		defer q.trace("httpkey.TwoStep")()
		switch {
		case !q.hasKey():
			next.ServeHTTP(w, q.Request)
		case m.read(w, q):
			m.twoStep(w, q)
		}
	})
}

func (m *Middleware) twoStep(w http.ResponseWriter, q *request) {
	if err := q.gone(); err != nil {
		m.problem(w, q.Request, storeDown, err)
		return
	}
	claim, out, err := m.begin(q)
	if failed, ok := errors.AsType[*idempotency.Error](err); ok {
		if stored, has := failed.Result.(Response); has {
			m.replay(w, q.Request, stored)
			return
		}
	}
	switch {
	case err != nil:
		m.refuse(w, q.Request, err)
	case out != nil:
		m.replay(w, q.Request, out.Row)
	default:
		m.work(w, q, claim)
	}
}

// begin does not end with the client: a claim whose answer nobody waits for would stay in progress.
func (m *Middleware) begin(q *request) (claim idempotency.Claim, out *onerow.Result[Response], err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Context()), m.cfg.Wait)
	defer cancel()
	err = m.ask(ctx, q, func(o idempotency.Options) (err error) {
		o.Lease = m.cfg.Lease
		claim, out, err = idempotency.Begin[Response](ctx, m.db, m.keys, q.key, o)
		return err
	})
	return claim, out, err
}

// work runs the handler of a claim, ends the claim and sends the answer.
func (m *Middleware) work(w http.ResponseWriter, q *request, claim idempotency.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.Context()), m.cfg.Timeout)
	defer cancel()
	s := &state{claim: &claim}
	rec := newRecorder(w, m.cfg.MaxResponse)
	returned := false
	defer func() {
		if !returned { // the panic goes on
			if err := m.end(ctx, s, answer{}, errPanicked); err != nil {
				m.cfg.Log.ErrorContext(ctx, "httpkey: a panic could not be recorded", "error", err)
			}
		}
	}()
	m.serve(ctx, rec, q, s)
	returned = true
	a, misuse := rec.close()
	err := m.end(ctx, s, a, misuse)
	if misuse == nil && errors.Is(err, ErrResponseTooLarge) {
		misuse = err
	}
	if misuse != nil {
		m.refuse(w, q.Request, misuse)
		return
	}
	if err != nil { // the work was done: its answer goes out all the same
		m.cfg.Log.ErrorContext(ctx, "httpkey: an answer was not stored", "error", err)
		a.header.Set(HeaderUnrecorded, "true")
	}
	m.send(w, q.Request, a)
}

// end ends a claim as the handler's answer says; misuse is why it has none. One statement.
func (m *Middleware) end(ctx context.Context, s *state, a answer, misuse error) error {
	claim := *s.claim
	switch {
	case s.notDone.Load(), misuse == nil && !m.keeps(a.status, StoredTwoStep):
		var o idempotency.Options
		if misuse == nil && sentElsewhere(a.status) { // the same work, and another path
			o.Keep = time.Microsecond
		}
		return m.keys.Release(ctx, m.db, claim, o)
	case misuse != nil:
		return m.keys.Fail(ctx, m.db, claim, misuse, idempotency.Options{Attention: true})
	}
	stored, err := m.store(a)
	switch {
	case err != nil:
	case a.status >= http.StatusInternalServerError: // every repetition gets it, and somebody should look
		err = m.keys.Fail(ctx, m.db, claim, fmt.Errorf("the handler answered with %d", a.status), idempotency.Options{Attention: true, Result: stored})
	default:
		err = m.keys.Complete(ctx, m.db, claim, stored)
	}
	if errors.Is(err, ErrResponseTooLarge) || errors.Is(err, idempotency.ErrTooLarge) || errors.Is(err, idempotency.ErrCodec) {
		cause := fmt.Errorf("the work was done with the status %d, its answer cannot be stored: %w", a.status, err)
		if ferr := m.keys.Fail(ctx, m.db, claim, cause, idempotency.Options{Attention: true}); ferr != nil {
			err = errors.Join(err, ferr)
		}
	}
	return err
}

package httpkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

var (
	// errRolledBack rolls a transaction back whose handler's answer says so.
	errRolledBack = errors.New("httpkey: rolled back, as the handler's answer says")
	// errWaited ends a wait.
	errWaited = errors.New("httpkey: Config.Wait has passed")
	// errTimeout ends a handler's context.
	errTimeout = fmt.Errorf("httpkey: Config.Timeout has passed: %w", context.DeadlineExceeded)
)

// OneCommit is for handlers whose work is in the database. Key, answer and what the handler writes through
// [Tx] commit together, see the package documentation. A request without a key, where that is allowed, gets
// the same transaction, and nothing is stored. Statements: 4, 5 for a 4xx after Tx, and the handler's.
func (m *Middleware) OneCommit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := m.take(w, r, next)
		if q == nil {
			return
		}
		defer q.trace("httpkey.OneCommit")()
		if m.read(w, q) {
			m.oneCommit(w, q)
		}
	})
}

type committing struct {
	m    *Middleware
	q    *request
	w    http.ResponseWriter
	span *span
	// Of the last run of the handler:
	answer answer
	misuse error
}

func (m *Middleware) oneCommit(w http.ResponseWriter, q *request) {
	ctx, span := m.newSpan(q)
	defer span.end()
	c := &committing{m: m, q: q, w: w, span: span}
	var out onerow.Result[Response]
	var err error
	keyed := q.hasKey()
	if keyed {
		err = m.ask(ctx, q, func(o idempotency.Options) (err error) {
			out, err = idempotency.Do(ctx, m.db, m.keys, q.key, c.run, o)
			return err
		})
	} else {
		err = onerow.InTx(ctx, m.db, func(ctx context.Context, tx *onerow.Tx) error {
			_, err := c.run(ctx, tx)
			return err
		})
	}
	undone := !keyed && errors.Is(err, idempotency.ErrUndone) // and there is no key to store the answer under
	switch {
	case errors.Is(err, errRolledBack) && c.misuse != nil:
		m.refuse(w, q.Request, c.misuse)
	case err == nil && out.Replayed:
		m.replay(w, q.Request, out.Row)
	case err == nil, undone, errors.Is(err, errRolledBack):
		m.send(w, q.Request, c.answer)
	case !keyed && errors.Is(err, onerow.ErrOutcomeUnknown):
		m.problem(w, q.Request, unclearCommit, err)
	default:
		m.refuse(w, q.Request, err)
	}
}

// run runs the handler in a transaction and says what becomes of it.
func (c *committing) run(ctx context.Context, tx *onerow.Tx) (Response, error) {
	if err := c.span.enter(); err != nil {
		return Response{}, err
	}
	s := &state{tx: tx}
	rec := newRecorder(c.w, c.m.cfg.MaxResponse)
	c.m.serve(ctx, rec, c.q, s)
	c.answer, c.misuse = rec.close()
	var stored Response
	if c.misuse == nil {
		stored, c.misuse = c.m.store(c.answer)
	}
	status := c.answer.status
	notDone := s.notDone.Load() // once: a goroutine that the handler has left behind may say it meanwhile
	undone := c.misuse != nil || notDone || !c.m.keeps(status, StoredOneCommit)
	if s.usedTx.Load() && !notDone && (undone || status >= http.StatusBadRequest) {
		// The server's refusal of what the handler wrote is why it failed, whatever it made of it: it runs
		// again. A poisoned transaction answers without a statement.
		if _, err := tx.ExecContext(ctx, sqlProbe); onerow.Retryable(err) {
			return Response{}, err
		}
		if !undone {
			return stored, idempotency.ErrUndone
		}
	}
	if undone {
		return Response{}, errRolledBack
	}
	return stored, nil
}

// sqlProbe does nothing.
const sqlProbe = "DO 0"

// span is the context of a request in OneCommit. Before the handler runs, it ends with the client and after
// Config.Wait: nothing was done. From then on it ends after Config.Timeout only.
type span struct {
	context.Context
	deadline   atomic.Pointer[time.Time]
	cancel     context.CancelCauseFunc
	stopClient func() bool
	timer      *time.Timer // of Wait, then of Timeout
	timeout    time.Duration
	entered    bool
}

func (m *Middleware) newSpan(q *request) (context.Context, *span) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(q.Context()))
	s := &span{Context: ctx, cancel: cancel, timeout: m.cfg.Timeout}
	s.until(m.cfg.Wait, errWaited)
	s.stopClient = context.AfterFunc(q.Context(), func() { cancel(q.gone()) })
	return s, s
}

// Deadline is when the context ends, unless the client goes earlier. Package idempotency waits for a key as
// long as that; without a deadline it would give up after so many attempts.
func (s *span) Deadline() (time.Time, bool) { return *s.deadline.Load(), true }

func (s *span) until(d time.Duration, cause error) {
	t := time.Now().Add(d)
	s.deadline.Store(&t)
	s.timer = time.AfterFunc(d, func() { s.cancel(cause) })
}

// enter is called before the handler runs, again when it runs again.
func (s *span) enter() error {
	switch {
	case s.entered:
		return nil
	case !s.timer.Stop():
		return errWaited
	case !s.stopClient():
		return context.Canceled
	}
	s.entered = true
	s.until(s.timeout, errTimeout)
	return nil
}

func (s *span) end() {
	s.timer.Stop()
	s.stopClient()
	s.cancel(nil)
}

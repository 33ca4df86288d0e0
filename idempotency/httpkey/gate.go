package httpkey

import (
	"context"
	"sync"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/errtext"
)

// gates let one request of a key at a time to the database: who waits for a key there holds a connection, and
// the waiters of one key would take those of all other requests. The others wait here, in their order, and
// hold nothing. Which request does the work is decided by the database all the same: there are other
// processes.
type gates struct {
	mu   sync.Mutex
	open map[idempotency.Key]*gate
}

type gate struct {
	turn  chan struct{} // has room for the one that is in
	users int           // that are in or wait
}

// enter waits for its turn until ctx ends. Who has entered leaves.
func (g *gates) enter(ctx context.Context, key idempotency.Key) (leave func(), err error) {
	at := g.count(key, 1)
	select {
	case at.turn <- struct{}{}: // whatever has become of ctx: nothing is waited for
	default:
		select {
		case at.turn <- struct{}{}:
		case <-ctx.Done():
			g.count(key, -1)
			return nil, context.Cause(ctx)
		}
	}
	return func() {
		<-at.turn
		g.count(key, -1)
	}, nil
}

// count adds to the users of a key's gate, which is there as long as it has some.
func (g *gates) count(key idempotency.Key, n int) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.open[key]
	if at == nil {
		at = &gate{turn: make(chan struct{}, 1)}
		g.open[key] = at
	}
	if at.users += n; at.users == 0 {
		delete(g.open, key)
	}
	return at
}

// ask runs verb, a call of Begin or Do, when it is the request's turn. The gate is left when verb returns,
// before anything is sent to the client.
func (m *Middleware) ask(ctx context.Context, q *request, verb func(o idempotency.Options) error) error {
	leave, err := m.gates.enter(ctx, q.key)
	if err != nil {
		return errtext.Errorf("%w: other requests with the key %s were before this one: %w", idempotency.ErrBusy, q.key, err)
	}
	defer leave()
	return verb(idempotency.Options{Payload: q.fingerprint})
}

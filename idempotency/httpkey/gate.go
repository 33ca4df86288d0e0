package httpkey

import (
	"context"
	"sync"
	"time"

	"github.com/onerow/onerow/idempotency"
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

// enter waits for its turn until ctx ends. waited: another request with the key was in. Who has entered
// leaves.
func (g *gates) enter(ctx context.Context, key idempotency.Key) (waited bool, leave func(), err error) {
	at := g.at(key)
	leave = func() {
		<-at.turn
		g.drop(key, at)
	}
	select {
	case at.turn <- struct{}{}:
		return false, leave, nil
	default:
	}
	select {
	case at.turn <- struct{}{}:
		return true, leave, nil
	case <-ctx.Done():
		g.drop(key, at)
		return true, nil, context.Cause(ctx)
	}
}

func (g *gates) at(key idempotency.Key) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.open[key]
	if at == nil {
		at = &gate{turn: make(chan struct{}, 1)}
		g.open[key] = at
	}
	at.users++
	return at
}

func (g *gates) drop(key idempotency.Key, at *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at.users--; at.users == 0 {
		delete(g.open, key)
	}
}

// ask runs verb, a call of Begin or Do, with the options of the request, when it is its turn. The gate is
// left when verb returns, before anything is sent to the client.
func ask[T any](ctx context.Context, m *Middleware, q *request, verb func(opts []idempotency.Option) (T, error)) (T, error) {
	start := time.Now()
	waited, leave, err := m.gates.enter(ctx, q.key)
	if err != nil {
		var none T
		return none, &idempotency.BusyError{Key: q.key, Waited: time.Since(start), Err: err}
	}
	defer leave()
	opts := []idempotency.Option{idempotency.Fingerprint(q.sum, q.earlier...), idempotency.Formerly(q.former...)}
	if waited { // probably there is an answer by now
		opts = append(opts, idempotency.LookFirst())
	}
	return verb(opts)
}

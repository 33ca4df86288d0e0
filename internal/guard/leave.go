package guard

import (
	"context"
	"sync"
	"time"

	"github.com/onerow/onerow/internal/hosts"
)

// When a context ends under a statement, the driver closes its connection and returns at once. The server
// does not look: what waits for a lock there, waits on, holds the locks of its transaction, and may commit.
// So the session is killed, over a new connection to the same host.

// killPatience is how long a session that was left may take to be killed, connection and all.
const killPatience = time.Second

// leftSessions are the sessions of a pool that are being killed.
type leftSessions struct {
	mu      sync.Mutex
	closed  bool
	killing sync.WaitGroup
}

// begin starts to kill one, unless the pool is closed.
func (l *leftSessions) begin(kill func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.killing.Go(kill)
	}
}

// close waits for those that are being killed.
func (l *leftSessions) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.killing.Wait()
}

// leave kills the session on its server, for its caller has gone. It does not wait: the caller has his answer
// when his deadline is over. What it starts ends within killPatience, and the pool's Close waits for it.
func (c *session) leave() {
	if c.left == nil || !c.peer.Known() {
		return
	}
	p := c.peer
	c.peer = hosts.Peer{}
	c.left.begin(func() {
		ctx, cancel := context.WithTimeout(context.Background(), killPatience)
		defer cancel()
		p.Kill(ctx)
	})
}

package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
)

// Cutter is a proxy that ends connections after a drawn number of bytes, within a packet as often as not, in
// either direction: a statement of which the server gets a part, an answer of which the client does.
//
// Some end at a COMMIT, just behind it: it is run, and the answer is lost.
//
// The soak's toxics come and go for all connections of a process; here each connection has an end of its own,
// so that there are always some that last and some that do not.
type Cutter struct {
	Cuts atomic.Int64

	listener net.Listener
	all      sync.WaitGroup

	mu       sync.Mutex
	upstream string
	longest  int64 // bytes; 0: nothing is cut
	r        *rand.Rand
	open     map[net.Conn]struct{}
	closed   bool
}

const (
	calm   = 3  // one of so many connections is not cut
	commit = 60 // one of so many that are passed on is the last of a connection
)

// NewCutter listens on a free port of the loopback interface and begins.
func NewCutter(upstream string, r *rand.Rand, longest int64) (*Cutter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	c := &Cutter{listener: listener, upstream: upstream, longest: longest, r: r, open: map[net.Conn]struct{}{}}
	c.all.Go(c.accept)
	return c, nil
}

// Addr is where it listens.
func (c *Cutter) Addr() string { return c.listener.Addr().String() }

// Lead has connections that begin from now on end elsewhere: a server's port changes when it starts again.
func (c *Cutter) Lead(upstream string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.upstream = upstream
}

// Stop cuts nothing more of what begins from now on.
func (c *Cutter) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = 0
}

// Close ends all connections and returns when nothing of it runs any more.
func (c *Cutter) Close() error {
	err := c.listener.Close()
	c.mu.Lock()
	c.closed = true
	for conn := range c.open {
		err = errors.Join(err, ended(conn.Close()))
	}
	c.mu.Unlock()
	c.all.Wait()
	return err
}

func (c *Cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return // closed
		}
		c.all.Go(func() { c.serve(client) })
	}
}

// limits draws after how many bytes the way up and the way down end; negative: never.
func (c *Cutter) limits() (up, down int64, reset bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	up, down = -1, -1
	if c.longest == 0 || c.r.IntN(calm) == 0 {
		return up, down, false
	}
	n := c.r.Int64N(c.longest)
	if c.r.IntN(2) == 0 {
		up = n
	} else {
		down = n
	}
	return up, down, c.r.IntN(2) == 0
}

// unlucky says whether a COMMIT is the last that passes.
func (c *Cutter) unlucky() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.longest > 0 && c.r.IntN(commit) == 0
}

// keep notes a connection, so that Close ends it; false: it has been called.
func (c *Cutter) keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.open[conn] = struct{}{}
	}
	return !c.closed
}

func (c *Cutter) serve(client net.Conn) {
	c.mu.Lock()
	upstream := c.upstream
	c.mu.Unlock()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		_ = client.Close() //nolint:errcheck // the client sees that there is nobody
		return
	}
	up, down, reset := c.limits()
	end := sync.OnceFunc(func() {
		for _, conn := range []net.Conn{client, server} {
			if tcp, ok := conn.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0) //nolint:errcheck // then it ends in the other way
			}
			_ = conn.Close() //nolint:errcheck // as wanted
			c.mu.Lock()
			delete(c.open, conn)
			c.mu.Unlock()
		}
	})
	if !c.keep(client) || !c.keep(server) {
		end()
		return
	}
	c.all.Go(func() { defer end(); c.pass(server, client, up, true) })
	defer end()
	c.pass(client, server, down, false)
}

// pass hands on up to limit bytes.
func (c *Cutter) pass(to, from net.Conn, limit int64, up bool) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		cut := limit >= 0 && int64(n) > limit
		if cut {
			n = int(limit)
		}
		limit -= int64(n)
		cut = cut || up && bytes.HasSuffix(buf[:n], []byte("COMMIT")) && c.unlucky()
		if _, werr := to.Write(buf[:n]); werr != nil || err != nil {
			return
		}
		if cut {
			c.Cuts.Add(1)
			return
		}
	}
}

// ended is err, but for a connection that had ended already.
func ended(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

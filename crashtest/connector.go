package crashtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Connector wraps a connector of go-sql-driver's, or of one that traces it, for sql.OpenDB and logs every
// statement that is executed through it. It changes nothing else, so the server gets the same statements with
// and without it. Safe for concurrent use.
type Connector struct {
	inner driver.Connector
	// identify makes each new session ask for its id on the server, which fault injection needs. One more
	// statement for each connection, so it is off where statements are only counted.
	identify bool
	// recording keeps what each statement was given and answered, for a Trace.
	recording atomic.Bool

	mu       sync.Mutex
	entries  []*execution
	sessions int
	ended    []uint64 // server ids of the sessions closed since the last takeEnded; only with identify
	open     []uint64 // server ids of the open sessions; only with identify
	refusal  error    // what Connect answers, if anything: the process has stopped
	step     interceptor
}

// An interceptor stands between a session and the server at each execution: it may call run (at most once),
// do something before and after it, and answer with another error than the server's. It runs in the goroutine
// of the caller, one at a time for each session.
type interceptor func(ctx context.Context, e *execution) error

// execution is one statement on its way to the server.
type execution struct {
	Statement
	// index counts from 1 since intercept was called.
	index int
	conn  *conn
	// run executes on the server and keeps the result. It returns driver.ErrSkip where the driver asks for
	// the other way (prepare, then execute): then nothing was executed and the statement is not counted.
	run func(ctx context.Context) error
	// part executes a part of the text.
	part func(ctx context.Context, query string) error
	// uncommitted is the text of several statements without the COMMIT at its end; empty if it has none.
	uncommitted string
	// drop drops the result, if one was kept.
	drop func() error
	// args are what the statement was given, and heard what its caller heard.
	args  []driver.NamedValue
	heard heard
}

// Wrap returns a connector that logs the statements sent through c.
//
//	connector := crashtest.Wrap(c)
//	db := sql.OpenDB(connector)
func Wrap(c driver.Connector) *Connector {
	return &Connector{inner: c}
}

// statements is a copy of the log since intercept was called.
func (c *Connector) statements() Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := make(Log, len(c.entries))
	for i, e := range c.entries {
		log[i] = e.Statement
	}
	return log
}

// executions are those since intercept was called.
func (c *Connector) executions() []*execution {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.entries)
}

// Driver is the wrapped connector's driver.
func (c *Connector) Driver() driver.Driver { return c.inner.Driver() }

// Close closes the wrapped connector if it can be closed. sql.DB.Close calls it.
func (c *Connector) Close() error {
	if closer, ok := c.inner.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// Connect opens a session of the wrapped connector.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.mu.Lock()
	refusal := c.refusal
	c.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	inner, err := c.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	session := &conn{connector: c}
	var ok bool
	if session.driverConn, ok = inner.(driverConn); !ok {
		return nil, errors.Join(fmt.Errorf("crashtest: a connection of %T lacks what go-sql-driver's have", inner), inner.Close())
	}
	if c.identify {
		if session.serverID, err = connectionID(ctx, session.driverConn); err != nil {
			return nil, errors.Join(fmt.Errorf("crashtest: asking a new session for its id: %w", err), inner.Close())
		}
	}
	c.mu.Lock()
	c.sessions++
	session.number = c.sessions
	if c.identify {
		c.open = append(c.open, session.serverID)
	}
	c.mu.Unlock()
	return session, nil
}

// intercept sets the interceptor for the executions that start from now on; nil takes it away. It empties the
// log, so that index starts at 1.
func (c *Connector) intercept(step interceptor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = nil
	c.step = step
}

// end notes that a session was closed on this side; the server may still be rolling back.
func (c *Connector) end(serverID uint64) {
	if !c.identify {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, serverID)
	c.open = slices.DeleteFunc(c.open, func(id uint64) bool { return id == serverID })
}

func (c *Connector) openSessions() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.open)
}

// refuse makes Connect answer with an error from now on; nil ends that.
func (c *Connector) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = err
}

// takeEnded returns the sessions closed since the last call.
func (c *Connector) takeEnded() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := c.ended
	c.ended = nil
	return ended
}

// execute logs an execution and runs it, through the interceptor if there is one.
func (c *Connector) execute(ctx context.Context, e *execution) error {
	c.mu.Lock()
	c.entries = append(c.entries, e)
	e.index = len(c.entries)
	step := c.step
	c.mu.Unlock()

	var err error
	if step == nil {
		err = e.run(ctx)
	} else {
		err = step(ctx, e)
	}
	e.heard.err = err
	if errors.Is(err, driver.ErrSkip) { // it was not executed after all
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entries = slices.DeleteFunc(c.entries, func(entry *execution) bool { return entry == e })
	}
	return err
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/pool"
)

var fenceChecks = []check{
	{
		name: "lost-answer", promise: promiseUnknown, with: opened, fix: "tell the authors of onerow, and which proxy is in between",
		what: "the answer to COMMIT is lost, or COMMIT itself: in a plain transaction, and under a key", run: lostAnswer,
	},
	{
		name: "stale-token", promise: promiseZombie, with: opened,
		fix:  "compare onerow_key with migrations/ddl, and look for triggers; leases need a database's clock that goes on",
		what: "a lease ends, another holder takes over, and the first one writes", run: staleToken,
	},
}

// staleToken: after another one took over, nothing that the first holder does counts.
func staleToken(ctx context.Context, s *site) (string, error) {
	k, err := newKit()
	if err != nil {
		return "", err
	}
	key := idempotency.Key{Operation: "fence", ID: "1"}
	first, out, err := idempotency.Begin[string](ctx, s.opened, k.keys, key, idempotency.Options{Lease: 300 * time.Millisecond})
	if err != nil || out != nil {
		return "", fmt.Errorf("a new key is not given: %w", orNil(err))
	}
	begin := time.Now()
	var second idempotency.Claim
	for {
		second, out, err = idempotency.Begin[string](ctx, s.opened, k.keys, key, idempotency.Options{Lease: time.Minute})
		if err == nil && out == nil {
			break
		}
		if !errors.Is(err, idempotency.ErrInProgress) {
			return "", fmt.Errorf("a key whose lease has ended is not given: %w", orNil(err))
		}
		if time.Since(begin) > 10*time.Second {
			return "", errors.New("a lease of 0.3 seconds has not ended after ten: the database's clock stands still")
		}
	}
	if took := time.Since(begin); took < 200*time.Millisecond {
		return "", fmt.Errorf("a lease of 0.3 seconds has ended after %v: the database's clock does not go as this machine's", took)
	}
	if err := s.run(ctx, `DELETE FROM prove_log`); err != nil {
		return "", err
	}
	zombie := k.keys.Owned(ctx, s.opened, first, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, sqlLog, "zombie")
		return err
	})
	late := k.keys.Complete(ctx, s.opened, first, "zombie")
	n, err := s.count(ctx, `SELECT COUNT(*) FROM prove_log`)
	switch {
	case err != nil:
		return "", err
	case !errors.Is(zombie, idempotency.ErrLost) || !errors.Is(late, idempotency.ErrLost) || n > 0:
		return "", fmt.Errorf("a holder that was taken over is let in: its write is answered with %w, its result with %w, and %d rows are there", orNil(zombie), orNil(late), n)
	}
	if err := k.keys.Complete(ctx, s.opened, second, "done"); err != nil {
		return "", err
	}
	_, out, err = idempotency.Begin[string](ctx, s.opened, k.keys, key)
	if err == nil && (out == nil || out.Row != "done") {
		err = errors.New("the second holder's result is not replayed")
	}
	return "each write of the first holder is refused", err
}

// cutter is a network that loses one COMMIT, or the answer to it.
type cutter struct {
	mode  atomic.Int32
	blind bool // what is sent cannot be read: TLS, compression
	mu    sync.Mutex
	cuts  int
}

// These are what a cutter waits for.
const (
	pass int32 = iota
	loseAnswer
	loseCommit
)

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

// cutConn is one connection.
type cutConn struct {
	net.Conn
	cutter *cutter
	last   bool // the next answer is read, and lost
	gone   bool
}

func (c *cutConn) Write(p []byte) (int, error) {
	if c.gone {
		return 0, net.ErrClosed
	}
	if mode := c.cutter.mode.Load(); mode != pass && (c.cutter.blind || strings.Contains(string(p), "COMMIT")) && c.cutter.mode.CompareAndSwap(mode, pass) {
		c.cutter.mu.Lock()
		c.cutter.cuts++
		c.cutter.mu.Unlock()
		if mode == loseCommit {
			c.gone = true
			return len(p), c.Close()
		}
		c.last = true
	}
	return c.Conn.Write(p)
}

// Read waits for the answer that is lost, so that the server has done what it was told.
func (c *cutConn) Read(p []byte) (int, error) {
	if c.gone {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p)
	if c.last && err == nil {
		c.gone = true
		return 0, errors.Join(net.ErrClosed, c.Close())
	}
	return n, err
}

// lostAnswer has a transaction by onerow.InTx and work under a key meet both.
func lostAnswer(ctx context.Context, s *site) (_ string, err error) {
	if err := s.run(ctx, `DELETE FROM prove_log`); err != nil {
		return "", err
	}
	cfg := s.cfg.Clone()
	cut := &cutter{blind: cfg.TLS != nil || cfg.TLSConfig != "" && cfg.TLSConfig != "false" || cfg.ConnectionAttributes == "" && strings.Contains(cfg.FormatDSN(), "compress=true")}
	cfg.DialFunc, cfg.InterpolateParams = cut.dial, pool.CanInterpolate(cfg)
	connector, err := pool.NewConnector(cfg)
	if err != nil {
		return "", refusal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, c := range []struct {
		what  string
		mode  int32
		there int
	}{{"the answer to COMMIT", loseAnswer, 1}, {"COMMIT", loseCommit, 0}} {
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, sqlLog, c.what)
			cut.mode.Store(c.mode)
			return err
		})
		cut.mode.Store(pass)
		n, cerr := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, c.what)
		switch {
		case cerr != nil:
			return "", cerr
		case !errors.Is(err, onerow.ErrOutcomeUnknown):
			return "", fmt.Errorf("%s was lost, and the caller is told: %w", c.what, orNil(err))
		case n != c.there:
			return "", fmt.Errorf("%s was lost, and %d rows are there", c.what, n)
		}
		if err := lostUnderKey(ctx, s, db, cut, c.what, c.mode); err != nil {
			return "", err
		}
	}
	if cut.cuts != 4 {
		return "", fmt.Errorf("%d of 4 COMMITs were met: something answers for the server", cut.cuts)
	}
	return "unknown is said where it is; under a key it is done once", nil
}

// lostUnderKey: whatever is lost, the work is done once and its result is the answer.
func lostUnderKey(ctx context.Context, s *site, db *sql.DB, cut *cutter, what string, mode int32) error {
	k, err := newKit()
	if err != nil {
		return err
	}
	first := true
	out, err := idempotency.Do(ctx, db, k.keys, idempotency.Key{Operation: "lost", ID: what}, func(ctx context.Context, tx *onerow.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, sqlLog, "key: "+what)
		if first {
			cut.mode.Store(mode)
		}
		first = false
		return "done", err
	})
	cut.mode.Store(pass)
	n, cerr := s.count(ctx, `SELECT COUNT(*) FROM prove_log WHERE what = ?`, "key: "+what)
	if err != nil || cerr != nil {
		return errors.Join(err, cerr)
	}
	if n != 1 || out.Row != "done" {
		return fmt.Errorf("%s was lost under a key, and the work was done %d times, with the result %q", what, n, out.Row)
	}
	return nil
}

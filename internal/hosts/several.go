package hosts

import (
	"context"
	"database/sql/driver"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

const (
	leftOut      = time.Second     // how long a host is not tried while there is another
	hostPatience = 5 * time.Second // for one to be connected to, asked and set up, if the name has no timeout
	tooSoon      = leftOut / 2     // a context that ends within it says nothing about the host
)

// several connects to the first host of a list that can be used.
type several struct {
	list     []*host
	patience time.Duration
}

// host is one of them. Its state saves time and decides nothing.
type host struct {
	addr   string
	driver driver.Connector
	setUp  *setUp
	asks   atomic.Int32 // the first of the questions that it understands

	mu  sync.Mutex
	out time.Time    // until when it is left out; zero: it is not
	era atomic.Int64 // how often all sessions to it were given up
}

func newSeveral(cfg *mysql.Config, list []string, how SetUp) (*several, error) {
	h := &several{patience: hostPatience}
	if cfg.Timeout > 0 {
		h.patience = cfg.Timeout
	}
	for _, addr := range list {
		one := cfg.Clone()
		if one.TLS != nil && strings.Contains(one.TLS.ServerName, ",") {
			one.TLS.ServerName = "" // the driver took the list for a name
		}
		one.Addr = addr
		connector, err := connectorOf(one)
		if err != nil {
			return nil, err
		}
		h.list = append(h.list, &host{addr: addr, driver: connector, setUp: how.of()})
	}
	return h, nil
}

// Driver is the driver's.
func (h *several) Driver() driver.Driver { return h.list[0].driver.Driver() }

// Connect opens a session on the first host that can be used.
func (h *several) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := h.Open(ctx)
	return conn, err
}

// Open also says where the session is. What is left out is tried when there is nothing else: that all
// seem to be unusable is no reason not to ask them.
func (h *several) Open(ctx context.Context) (driver.Conn, Stay, error) {
	var failed NoHostError
	for host := range h.turns {
		conn, at, err := host.connect(ctx, h.patience)
		if err == nil {
			return conn, at, nil
		}
		failed.Hosts = append(failed.Hosts, HostError{host.addr, err})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, Stay{}, &failed
}

// turns are the hosts in the order in which they are tried.
func (h *several) turns(yield func(*host) bool) {
	var out []*host
	for _, host := range h.list {
		if !host.admits(time.Now()) {
			out = append(out, host)
		} else if !yield(host) {
			return
		}
	}
	for _, host := range out {
		if !yield(host) {
			return
		}
	}
}

// admits says whether it is a host's turn. One whose time is over is tried by one connection only: others
// need not wait for it as well, if it does not answer.
func (h *host) admits(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.out.IsZero():
		return true
	case now.Before(h.out):
		return false
	}
	h.out = now.Add(leftOut)
	return true
}

func (h *host) leave(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out = until
}

// connect opens a session, asks the server whether it is to be used, and sets the session up.
func (h *host) connect(ctx context.Context, patience time.Duration) (driver.Conn, Stay, error) {
	if err := ctx.Err(); err != nil {
		return nil, Stay{}, err
	}
	began := time.Now()
	at := Stay{host: h, era: h.era.Load()}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := h.driver.Connect(limited)
	if err == nil {
		if err = h.ask(limited, conn); err == nil {
			at.Peer, err = h.setUp.do(limited, conn)
			at.Peer.dial = h.driver
		}
		if err != nil {
			_ = conn.Close() //nolint:errcheck // it was not used
		}
	}
	switch {
	case err == nil:
		h.leave(time.Time{})
		at.Takes = h.setUp.takes()
		return conn, at, nil
	case ctx.Err() == nil && limited.Err() != nil:
		err = unusable{"no answer within " + patience.String()} // not the end of the caller's context
	case ctx.Err() != nil && time.Since(began) < tooSoon:
		return nil, Stay{}, err
	}
	h.leave(time.Now().Add(leftOut))
	return nil, Stay{}, err
}

// Stay is a session's time at a host, and what is known of the session. Its zero value is that of a session
// of which nothing is.
type Stay struct {
	Peer  Peer
	Takes Packets

	host *host // nil: the pool has only one
	era  int64
}

// Over says whether all sessions of that time were given up.
func (s Stay) Over() bool { return s.host != nil && s.host.era.Load() != s.era }

// Met looks at an error of the session. A server that takes no writes is left out, with all sessions to it.
// Where a session was lost without a word from the server, a timeout perhaps, they are given up as well, and
// the next connection finds out whether it is there.
func (s Stay) Met(err error) {
	if s.host == nil || err == nil || s.Over() {
		return
	}
	switch class := mysqlerr.Classify(err); {
	case class == mysqlerr.NotHere:
		s.host.leave(time.Now().Add(leftOut))
	case class != mysqlerr.ConnectionLost || mysqlerr.Number(err) != 0:
		return
	}
	s.host.era.CompareAndSwap(s.era, s.era+1)
}

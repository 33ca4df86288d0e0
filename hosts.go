package onerow

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// ErrNoHost means: none of the hosts of the data source name can be used now. The detail is a [NoHostError].
var ErrNoHost = errors.New("onerow: none of the hosts can be used")

// NoHostError is the detail of [ErrNoHost].
type NoHostError struct {
	// Hosts are those that were tried, in that order.
	Hosts []HostError
}

// HostError is why a host cannot be used.
type HostError struct {
	// Host is its address.
	Host string
	// Err is what it, or the network, answered.
	Err error
}

// Error names each host and why it cannot be used.
func (e *NoHostError) Error() string {
	var b strings.Builder
	b.WriteString(ErrNoHost.Error())
	for i, h := range e.Hosts {
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		fmt.Fprintf(&b, "%s: %v", h.Host, h.Err)
	}
	return b.String()
}

// Is makes errors.Is(err, ErrNoHost) true. The transaction may run again if one of the hosts may change.
func (e *NoHostError) Is(target error) bool {
	if target == mysqlerr.ErrElsewhere {
		for _, h := range e.Hosts {
			if mysqlerr.MayRunAgain(h.Err) {
				return true
			}
		}
	}
	return target == ErrNoHost
}

// Unwrap returns the hosts' errors.
func (e *NoHostError) Unwrap() []error {
	errs := make([]error, len(e.Hosts))
	for i, h := range e.Hosts {
		errs[i] = h.Err
	}
	return errs
}

// Hosts are the addresses, each with its port, of a configuration whose address may be a list, as [Open]
// takes it.
func Hosts(cfg *mysql.Config) []string {
	list := cfg.Addr
	if !strings.HasPrefix(cfg.Net, "tcp") && cfg.Net != "" || !strings.Contains(list, ",") {
		return []string{list}
	}
	// The driver takes a list with colons for an IPv6 address without a port, and adds brackets and one.
	if strings.HasPrefix(list, "[[") || strings.HasPrefix(list, "[") && strings.IndexByte(list, ',') < strings.IndexByte(list, ']') {
		list = strings.TrimSuffix(strings.TrimPrefix(list, "["), "]:3306")
	}
	var hosts []string
	for host := range strings.SplitSeq(list, ",") {
		host = strings.TrimSpace(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "3306")
		}
		hosts = append(hosts, host)
	}
	return hosts
}

const (
	leftOut      = time.Second     // how long a host is not tried while there is another
	hostPatience = 5 * time.Second // for one to be connected to, asked and set up, if the name has no timeout
	tooSoon      = leftOut / 2     // a context that ends within it says nothing about the host
)

// hosts connects to the first host of a list that can be used.
type hosts struct {
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

func newHosts(cfg *mysql.Config, list []string, setUp func() *setUp) (*hosts, error) {
	h := &hosts{patience: hostPatience}
	if cfg.Timeout > 0 {
		h.patience = cfg.Timeout
	}
	for _, addr := range list {
		one := cfg.Clone()
		if one.TLS != nil && strings.Contains(one.TLS.ServerName, ",") {
			one.TLS.ServerName = "" // the driver took the list for a name
		}
		one.Addr = addr
		connector, err := driverConnector(one)
		if err != nil {
			return nil, err
		}
		h.list = append(h.list, &host{addr: addr, driver: connector, setUp: setUp()})
	}
	return h, nil
}

// Driver is the driver's.
func (h *hosts) Driver() driver.Driver { return h.list[0].driver.Driver() }

// Connect opens a session on the first host that can be used.
func (h *hosts) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := h.connect(ctx)
	return conn, err
}

// connect also says where the session is. What is left out is tried when there is nothing else: that all
// seem to be unusable is no reason not to ask them.
func (h *hosts) connect(ctx context.Context) (driver.Conn, stay, error) {
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
	return nil, stay{}, &failed
}

// turns are the hosts in the order in which they are tried.
func (h *hosts) turns(yield func(*host) bool) {
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
func (h *host) connect(ctx context.Context, patience time.Duration) (driver.Conn, stay, error) {
	if err := ctx.Err(); err != nil {
		return nil, stay{}, err
	}
	began := time.Now()
	at := stay{host: h, era: h.era.Load()}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := h.driver.Connect(limited)
	if err == nil {
		if err = h.ask(limited, conn); err == nil {
			at.as, err = h.setUp.do(limited, conn)
			at.as.dial = h.driver
		}
		if err != nil {
			_ = conn.Close() //nolint:errcheck // it was not used
		}
	}
	switch {
	case err == nil:
		h.leave(time.Time{})
		return conn, at, nil
	case ctx.Err() == nil && limited.Err() != nil:
		err = unusable{"no answer within " + patience.String()} // not the end of the caller's context
	case ctx.Err() != nil && time.Since(began) < tooSoon:
		return nil, stay{}, err
	}
	h.leave(time.Now().Add(leftOut))
	return nil, stay{}, err
}

// unusable is why a host that may be used later is not used.
type unusable struct{ why string }

func (u unusable) Error() string        { return u.why }
func (u unusable) Is(target error) bool { return target == mysqlerr.ErrElsewhere }

// packets says what a session takes that was set up there.
func (h *hosts) packets(at stay) packets { return at.host.setUp.packets() }

// stay is a session's time at a host; its zero value is one of a pool that has only one.
type stay struct {
	host *host
	era  int64
	as   peer
}

// over says whether all sessions of that time were given up.
func (s stay) over() bool { return s.host != nil && s.host.era.Load() != s.era }

// met looks at an error of the session. A server that takes no writes is left out, with all sessions to it.
// Where a session was lost without a word from the server, a timeout perhaps, they are given up as well, and
// the next connection finds out whether it is there.
func (s stay) met(err error) {
	if s.host == nil || err == nil || s.over() {
		return
	}
	switch class := mysqlerr.Classify(err); {
	case class == mysqlerr.NotHere:
		s.host.leave(time.Now().Add(leftOut))
	case class != mysqlerr.ConnectionLost || errNumber(err) != 0:
		return
	}
	s.host.era.CompareAndSwap(s.era, s.era+1)
}

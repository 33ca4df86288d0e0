package hosts

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/mysqlerr"
)

const (
	leftOut      = time.Second     // how long a host is not tried while there is another
	hostPatience = 5 * time.Second // for one to be connected to, asked and set up, if the name has no timeout
	tooSoon      = leftOut / 2     // a context that ends within it says nothing about the host
)

// Hosts is a connector to one server, or to the first of several that can be used.
type Hosts struct {
	list     []*host
	patience time.Duration
}

// host is one of them. Its state saves time and decides nothing.
type host struct {
	addr   string
	driver driver.Connector
	log    mysql.Logger // nil: nobody is to be killed there
	setUp  *setUp
	asks   atomic.Int32 // the first of the questions that it understands

	mu  sync.Mutex
	out time.Time    // until when it is left out; zero: it is not
	era atomic.Int64 // how often all sessions to it were given up
}

// New returns the connector of a configuration. Nothing is connected to.
func New(cfg *mysql.Config, how SetUp) (*Hosts, error) {
	h := &Hosts{patience: cmp.Or(max(cfg.Timeout, 0), hostPatience)}
	for _, addr := range Addresses(cfg) {
		own := cfg.Clone()
		if own.TLS != nil && strings.Contains(own.TLS.ServerName, ",") {
			own.TLS.ServerName = "" // the driver took the list for a name
		}
		own.Addr = addr
		connector, err := mysql.NewConnector(own)
		if err != nil {
			return nil, fmt.Errorf("onerow: the settings of the data source name contradict each other: %w", err)
		}
		h.list = append(h.list, &host{addr: addr, driver: connector, log: cmp.Or(own.Logger, mysql.NewConfig().Logger), setUp: how.perHost()})
	}
	return h, nil
}

// Driver is the driver's.
func (h *Hosts) Driver() driver.Driver { return h.list[0].driver.Driver() }

// Connect opens a session.
func (h *Hosts) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := h.Open(ctx)
	return conn, err
}

// Open also says where the session is. Of several hosts those that are left out are tried when there is
// nothing else: that all seem to be unusable is no reason not to ask them.
func (h *Hosts) Open(ctx context.Context) (driver.Conn, Stay, error) {
	if len(h.list) == 1 {
		return h.list[0].open(ctx, false)
	}
	failed := &noHost{}
	for host := range h.turns {
		conn, at, err := host.try(ctx, h.patience)
		if err == nil {
			return conn, at, nil
		}
		failed.why = append(failed.why, fmt.Errorf("%s: %w", host.addr, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, Stay{}, failed
}

// turns are the hosts in the order in which they are tried.
func (h *Hosts) turns(yield func(*host) bool) {
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

// try opens a session on one of several hosts, which is left out if that fails.
func (h *host) try(ctx context.Context, patience time.Duration) (driver.Conn, Stay, error) {
	if err := ctx.Err(); err != nil {
		return nil, Stay{}, err
	}
	began, era := time.Now(), h.era.Load()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, at, err := h.open(limited, true)
	switch {
	case err == nil:
		h.leave(time.Time{})
		at.host, at.era = h, era
		return conn, at, nil
	case ctx.Err() == nil && limited.Err() != nil:
		err = unusable{"no answer within " + patience.String()} // not the end of the caller's context
	case ctx.Err() != nil && time.Since(began) < tooSoon:
		return nil, Stay{}, err
	}
	h.leave(time.Now().Add(leftOut))
	return nil, Stay{}, err
}

// open connects, asks the server whether it is to be used, and sets the session up.
func (h *host) open(ctx context.Context, asks bool) (driver.Conn, Stay, error) {
	conn, err := h.driver.Connect(ctx)
	if err != nil {
		return nil, Stay{}, err
	}
	var at Stay
	sends, ok := conn.(session)
	if !ok {
		err = errors.New("onerow: the driver cannot run a text on a connection")
	}
	if err == nil && asks {
		err = h.ask(ctx, sends)
	}
	if err == nil {
		at.Peer, err = h.setUp.do(ctx, sends)
	}
	if err == nil {
		at.Takes, err = h.setUp.takes(ctx, sends)
	}
	if err != nil {
		return nil, Stay{}, errors.Join(err, conn.Close())
	}
	at.Peer.host = h
	return conn, at, nil
}

// ErrNoHost means: none of the hosts of the data source name can be used now. Its text says of each why not.
var ErrNoHost = answers.New(503, "the service is not available now; try again", "onerow: none of the hosts can be used")

// noHost is an [ErrNoHost]: why each host that was tried cannot be used, in that order. The transaction may
// run again if one of them may change.
type noHost struct{ why []error }

func (e *noHost) Error() string {
	return ErrNoHost.Error() + ": " + strings.ReplaceAll(errors.Join(e.why...).Error(), "\n", "; ")
}
func (e *noHost) Unwrap() []error { return append([]error{ErrNoHost}, e.why...) }
func (e *noHost) Is(target error) bool {
	return target == mysqlerr.ErrElsewhere && slices.ContainsFunc(e.why, mysqlerr.MayRunAgain)
}

// unusable is why a host that may be used later is not used.
type unusable struct{ why string }

func (u unusable) Error() string        { return u.why }
func (u unusable) Is(target error) bool { return target == mysqlerr.ErrElsewhere }

// Addresses are those, each with its port, of a configuration whose address may be a list, as pool.Open
// takes it.
func Addresses(cfg *mysql.Config) []string {
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

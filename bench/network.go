package main

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// network is what the clients that are measured talk over.
type network struct {
	// delay is how much later what is received comes: the way there and back.
	delay time.Duration
	// packets are what clients have sent: one for each round trip.
	packets atomic.Int64
	// claims are the jobs that workers have tried to claim.
	claims atomic.Int64

	timing       atomic.Bool // transactions are timed
	mutex        sync.Mutex
	since        time.Time // they are
	transactions []time.Duration
}

// overNetwork is the driver's name for it.
const overNetwork = "measured"

func newNetwork(delay time.Duration) *network {
	n := &network{delay: delay}
	mysql.RegisterDialContext(overNetwork, func(ctx context.Context, addr string) (net.Conn, error) { return n.dial(ctx, "tcp", addr) })
	return n
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	if n.delay > 0 {
		f := &far{Conn: conn, delay: n.delay, pieces: make(chan piece, 1024)}
		go f.receive()
		conn = f
	}
	return &counting{Conn: conn, network: n}, nil
}

// counting counts what is sent, and times transactions.
type counting struct {
	net.Conn
	network *network
	begun   time.Time // the open transaction
	ends    bool      // COMMIT was sent
	heard   time.Time // the last of an answer
}

// Write sends what is one packet. What was heard before it is all of the answer to the packet before.
func (c *counting) Write(b []byte) (int, error) {
	c.network.packets.Add(1)
	if c.ends && !c.begun.IsZero() {
		c.network.note(c.begun, c.heard)
		c.begun = time.Time{}
	}
	if c.ends = false; c.network.timing.Load() {
		if bytes.Contains(b, []byte("START TRANSACTION")) {
			c.begun = time.Now()
		}
		c.ends = bytes.Contains(b, []byte("COMMIT"))
	}
	if at := bytes.LastIndex(b, claimedIDs); at >= 0 && bytes.Contains(b, claimsJobs) {
		c.network.claims.Add(1 + int64(bytes.Count(b[at:], []byte(","))))
	}
	return c.Conn.Write(b)
}

// How a claim begins, and what its jobs stand behind.
var claimsJobs, claimedIDs = []byte("UPDATE onerow_job FORCE INDEX (PRIMARY) SET state = 'running'"), []byte("AND id IN (")

// Read reads a piece of an answer.
func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.ends {
		c.heard = time.Now()
	}
	return n, err
}

// note keeps how long a transaction took, unless it is one of what was timed before.
func (n *network) note(begun, ended time.Time) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if begun.After(n.since) {
		n.transactions = append(n.transactions, ended.Sub(begun))
	}
}

// timed runs what measures itself, and returns how long each transaction took meanwhile.
func (n *network) timed(run func() error) ([]time.Duration, error) {
	n.mutex.Lock()
	n.since = time.Now()
	n.mutex.Unlock()
	n.timing.Store(true)
	err := run()
	n.timing.Store(false)
	n.mutex.Lock()
	defer n.mutex.Unlock()
	took := n.transactions
	n.transactions = nil
	return took, err
}

// far is a connection on which everything arrives later: the last piece of a long answer, too.
type far struct {
	net.Conn
	delay  time.Duration
	pieces chan piece
	rest   piece // what was not read of the last one
}

type piece struct {
	data []byte
	err  error
	at   time.Time
}

func (f *far) receive() {
	for {
		b := make([]byte, 16<<10)
		n, err := f.Conn.Read(b)
		f.pieces <- piece{b[:n], err, time.Now().Add(f.delay)}
		if err != nil {
			close(f.pieces)
			return
		}
	}
}

// Read waits until the next piece has come all the way.
func (f *far) Read(b []byte) (int, error) {
	if len(f.rest.data) == 0 && f.rest.err == nil {
		next, ok := <-f.pieces
		if !ok {
			return 0, net.ErrClosed
		}
		f.rest = next
		late(time.Until(next.at))
	}
	n := copy(b, f.rest.data)
	f.rest.data = f.rest.data[n:]
	if n == 0 {
		return 0, f.rest.err
	}
	return n, nil
}

// manyProcessors is GOMAXPROCS where answers come late: each client takes one while it waits.
const manyProcessors = 100

// late sleeps so long. time.Sleep may take a millisecond more.
func late(d time.Duration) {
	if d > 0 {
		ts := syscall.NsecToTimespec(d.Nanoseconds())
		_ = syscall.Nanosleep(&ts, nil) //nolint:errcheck // a signal that ends it early does not matter
	}
}

// SetReadDeadline does nothing: receive always waits.
func (f *far) SetReadDeadline(time.Time) error { return nil }

// SetDeadline sets that of writes.
func (f *far) SetDeadline(t time.Time) error { return f.SetWriteDeadline(t) }

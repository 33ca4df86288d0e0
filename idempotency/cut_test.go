package idempotency_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// cutter is a proxy before the server that cuts a connection at its n-th command:
// before the server gets it, or when the server has answered it.
type cutter struct {
	listener net.Listener
	cfg      *mysql.Config

	mu    sync.Mutex
	left  int // commands until the cut; 0: no cut is due
	after bool
	cut   chan struct{}
}

// newCutter returns the proxy and the DSN through it. Each statement is one command.
func newCutter(t *testing.T, dsn string) (*cutter, string) {
	t.Helper()
	cfg := must(mysql.ParseDSN(dsn + "&interpolateParams=true"))
	c := &cutter{listener: must(net.Listen("tcp", "127.0.0.1:0")), cfg: cfg.Clone(), cut: make(chan struct{})}
	t.Cleanup(func() { _ = c.listener.Close() })
	go func() {
		for {
			client, err := c.listener.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	cfg.Net, cfg.Addr = "tcp", c.listener.Addr().String()
	return c, cfg.FormatDSN()
}

// arm cuts at the n-th command from now.
func (c *cutter) arm(n int, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.after = n, after
}

// due counts a command and says whether to cut at it.
func (c *cutter) due() (cut, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return false, false
	}
	c.left--
	if c.left == 0 {
		close(c.cut)
	}
	return c.left == 0, c.after
}

func (c *cutter) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial(c.cfg.Net, c.cfg.Addr)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var mu sync.Mutex
	mute := false
	go func() { // answers
		defer func() { _ = client.Close() }()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			mu.Lock()
			stop := mute
			mu.Unlock()
			if err != nil || stop {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	var head [4]byte
	for {
		if _, err := io.ReadFull(client, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32([]byte{head[0], head[1], head[2], 0}))
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if head[3] == 0 { // a command; the handshake's packets have other numbers
			cut, after := c.due()
			if cut && !after {
				return
			}
			mu.Lock()
			mute = cut
			mu.Unlock()
		}
		if _, err := server.Write(append(head[:], body...)); err != nil {
			return
		}
	}
}

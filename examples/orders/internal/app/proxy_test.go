package app

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"testing"
	"time"
)

// cut is where a proxy cuts the connection of a request.
type cut int

const (
	never          cut = iota
	beforeRequest      // nothing of it arrives
	duringRequest      // its head and half of its body arrive
	beforeResponse     // it arrives, and nobody waits for the answer
	unanswered         // it is answered, and nothing of the answer comes back
	duringResponse     // half of the answer comes back
	afterResponse      // all of it comes back
	cuts
)

// cutter is a proxy that cuts connections: which, the schedule says for each attempt of each key.
type cutter struct {
	t        *testing.T
	target   string
	listener net.Listener
	schedule func(key string, attempt int) cut
	// spoil makes each attempt's key another one, as a client does that has no keys.
	spoil bool
	work  sync.WaitGroup

	mu       sync.Mutex
	attempts map[string]int
	made     map[cut]int
	open     map[net.Conn]bool
}

func newCutter(t *testing.T, target string, spoil bool, schedule func(key string, attempt int) cut) *cutter {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cutter{t: t, target: target, listener: listener, schedule: schedule, spoil: spoil, attempts: map[string]int{}, made: map[cut]int{}, open: map[net.Conn]bool{}}
	p.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.work.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		for conn := range p.open {
			p.close(conn)
		}
		p.mu.Unlock()
		p.work.Wait()
	})
	return p
}

func (p *cutter) url() string { return "http://" + p.listener.Addr().String() }

func (p *cutter) close(conn net.Conn) {
	if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		p.t.Error(err)
	}
}

// plan counts an attempt of a key and says what becomes of it.
func (p *cutter) plan(key string) (c cut, attempt int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	attempt = p.attempts[key]
	c = p.schedule(key, attempt)
	p.attempts[key]++
	p.made[c]++
	return c, attempt
}

// serve passes the requests of a connection on until one is cut.
func (p *cutter) serve(client net.Conn) {
	p.mu.Lock()
	p.open[client] = true
	p.mu.Unlock()
	defer p.close(client)
	in := bufio.NewReader(client)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return // the client has no more of them
		}
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			p.t.Errorf("the client sent no key with %s %s", r.Method, r.URL.Path)
		}
		c, attempt := p.plan(key)
		if p.spoil {
			r.Header.Set("Idempotency-Key", fmt.Sprintf("%s_%d", key, attempt))
		}
		answer, err := p.forward(r, c)
		switch {
		case err != nil:
			p.t.Errorf("the shop gave no answer: %v", err)
			return
		case c == duringResponse:
			answer = answer[:len(answer)/2]
		case c == beforeRequest, c == duringRequest, c == beforeResponse, c == unanswered:
			return
		}
		if _, err := client.Write(answer); err != nil || c != never {
			return
		}
	}
}

// forward sends what of the request arrives, and reads the whole answer if somebody waits for it.
func (p *cutter) forward(r *http.Request, c cut) (answer []byte, err error) {
	if c == beforeRequest {
		return nil, nil
	}
	raw, err := httputil.DumpRequest(r, true)
	if err != nil {
		return nil, err
	}
	if c == duringRequest {
		raw = raw[:len(raw)-int(r.ContentLength)/2]
	}
	server, err := (&net.Dialer{}).DialContext(p.t.Context(), "tcp", p.target)
	if err != nil {
		return nil, err
	}
	defer p.close(server)
	if _, err := server.Write(raw); err != nil {
		return nil, err
	}
	if c == duringRequest || c == beforeResponse {
		return nil, nil
	}
	if err := server.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	var seen bytes.Buffer
	res, err := http.ReadResponse(bufio.NewReader(io.TeeReader(server, &seen)), r)
	if err != nil {
		return nil, err
	}
	if res.ContentLength < 0 {
		return nil, errors.New("the answer has no length: " + strconv.Quote(seen.String()))
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return nil, fmt.Errorf("the answer breaks off: %w", err)
	}
	return seen.Bytes(), res.Body.Close()
}

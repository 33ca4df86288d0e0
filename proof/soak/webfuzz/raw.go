package webfuzz

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// Kinds of findings about connections.
const (
	brokenSmuggled = "a request was smuggled"
	brokenSlow     = "a slow client keeps its connection"
)

// rawTime is how long an answer to broken bytes is waited for; some of them begin a body that never comes.
const rawTime = 2 * time.Second

// smuggle draws bytes that two readers would cut in different ways. inner is a whole request within, which
// must not be answered beside the first.
func smuggle(r *rand.Rand, host, first, inner string) string {
	head := first + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
	n := len(inner)
	return pick(r, []string{
		head + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n", n) + inner,
		head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: 0\r\n\r\n", n) + inner,
		head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", n+5) + inner,
		head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
		head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + inner,
		head + "Transfer-Encoding:\vchunked\r\n\r\n0\r\n\r\n" + inner,
		head + "Content-Length: +0\r\n\r\n" + inner,
		head + "Content-Length: 0x0\r\n\r\n" + inner,
		head + "Content-Length: 00000000000000000000000000000000\r\n\r\n" + inner,
		head + "Content-Length: -1\r\n\r\n" + inner,
		head + "Content-Length: 99999999999999999999\r\n\r\n" + inner,
		head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + inner,
		head + "Transfer-Encoding: chunked\r\n\r\n0;x=\r\n\r\n\r\n" + inner,
		head + "Content-Length: 1099511627776\r\nExpect: 100-continue\r\n\r\n" + inner,
		head + "Content-Length: 0\r\nExpect: the worst\r\n\r\n" + inner,
		head + " Folded: 1\r\n\r\n" + inner,
		head + "X: a\rContent-Length: 0\r\n\r\n" + inner,
		head + "X\x00Y: 1\r\n\r\n" + inner,
		head + "X: " + strings.Repeat("a", 1<<20) + "\r\n\r\n" + inner,
		head + strings.Repeat("X: a\r\n", 60000) + "\r\n" + inner,
		first + " HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n" + inner,
		first + " HTTP/1.1\r\nConnection: close\r\n\r\n" + inner,
		first + " HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n" + inner,
		first + " HTTP/3.7\r\nHost: a\r\nConnection: close\r\n\r\n" + inner,
		first + "\r\n\r\n" + inner,
		strings.Replace(first, " ", " http://evil.example", 1) + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n" + inner,
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + inner,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + inner,
		strings.Repeat("G", 1<<17) + "\r\n" + inner,
		"\r\n\r\n\x00\xff" + inner,
	})
}

// raw sends one such connection and judges what comes back: one answer at most, below 500, or the end.
func (c *client) raw(ctx context.Context, r *rand.Rand, first, inner string) {
	bytesOf := smuggle(r, c.to.addr(), first, inner)
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", c.to.addr())
	if err != nil {
		c.broken(brokenNone, "%s: %v", c.to.name, err)
		return
	}
	c.served.Add(1)
	if err := conn.SetDeadline(time.Now().Add(rawTime)); err != nil {
		c.broken(brokenNone, "%s: %v", c.to.name, err)
	}
	_, _ = io.WriteString(conn, bytesOf)              //nolint:errcheck // it may be refused before it is read
	got, _ := io.ReadAll(io.LimitReader(conn, 1<<20)) //nolint:errcheck // what came until it ended
	_ = conn.Close()                                  //nolint:errcheck // it is done with
	judgeRaw(c, bytesOf, got)
}

// judgeRaw holds what came back against what may.
func judgeRaw(c *client, sent string, got []byte) {
	line := fmt.Sprintf("printf %s | nc %s", shell(sent), strings.Replace(c.to.addr(), ":", " ", 1))
	if n := bytes.Count(got, []byte("HTTP/1.1 ")); n > 1 && !bytes.HasPrefix(got, []byte("HTTP/1.1 100")) {
		c.broken(brokenSmuggled, "%d answers: %s", n, line)
	}
	if bytes.HasPrefix(got, []byte("HTTP/1.1 5")) && !bytes.HasPrefix(got, []byte("HTTP/1.1 501")) && !bytes.HasPrefix(got, []byte("HTTP/1.1 505")) {
		c.broken(brokenStatus, "%.60q: %s", got, line)
	}
}

// slow is a client that sends a byte now and then.
type slow struct {
	to    *program
	what  string
	begin string        // what is sent at once
	drip  string        // and then, again and again
	most  time.Duration // how long the program may bear it
}

// run drips until the program has ended the connection.
func (s slow) run(ctx context.Context, w *world) {
	begin := time.Now()
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", s.to.addr())
	if err != nil {
		w.found.Add(brokenNone, "%s: %v", s.to.name, err)
		return
	}
	defer func() { _ = conn.Close() }() //nolint:errcheck // it is done with
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, conn) //nolint:errcheck // that it ends is all
		close(ended)
	}()
	_, _ = io.WriteString(conn, s.begin) //nolint:errcheck // as above
	for tick := time.NewTicker(400 * time.Millisecond); ; {
		select {
		case <-ended:
			tick.Stop()
			w.slowEnded.Add(1)
			return
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			_, _ = io.WriteString(conn, s.drip) //nolint:errcheck // the reader sees the end
		}
		if time.Since(begin) > s.most {
			tick.Stop()
			w.found.Add(brokenSlow, "%s bears it for more than %v: %s, %q and then %q", s.to.name, s.most, s.what, s.begin, s.drip)
			return
		}
	}
}

// slowClients are those for which the load is long enough.
func (w *world) slowClients(long time.Duration) (all []slow) {
	const margin = 4 * time.Second
	add := func(to *program, what, begin, drip string, most time.Duration) {
		if to != nil && most+margin < long {
			all = append(all, slow{to, what, begin, drip, most + margin})
		}
	}
	head := "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nOrigin: http://127.0.0.1\r\n"
	for _, p := range w.programs {
		limits := map[string][2]time.Duration{"worker": {5 * time.Second, 10 * time.Second}, "local": {5 * time.Second, 10 * time.Second}, "projects": {10 * time.Second, 35 * time.Second}, "orders": {10 * time.Second, 30 * time.Second},
			"helpdesk": {10 * time.Second, 10 * time.Minute}, "tutorial": {5 * time.Second, 35 * time.Second}}[p.name]
		path := map[string]string{"projects": "/api/users", "orders": "/orders", "helpdesk": "/tenants/1/workspaces/x/tickets/y", "tutorial": "/shows", "worker": "/login", "local": "/pause"}[p.name]
		for range 5 {
			add(p, "a slow header", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X: 1\r\n", limits[0])
			add(p, "a slow body", strings.Replace(head, "/x", path, 1)+"Authorization: Bearer sk_ada\r\nIdempotency-Key: slow\r\nContent-Length: 1000\r\n\r\n{", " ", limits[1])
			add(p, "a slow chunked body", strings.Replace(head, "/x", path, 1)+"Authorization: Bearer sk_ada\r\nIdempotency-Key: slower\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "1\r\n \r\n", limits[1])
		}
	}
	return all
}

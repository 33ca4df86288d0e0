package httpkey_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// testParallel: 64 requests with one key at once.
func testParallel(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		var runs atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{}, steered(t, &g, &runs))
		var all sync.WaitGroup
		replies := make([]reply, 64)
		for i := range replies {
			all.Go(func() {
				for {
					r, err := g.try(call{key: "k", body: "x"})
					if err != nil {
						t.Error(err)
						return
					}
					replies[i] = r
					if r.status != http.StatusConflict {
						return
					}
				}
			})
		}
		all.Wait()
		fresh := 0
		for _, r := range replies {
			if !r.replayed() {
				fresh++
			}
			if r.status != 201 || r.body != replies[0].body {
				t.Errorf("%d %q, another got %q", r.status, r.body, replies[0].body)
			}
		}
		if fresh != 1 || g.effects("x") != 1 {
			t.Errorf("%d fresh answers, %d effects", fresh, g.effects("x"))
		}
		if f.two && runs.Load() != 1 {
			t.Errorf("the handler ran %d times", runs.Load())
		}
	})
}

// cutter is a proxy that cuts its first connections, each at another place, and then lets all through.
type cutter struct {
	t      testing.TB
	target string
	ln     net.Listener
	plan   []cut
	count  atomic.Int64
	wg     sync.WaitGroup
}

// cut is where a connection is cut: after so many bytes of the request, or of the answer; -1: not there.
type cut struct{ request, response int64 }

func newCutter(t testing.TB, target string, plan []cut) *cutter {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{t: t, target: target, ln: ln, plan: plan}
	c.wg.Go(c.accept)
	t.Cleanup(func() {
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
		c.wg.Wait()
	})
	return c
}

func (c *cutter) accept() {
	for {
		conn, err := c.ln.Accept()
		if err != nil {
			return
		}
		c.wg.Go(func() { c.pass(conn) })
	}
}

func (c *cutter) pass(client net.Conn) {
	at := cut{-1, -1}
	if n := c.count.Add(1) - 1; n < int64(len(c.plan)) {
		at = c.plan[n]
	}
	server, err := net.Dial("tcp", c.target) //nolint:noctx // a test's proxy
	if err != nil {
		c.t.Error(err)
		return
	}
	end := sync.OnceFunc(func() {
		if err := errors.Join(client.Close(), server.Close()); err != nil {
			c.t.Error(err)
		}
	})
	// An error of io.Copy is the cut itself, or the end.
	copyUpTo := func(to io.Writer, from io.Reader, n int64) {
		if n < 0 {
			n = 1 << 40
		}
		_, err := io.CopyN(to, from, n)
		if err == nil || !errors.Is(err, io.EOF) {
			end()
		}
	}
	var both sync.WaitGroup
	both.Go(func() { copyUpTo(server, client, at.request) })
	both.Go(func() { copyUpTo(client, server, at.response); end() })
	both.Wait()
	end()
}

// testCutConnections: a client that sends a request until it has an answer, through a proxy that cuts before,
// in and after the request and the answer: one effect for each key.
func testCutConnections(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		var runs atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{}, steered(t, &g, &runs))
		for n, plan := range [][]cut{
			{{0, -1}, {1, -1}, {60, -1}, {-1, 0}}, // nothing, a part of the request, the whole of it and no answer
			{{-1, 0}, {-1, 1}, {-1, 100}},
			{{-1, 20}, {150, -1}, {-1, 1}, {0, -1}, {-1, 0}, {-1, 0}},
			{{-1, 0}, {-1, 0}, {-1, 0}},
		} {
			proxy := newCutter(t, g.srv.Listener.Addr().String(), plan)
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			body := fmt.Sprintf("payload %d", n)
			c := call{key: fmt.Sprintf("k%d", n), body: body}
			var got reply
			tries := 0
			eventually(t, "no answer", func() bool {
				tries++
				res, err := client.Do(c.request(t, t.Context(), "http://"+proxy.ln.Addr().String()))
				if err != nil {
					return false
				}
				got, err = readAll(res)
				return err == nil && got.status != http.StatusConflict
			})
			if got.status != 201 || tries <= len(plan) {
				t.Errorf("plan %d: %+v after %d tries", n, got, tries)
			}
			if e := g.effects(body); e != 1 {
				t.Errorf("plan %d: %d effects", n, e)
			}
			if direct := g.want(201, c); direct.body != got.body {
				t.Errorf("plan %d: %q, then %q", n, got.body, direct.body)
			}
		}
	})
}

// testClientGone: a client that leaves while the handler works finds the answer when it comes again.
func testClientGone(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		entered, leave := make(chan struct{}), make(chan struct{})
		var runs atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
			if runs.Add(1) == 1 {
				close(entered)
				<-leave
			}
			if err := r.Context().Err(); err != nil {
				t.Errorf("the handler's context ended with the client: %v", err)
			}
			if err := effect(r, g.db); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusCreated)
		})
		gone := make(chan struct{})
		inner := g.srv.Config.Handler
		first := true
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if first {
				first = false
				context.AfterFunc(r.Context(), func() { close(gone) })
			}
			inner.ServeHTTP(w, r)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			res, err := g.srv.Client().Do(call{key: "k", body: "x"}.request(t, ctx, g.srv.URL))
			if err == nil {
				err = res.Body.Close()
			}
			done <- err
		}()
		<-entered
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the client: %v", err)
		}
		<-gone
		close(leave)
		eventually(t, "the answer is not stored", func() bool { return g.status("k") == idempotency.Completed })
		if r := g.want(201, call{key: "k", body: "x"}); !r.replayed() || g.effects("x") != 1 || runs.Load() != 1 {
			t.Errorf("%+v, %d effects, %d runs", r, g.effects("x"), runs.Load())
		}
	})
}

// testWaiterGone: a client that leaves while it waits for the key has done nothing, and holds nothing.
func testWaiterGone(t *testing.T, db *sql.DB) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var runs atomic.Int64
	g := newRig(t, form{false, db}, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		if runs.Add(1) == 1 {
			close(entered)
			<-leave
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	release := sync.OnceFunc(func() { close(leave) })
	defer release()
	first := make(chan error, 1)
	go func() { _, err := g.try(call{key: "k"}); first <- err }()
	<-entered
	// As if it were another process: in one, the second would wait without a connection.
	mw, err := httpkey.New(db, g.keys, httpkey.Config{Tenant: httpkey.SingleTenant})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/orders/{id}", mw.OneCommit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runs.Add(1) })))
	g.serve(mux)
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		res, err := g.srv.Client().Do(call{key: "k"}.request(t, ctx, g.srv.URL))
		if err == nil {
			err = res.Body.Close()
		}
		second <- err
	}()
	dbtest.AwaitLock(t, g.db)
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "its connection is not free", func() bool { return g.db.Stats().InUse == 1 })
	release()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if runs.Load() != 1 {
		t.Errorf("the handler ran %d times", runs.Load())
	}
}

// testTimeout: the handler's context ends after Config.Timeout.
func testTimeout(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{Timeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if err := context.Cause(r.Context()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the cause is %v", err)
			}
			w.WriteHeader(http.StatusGatewayTimeout)
		})
		g.want(504, call{key: "k"})
		want := idempotency.Status("")
		if f.two {
			want = idempotency.Failed
		}
		if s := g.status("k"); s != want {
			t.Errorf("the key is %q", s)
		}
	})
}

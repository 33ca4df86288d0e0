package httpkey_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// wire sends a request and returns the answer's bytes as they came, without the two headers that differ by
// right.
func wire(t *testing.T, g *rig, key string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := fmt.Fprintf(conn, "POST /orders/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: %s\r\nContent-Length: 2\r\n\r\nab", key); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(all, []byte("\r\n\r\n"))
	var kept []string
	s := bufio.NewScanner(bytes.NewReader(head))
	for s.Scan() {
		if line := s.Text(); !strings.HasPrefix(line, "Date:") && !strings.HasPrefix(line, httpkey.HeaderReplayed) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n") + "\n\n" + string(body)
}

// testReplayIsIdentical: byte by byte on the wire, whatever the handler puts into an answer.
func testReplayIsIdentical(t *testing.T, db *sql.DB) {
	binary := make([]byte, 5000)
	for i := range binary {
		binary[i] = byte(i * 7)
	}
	answers := map[string]http.HandlerFunc{
		"nothing at all": func(http.ResponseWriter, *http.Request) {},
		"no content":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"no body":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/orders/2?x=é", http.StatusSeeOther)
		},
		"sniffed": func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{"<!DOC", "TYPE html>", "<p>"} {
				if _, err := io.WriteString(w, part); err != nil {
					t.Error(err)
				}
			}
		},
		"binary, encoded": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			if _, err := w.Write(binary); err != nil {
				t.Error(err)
			}
		},
		"type suppressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if _, err := w.Write([]byte("x")); err != nil {
				t.Error(err)
			}
		},
		"hostile values": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/x\r\nSet-Cookie: injected=1")
			w.Header().Set("Content-Type", "text/\xff\xfe\x80")
			w.Header().Add("Link", "<a>")
			w.Header().Add("Link", "")
			w.Header()["content-language"] = []string{" de "}
			w.Header().Set("Content-Length", "77")
			w.Header().Set("Trailer", "X-After")
			w.Header().Set(http.TrailerPrefix+"X-Late", "1")
			w.Header().Set("Transfer-Encoding", "identity")
			w.Header().Set(httpkey.HeaderReplayed, "true")
			w.WriteHeader(299)
			w.Header().Set("Location", "/too-late")
			w.WriteHeader(500)
			if _, err := w.Write([]byte("{\"a\":\xff}")); err != nil {
				t.Error(err)
			}
		},
		"1xx first": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
		},
	}
	eachForm(t, db, func(t *testing.T, f form) {
		var current http.HandlerFunc
		g := newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) { current(w, r) })
		n := 0
		for name, handler := range answers {
			current = handler
			n++
			key := fmt.Sprintf("k%d", n)
			first := wire(t, g, key)
			current = func(http.ResponseWriter, *http.Request) { t.Errorf("%s: the handler ran again", name) }
			if second := wire(t, g, key); second != first || strings.Contains(first, "HTTP/1.1 5") {
				t.Errorf("%s: first\n%q\nthen\n%q", name, first, second)
			}
			if strings.Contains(first, "\nSet-Cookie") || strings.Contains(first, "too-late") || strings.Contains(first, "X-Late") {
				t.Errorf("%s: %q", name, first)
			}
		}
	})
}

// testSecrets: what only the first client may have is not stored; what is outside of the middleware stays as
// it is.
func testSecrets(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{Headers: []string{"x-order", "x-withdrawn"}}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Set-Cookie", "session=secret")
			w.Header()["set-cookie"] = []string{"raw=secret"}
			w.Header().Set("X-Request", "of the first")
			w.Header().Set("X-Order", "7")
			w.Header().Del("X-Dropped")
			w.Header().Del("X-Withdrawn")
		})
		inner := g.srv.Config.Handler
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Outer", r.Header.Get("Test-Do"))
			w.Header().Set("X-Dropped", "1")
			w.Header().Set("X-Withdrawn", "1") // as Content-Encoding, which the handler may know better
			w.Header().Set("X-Order", "0")
			inner.ServeHTTP(w, r)
		}))
		first := g.want(200, call{key: "k", header: do("one")})
		if c := first.header.Values("Set-Cookie"); len(c) != 2 || first.header.Get("X-Outer") != "one" || first.header.Get("X-Dropped")+first.header.Get("X-Withdrawn") != "" {
			t.Errorf("first: %v", first.header)
		}
		second := g.want(200, call{key: "k", header: do("two")})
		if h := second.header; len(h.Values("Set-Cookie")) != 0 || h.Get("X-Request") != "" || h.Get("X-Outer") != "two" || len(h.Values("X-Order")) != 1 || h.Get("X-Order") != "7" ||
			len(h.Values("X-Withdrawn")) != 0 {
			t.Errorf("second: %v", second.header)
		}
		if n := dbtest.Scan[int](t, g.db, "SELECT COUNT(*) FROM onerow_key WHERE LOCATE('cookie', LOWER(CONVERT(result USING latin1))) > 0"); n != 0 {
			t.Error("a cookie is stored")
		}
	})
}

// testMisuse: what cannot be stored is an error for the handler, and not taken for an answer.
func testMisuse(t *testing.T, db *sql.DB) {
	misuses := map[string]http.HandlerFunc{
		"large": func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write(make([]byte, 600)); err != nil {
				t.Error(err)
			}
			if _, err := w.Write(make([]byte, 600)); !errors.Is(err, httpkey.ErrResponseTooLarge) {
				t.Errorf("Write: %v", err)
			}
		},
		"large-headers": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", strings.Repeat("x", 1001)) },
		"switching":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusSwitchingProtocols) },
		"zero":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) },
		"four-digits":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(1000) },
	}
	eachForm(t, db, func(t *testing.T, f form) {
		var g *rig
		g = newRig(t, f, httpkey.Config{MaxResponse: 1000}, func(w http.ResponseWriter, r *http.Request) {
			if err := effect(r, g.db); err != nil {
				t.Error(err)
			}
			misuses[r.Header.Get(httpkey.HeaderKey)](w, r)
		})
		for name := range misuses {
			if p := g.want(500, call{key: name, body: name}).problem(t); p.Type != httpkey.ProblemUnstorable {
				t.Errorf("%s: %+v", name, p)
			}
			want, effects := idempotency.Status(""), 0
			if f.two {
				want, effects = idempotency.Failed, 1
			}
			if s, n := g.status(name), g.effects(name); s != want || n != effects {
				t.Errorf("%s: the key is %q, %d effects", name, s, n)
			}
		}
	})
}

// testNoStreaming: Flush and Hijack say why not, and the answer is whole all the same.
func testNoStreaming(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		late := make(chan error, 1)
		leave := make(chan struct{})
		g := newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			if _, err := io.WriteString(w, "part 1, "); err != nil {
				t.Error(err)
			}
			c := http.NewResponseController(w)
			if err := c.Flush(); !errors.Is(err, httpkey.ErrBuffered) || !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("Flush: %v", err)
			}
			if _, flushes := w.(http.Flusher); flushes {
				t.Error("a type assertion says that it can flush")
			}
			if _, _, err := c.Hijack(); !errors.Is(err, httpkey.ErrBuffered) {
				t.Errorf("Hijack: %v", err)
			}
			if err := errors.Join(c.SetWriteDeadline(time.Now().Add(time.Minute)), c.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
				t.Error(err)
			}
			go func() {
				<-leave
				w.WriteHeader(http.StatusTeapot)
				_, err := io.WriteString(w, "late")
				late <- err
			}()
			if _, err := io.WriteString(w, "part 2"); err != nil {
				t.Error(err)
			}
		})
		r := g.want(200, call{key: "k"})
		close(leave)
		if err := <-late; !errors.Is(err, httpkey.ErrFinished) {
			t.Errorf("a write after the end: %v", err)
		}
		if again := g.want(200, call{key: "k"}); again.body != r.body || r.body != "part 1, part 2" {
			t.Errorf("%q, then %q", r.body, again.body)
		}
	})
}

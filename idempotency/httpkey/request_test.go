package httpkey_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/idempotency/httpkey"
)

// testMounted: what a prefix was stripped from is another request when its prefix is another, and so is what
// was sent to another host.
func testMounted(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, nil)
		mw, err := httpkey.New(g.db, g.keys, httpkey.Config{Tenant: httpkey.SingleTenant})
		if err != nil {
			t.Fatal(err)
		}
		charges, root := http.NewServeMux(), http.NewServeMux()
		charges.Handle("POST /charges", f.wrap(mw)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })))
		root.HandleFunc("/shop/{shop}/", func(w http.ResponseWriter, r *http.Request) {
			http.StripPrefix("/shop/"+r.PathValue("shop"), charges).ServeHTTP(w, r)
		})
		g.serve(root)
		first := call{key: "k", path: "/shop/7/charges", body: "x", host: "a.example"}
		g.want(201, first)
		for _, same := range []call{{host: "a.example"}, {host: "A.Example:8080"}, {host: "a.example."}} {
			first.host = same.host
			if r := g.want(201, first); !r.replayed() {
				t.Errorf("%s: not replayed", same.host)
			}
		}
		for _, another := range []call{{path: "/shop/8/charges", host: "a.example"}, {path: first.path, host: "b.example"}, {path: first.path + "?x", host: "a.example"}} {
			another.key, another.body = "k", "x"
			if p := g.want(422, another).problem(t); p.Type != httpkey.ProblemMismatch {
				t.Errorf("%+v: %+v", another, p)
			}
		}
		// An address is that of a machine: the next try may go to another one.
		g.want(201, call{key: "address", path: first.path, host: "10.0.0.7:8080"})
		if r := g.want(201, call{key: "address", path: first.path, host: "[fd00::7]:8081"}); !r.replayed() {
			t.Error("another machine of the service does not know the key")
		}
	})
}

// testRedirects: who is told to send a request elsewhere, or that there is nothing, may do so with its key.
func testRedirects(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		for name, cfg := range map[string]httpkey.Config{"by pattern": {}, "by Route": {Route: func(*http.Request) string { return "all" }}} {
			g := newRig(t, f, cfg, nil)
			cfg.Tenant = httpkey.SingleTenant
			mw, err := httpkey.New(g.db, g.keys, cfg)
			if err != nil {
				t.Fatal(err)
			}
			created := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }
			inner := http.NewServeMux()
			inner.HandleFunc("POST /orders/", created)
			inner.Handle("POST /old/{id}", http.RedirectHandler("/orders/", http.StatusPermanentRedirect))
			inner.HandleFunc("POST /moved/{id}", func(w http.ResponseWriter, r *http.Request) {
				if r.PathValue("id") == "1" {
					http.Redirect(w, r, "/moved/2", http.StatusTemporaryRedirect)
					return
				}
				w.WriteHeader(http.StatusCreated)
			})
			hidden := http.HandlerFunc(inner.ServeHTTP) // of which it cannot be asked what it will do
			for _, path := range []string{"/orders", "//orders/", "/old/1", "/moved/1"} {
				for i, h := range []http.Handler{inner, hidden} {
					g.serve(f.wrap(mw)(h))
					if r := g.want(201, call{key: fmt.Sprint(i, path), path: path, body: "x"}); r.replayed() { // the client follows
						t.Errorf("%s, %s: replayed", name, path)
					}
				}
			}
			g.serve(f.wrap(mw)(inner))
			g.want(404, call{key: "nowhere", path: "/nowhere"})
			g.want(405, call{key: "nowhere", path: "/orders/", method: "PUT"})
			g.want(201, call{key: "nowhere", path: "/orders/"})
		}
	})
}

// newForm is a multipart form with a boundary, of names and values; a name of "file" is a file.
func newForm(t *testing.T, boundary string, fields ...[2]string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	err := w.SetBoundary(boundary)
	for _, f := range fields {
		head := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, f[0])}}
		if f[0] == "file" {
			head = textproto.MIMEHeader{"Content-Type": {"image/png"}, "Content-Disposition": {`form-data; name="file"; filename="a.png"`}}
		}
		part, perr := w.CreatePart(head)
		if perr != nil {
			t.Fatal(perr)
		}
		_, werr := io.WriteString(part, f[1])
		err = errors.Join(err, werr)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// testFormsAnew: a form that a client builds anew is the same payload; one of other parts is not.
func testFormsAnew(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
		send := func(status int, contentType, body string) reply {
			return g.want(status, call{key: "k", body: body, header: http.Header{"Content-Type": {contentType}}})
		}
		fields := [][2]string{{"a", "1"}, {"list", "x"}, {"list", "y"}, {"file", "\x00\r\nbytes"}}
		ctype, body := newForm(t, "first", fields...)
		send(201, ctype, body)
		ctype, anew := newForm(t, "second", fields...)
		if r := send(201, ctype, anew); !r.replayed() {
			t.Error("another boundary is another payload")
		}
		ctype, turned := newForm(t, "third", fields[3], fields[1], fields[2], fields[0])
		if r := send(201, ctype, turned); !r.replayed() {
			t.Error("fields of other names in another order are another payload")
		}
		for name, other := range map[string][][2]string{
			"a list in another order":    {fields[0], fields[2], fields[1], fields[3]},
			"a part less":                fields[:3],
			"a part more":                append([][2]string{{"b", ""}}, fields...),
			"another value":              {{"a", "2"}, fields[1], fields[2], fields[3]},
			"another name":               {{"A", "1"}, fields[1], fields[2], fields[3]},
			"one part's end in the next": {{"a", "1list"}, {"list", ""}, fields[2], fields[3]},
		} {
			ctype, body := newForm(t, "fourth", other...)
			if p := send(422, ctype, body).problem(t); p.Type != httpkey.ProblemMismatch {
				t.Errorf("%s: %+v", name, p)
			}
		}
		ctype, _ = newForm(t, "first", fields...)
		send(422, ctype, body[:len(body)-8]) // it broke off: its bytes count
		send(422, "text/plain", body)
		send(422, strings.Replace(ctype, "form-data", "mixed", 1), body)
	})
}

// testOwnFingerprint: what a request stands for is the service's to say.
func testOwnFingerprint(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		var runs atomic.Int64
		g := newRig(t, f, httpkey.Config{Fingerprint: func(r *http.Request, body []byte) ([]byte, error) {
			order, _, found := strings.Cut(string(body), " at ")
			if !found {
				return nil, errors.New("secret reason")
			}
			return []byte(r.URL.Path + " " + order), nil
		}}, func(w http.ResponseWriter, r *http.Request) {
			runs.Add(1)
			if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), " at ") {
				t.Errorf("the handler's body is %q, %v", body, err)
			}
			w.WriteHeader(http.StatusCreated)
		})
		g.want(201, call{key: "k", body: "2 books at 10:00", host: "a.example"})
		if r := g.want(201, call{key: "k", body: "2 books at 10:05", host: "b.example"}); !r.replayed() {
			t.Error("what the service leaves out counts")
		}
		g.want(422, call{key: "k", body: "3 books at 10:00"})
		g.want(422, call{key: "k", body: "2 books at 10:00", path: "/orders/2"})
		r := g.want(400, call{key: "k", body: "2 books"})
		if p := r.problem(t); p.Type != httpkey.ProblemRequestUnreadable || strings.Contains(r.body, "secret") || runs.Load() != 1 {
			t.Errorf("%+v, %d runs", p, runs.Load())
		}
	})
}

// oldFingerprint is what the first version stored, which knew neither the host nor what was stripped.
func oldFingerprint(method, path, query, body string) []byte {
	h := sha256.New()
	for _, part := range []string{"httpkey/1", method, path, query, body} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// testOldFingerprints: a key that was stored by the version before is answered, and refused, as it was there,
// whatever the fingerprints are now.
func testOldFingerprints(t *testing.T, db *sql.DB) {
	eachForm(t, db, func(t *testing.T, f form) {
		ctype, body := newForm(t, "one", [2]string{"a", "1"})
		for name, c := range map[string]struct {
			cfg  httpkey.Config
			call call
		}{
			"text": {call: call{body: "x", path: "/orders/1?q=%31"}},
			"form": {call: call{body: body, header: http.Header{"Content-Type": {ctype}}}},
			"own":  {cfg: httpkey.Config{Fingerprint: func(*http.Request, []byte) ([]byte, error) { return nil, nil }}, call: call{body: "x"}},
		} {
			var runs atomic.Int64
			created := func(w http.ResponseWriter, _ *http.Request) { runs.Add(1); w.WriteHeader(http.StatusCreated) }
			g, elsewhere := newRig(t, f, c.cfg, created), newRig(t, f, c.cfg, created)
			c.call.key, c.call.host = name, "shop.example"
			g.want(201, c.call)
			path, query, _ := strings.Cut(c.call.path, "?")
			if path == "" {
				path = "/orders/1"
			}
			if _, err := db.ExecContext(t.Context(), "UPDATE onerow_key SET fingerprint = ?", oldFingerprint("POST", path, query, c.call.body)); err != nil {
				t.Fatal(err)
			}
			for _, g := range []*rig{g, elsewhere} {
				if r := g.want(201, c.call); !r.replayed() || runs.Load() != 1 {
					t.Errorf("%s: replayed %t, %d runs", name, r.replayed(), runs.Load())
				}
			}
			other := c.call
			other.body = "y"
			g.want(422, other)
		}
		g := newRig(t, f, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
		g.want(429, call{key: "k", body: "x"})
		if _, err := db.ExecContext(t.Context(), "UPDATE onerow_key SET fingerprint = ?", oldFingerprint("POST", "/orders/1", "", "x")); err != nil {
			t.Fatal(err)
		}
		g.want(429, call{key: "k", body: "x"})
		if f.two { // it was claimed anew, and is for this request from now on
			g.want(422, call{key: "k", body: "x", host: "other.example"})
		}
	})
}

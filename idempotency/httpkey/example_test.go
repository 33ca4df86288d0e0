package httpkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// An order is inserted in the transaction that stores the answer; a payment is made outside of it.
func Example() {
	t := &exampleT{}
	defer t.end()
	db, _ := open(t) // sql.Open("mysql", "user:password@tcp(host:3306)/app")

	keys, err := idempotency.New(idempotency.Config{Keep: 30 * 24 * time.Hour})
	check(err)
	mw, err := httpkey.New(db, keys, httpkey.Config{
		Tenant: func(r *http.Request) (string, error) { return "user 7", nil }, // of the session
	})
	check(err)

	orders := 0
	createOrder := func(w http.ResponseWriter, r *http.Request) {
		tx, err := httpkey.Tx(r.Context())
		if err != nil {
			http.Error(w, "try again", http.StatusInternalServerError) // rolled back, nothing is stored
			return
		}
		if _, err := tx.ExecContext(r.Context(), "INSERT INTO effect (name) VALUES ('order')"); err != nil {
			http.Error(w, "try again", http.StatusInternalServerError)
			return
		}
		orders++
		w.WriteHeader(http.StatusCreated)
		if _, err := fmt.Fprintf(w, "order %d", orders); err != nil {
			log.Print(err)
		}
	}
	connected := false
	pay := func(w http.ResponseWriter, r *http.Request) {
		if !connected { // the payment service was not even asked
			httpkey.NotDone(r.Context())
			http.Error(w, "no connection", http.StatusBadGateway)
			return
		}
		if _, err := io.WriteString(w, "paid"); err != nil {
			log.Print(err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("POST /orders", mw.OneCommit(http.HandlerFunc(createOrder)))
	mux.Handle("POST /payments", mw.TwoStep(http.HandlerFunc(pay)))
	server := httptest.NewServer(mux)
	defer server.Close()

	post := func(path, key, body string) {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+path, strings.NewReader(body))
		check(err)
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		res, err := server.Client().Do(r)
		check(err)
		a, err := readAll(res)
		check(err)
		if strings.HasSuffix(a.header.Get("Content-Type"), "json") {
			a.body = ""
		}
		fmt.Printf("%s %s: %d %s replayed=%v\n", path, body, a.status, strings.TrimSpace(a.body), a.replayed())
	}
	post("/orders", `"c0ffee"`, "shoe")
	post("/orders", `c0ffee`, "shoe")
	post("/orders", `c0ffee`, "sock")
	post("/orders", ``, "shoe")
	post("/payments", `c0ffee`, "12.50")
	connected = true
	post("/payments", `c0ffee`, "12.50")
	post("/payments", `c0ffee`, "12.50")
	// Output:
	// /orders shoe: 201 order 1 replayed=false
	// /orders shoe: 201 order 1 replayed=true
	// /orders sock: 422  replayed=false
	// /orders shoe: 400  replayed=false
	// /payments 12.50: 502 no connection replayed=false
	// /payments 12.50: 200 paid replayed=false
	// /payments 12.50: 200 paid replayed=true
}

// A service without tenants does not keep that something was not found: it may be there when the same request
// comes again.
func ExampleConfig() {
	cfg := httpkey.Config{
		Tenant: httpkey.SingleTenant,
		Stored: func(status int) bool { return status != http.StatusNotFound && httpkey.StoredOneCommit(status) },
	}
	for _, status := range []int{201, 404, 422, 503} {
		fmt.Println(status, cfg.Stored(status), "by default", httpkey.StoredOneCommit(status),
			httpkey.StoredTwoStep(status), "refused", httpkey.Refused(status))
	}
	// Output:
	// 201 true by default true true refused false
	// 404 false by default true true refused false
	// 422 false by default false false refused true
	// 503 false by default false true refused false
}

// The key of a request outside of the middleware.
func ExampleParseKey() {
	for _, header := range []http.Header{
		{httpkey.HeaderKey: {`"c0ffee"`}}, {httpkey.HeaderKey: {"c0ffee"}}, {httpkey.HeaderKey: {"c0 ffee"}}, {},
	} {
		key, err := httpkey.ParseKey(header)
		fmt.Printf("%q %v %v\n", key, errors.Is(err, httpkey.ErrKeyMalformed), errors.Is(err, httpkey.ErrKeyMissing))
	}
	// Output:
	// "c0ffee" false false
	// "c0ffee" false false
	// "" true false
	// "" false true
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// exampleT lets open make a schema for an example, which has no testing.T.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (e *exampleT) Helper()                           {}
func (e *exampleT) Context() context.Context          { return context.Background() }
func (e *exampleT) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (e *exampleT) Fatal(args ...any)                 { log.Fatal(args...) }
func (e *exampleT) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func (e *exampleT) end() {
	for i := range e.cleanups {
		e.cleanups[len(e.cleanups)-1-i]()
	}
}

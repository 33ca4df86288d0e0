package httpkey_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// testHerd: 50 requests wait for one key on a pool of 10, in OneCommit for the handler, in TwoStep for a
// transaction that holds the key's row. Other requests go through meanwhile, and all 50 get the one answer.
func testHerd(t *testing.T, db *sql.DB) {
	db.SetMaxOpenConns(10)
	t.Cleanup(func() { db.SetMaxOpenConns(12) })
	eachForm(t, db, func(t *testing.T, f form) {
		entered, leave := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(leave) })
		defer release()
		var runs, arrived atomic.Int64
		var g *rig
		g = newRig(t, f, httpkey.Config{Wait: time.Minute}, func(w http.ResponseWriter, r *http.Request) {
			if err := effect(r, g.db); err != nil {
				t.Error(err)
			}
			if r.Header.Get(httpkey.HeaderKey) == "herd" && !f.two && runs.Add(1) == 1 {
				close(entered)
				<-leave
			}
			w.WriteHeader(http.StatusCreated)
		})
		inner := g.srv.Config.Handler
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(httpkey.HeaderKey) == "herd" {
				arrived.Add(1)
			}
			inner.ServeHTTP(w, r)
		}))
		herd := call{key: "herd", body: "herd"}
		var all sync.WaitGroup
		start := func() {
			all.Go(func() {
				if r, err := g.try(herd); err != nil || r.status != 201 {
					t.Errorf("%d %q, %v", r.status, r.body, err)
				}
			})
		}
		if f.two {
			g.want(201, herd)
			holdRow(t, g.db, &all, leave)
		} else {
			start()
			<-entered
		}
		before := arrived.Load()
		for range 50 {
			start()
		}
		eventually(t, "they do not wait", func() bool { return arrived.Load() == before+50 })
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		for n := range 20 {
			res, err := g.srv.Client().Do(call{key: fmt.Sprint("other", n), body: "other"}.request(t, ctx, g.srv.URL))
			if err != nil {
				t.Errorf("another request does not go through: %v; %+v", err, g.db.Stats())
				break
			}
			if r, err := readAll(res); err != nil || r.status != 201 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		cancel()
		if n := g.db.Stats().InUse; n > 2 {
			t.Errorf("the waiters of one key hold %d connections", n)
		}
		release()
		all.Wait()
		if n := g.effects("herd"); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
}

// holdRow locks the key's row until leave.
func holdRow(t *testing.T, db *sql.DB, all *sync.WaitGroup, leave <-chan struct{}) {
	t.Helper()
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.ExecContext(t.Context(), "UPDATE onerow_key SET version = version + 1 WHERE idem_key = 'herd'")
	all.Go(func() {
		<-leave
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// sqlRefuse makes the server answer each claim with 1205 while the table has a row. The one session counts.
const sqlRefuse = `CREATE TRIGGER refused BEFORE INSERT ON onerow_key FOR EACH ROW BEGIN
  SET @refused = COALESCE(@refused, 0) + 1;
  IF EXISTS (SELECT 1 FROM refusal) THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'Lock wait timeout exceeded'; END IF;
END`

// testWaits: a request waits for Config.Wait, however often the server ends the wait for the lock before
// that, and not longer.
func testWaits(t *testing.T, db *sql.DB) {
	exec := func(query string) {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
			t.Error(err)
		}
	}
	db.SetMaxOpenConns(1)
	exec("CREATE TABLE refusal (n INT NOT NULL) ENGINE=InnoDB")
	exec(sqlRefuse)
	t.Cleanup(func() {
		exec("DROP TRIGGER refused")
		exec("DROP TABLE refusal")
		db.SetMaxOpenConns(12)
	})
	eachForm(t, db, func(t *testing.T, f form) {
		g := newRig(t, f, httpkey.Config{Wait: time.Minute, Timeout: time.Minute}, func(w http.ResponseWriter, r *http.Request) {
			if deadline, has := r.Context().Deadline(); !has || time.Until(deadline) > time.Minute {
				t.Errorf("the handler's deadline: %s, %t", deadline, has)
			}
			w.WriteHeader(http.StatusCreated)
		})
		exec("INSERT INTO refusal (n) VALUES (1)")
		tries := func() int { return dbtest.Scan[int](t, g.db, "SELECT COALESCE(@refused, 0)") }
		before := tries()
		done := make(chan reply, 1)
		go func() {
			r, err := g.try(call{key: "k", body: "x"})
			done <- r
			if err != nil {
				t.Error(err)
			}
		}()
		for tries() < before+25 && len(done) == 0 { // each look takes the one connection, in turn with the request
		}
		exec("DELETE FROM refusal")
		if r := <-done; r.status != 201 {
			t.Errorf("after %d tries: %+v\n%s", tries()-before, r, g.log)
		}
	})
	exec("INSERT INTO refusal (n) VALUES (1)")
	g := newRig(t, form{false, db}, httpkey.Config{Wait: 300 * time.Millisecond}, func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") })
	// The end of Wait meets the claim, or the BEGIN of the next try.
	r := g.send(call{key: "short"})
	if p := r.problem(t); p.Type != httpkey.ProblemInFlight && p.Type != httpkey.ProblemStore || r.header.Get("Retry-After") == "" {
		t.Errorf("%+v", p)
	}
}

package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
)

const yielding = "load: others use the server, batches get 25% of the time"

// alone starts a server that nobody else uses.
func alone(t *testing.T) *devdb.Server {
	t.Helper()
	server, err := devdb.Start(t.Context(), devdb.Options{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	plant(t, dbtest.OpenDSN(t, server.DSN("app")))
	return server
}

// busy is a governor whose worker sends statements all the time, until the test ends.
func busy(t *testing.T, db *sql.DB, name string, load float64) (*governor.Governor, *heard) {
	t.Helper()
	h := &heard{}
	g := governor.New(db, name, time.Minute, nil, load)
	g.Throttled = h.note
	ctx, stop := context.WithCancel(g.Count(t.Context()))
	ended := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			begin := time.Now()
			if _, err := db.ExecContext(ctx, "DO SLEEP(0.001)"); err == nil {
				_ = g.Wait(ctx, 1, time.Since(begin), nil) //nolint:errcheck // the context's
			} else if ctx.Err() == nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return g, h
}

func (h *heard) last() string {
	if all := h.all(); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// TestYields: a worker gives way to others within a second, has all of the time again a second after them, and
// takes neither itself nor other workers for others.
func TestYields(t *testing.T) {
	t.Parallel()
	server := alone(t)
	open := func() *sql.DB {
		db, err := pool.Open(server.DSN("app"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	wait := func(d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		<-timer.C
	}
	first, heardFirst := busy(t, open(), "a", 0)
	wait(2500 * time.Millisecond)
	if reasons := heardFirst.all(); len(reasons) > 0 {
		t.Errorf("a worker alone: %q", reasons)
	}
	_, heardSecond := busy(t, open(), "b", 0)
	namesakes := open()
	_, heardThird := busy(t, namesakes, "c", 0)
	_, heardFourth := busy(t, namesakes, "c", 0)
	_, heardGiven := busy(t, open(), "d", 1)
	all := []*heard{heardFirst, heardSecond, heardThird, heardFourth}

	says := func(want string) {
		t.Helper()
		begin := time.Now()
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			for i, h := range all {
				if h.last() != want {
					return false, fmt.Sprintf("worker %d says %q, not %q", i, h.last(), want)
				}
			}
			return true, ""
		})
		t.Logf("all say %q after %s", want, time.Since(begin))
	}
	wait(8 * time.Second) // each has seen two signs of life of all others
	says("")

	var users atomic.Bool
	users.Store(true)
	db := open()
	ended := make(chan error, 1)
	go func() {
		for users.Load() {
			if _, err := db.ExecContext(t.Context(), "DO SLEEP(0.0001)"); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	says(yielding)
	if target, most := first.Target(); target != 0 || most != 3*time.Millisecond {
		t.Errorf("batches of %s, %s at most", target, most)
	}
	users.Store(false)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	says("")
	if reasons := heardGiven.all(); len(reasons) > 0 {
		t.Errorf("with a share that was given: %q", reasons)
	}
}

// TestYieldsUncounted: on a pool that does not count, a worker would take itself for others. It asks once.
func TestYieldsUncounted(t *testing.T) {
	t.Parallel()
	config, err := mysql.NewConnector(alone(t).Config("app"))
	if err != nil {
		t.Fatal(err)
	}
	connector := crashtest.Wrap(config)
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &heard{}
	g := governor.New(db, "plain", time.Minute, nil, 0)
	g.Throttled = h.note
	ctx := g.Count(t.Context())
	log, err := crashtest.Count(connector, func() error {
		for begin := time.Now(); time.Since(begin) < 3*time.Second; {
			if _, err := db.ExecContext(ctx, "DO SLEEP(0.01)"); err != nil {
				return err
			}
			if err := g.Wait(ctx, 1, time.Millisecond, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if asked := strings.Count(log.String(), "Questions"); err != nil || asked != 1 || len(h.all()) > 0 {
		t.Errorf("asked %d times, %q, %v", asked, h.all(), err)
	}
}

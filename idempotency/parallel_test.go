package idempotency_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const callers = 128

// TestOneKey: 128 callers with one key enter the function once, commit once, and all
// get the same result; the same with the first caller cut at each of its statements,
// before the server has it and after it was executed.
func TestOneKey(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, dsn := open(t, dbtest.Isolation(level))
			db.SetMaxOpenConns(callers)
			t.Run("no cut", func(t *testing.T) {
				if entered := oneKey(t, db, db, "none", nil); entered != 1 {
					t.Errorf("the function was entered %d times", entered)
				}
			})
			for n := 1; n <= 5; n++ { // BEGIN, key, charge, result, COMMIT
				for _, after := range []bool{false, true} {
					t.Run(fmt.Sprintf("cut at %d, executed %v", n, after), func(t *testing.T) {
						c, through := newCutter(t, dsn)
						first := quiet(t, through)
						first.SetMaxOpenConns(1)
						if err := first.PingContext(t.Context()); err != nil {
							t.Fatal(err)
						}
						c.arm(n, after)
						oneKey(t, first, db, fmt.Sprint(n, after), c.cut)
						select {
						case <-c.cut:
						default:
							t.Error("nothing was cut")
						}
					})
				}
			}
		})
	}
}

// oneKey lets a first caller in, then 127 more, and returns how often the function was entered.
func oneKey(t *testing.T, first, db *sql.DB, id string, cut <-chan struct{}) int {
	t.Helper()
	dbtest.Exec(t, db, "DELETE FROM charge")
	keys := newKeys(t, idempotency.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	var entered, begun atomic.Int64
	inside, rest := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fn := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		if entered.Add(1) == 1 {
			close(inside)
			select { // the others are there, and it is not the last to come
			case <-rest:
			case <-ctx.Done():
			}
		}
		return charge(5)(ctx, tx)
	}
	var mu sync.Mutex
	results := map[receipt]int{}
	fresh := 0
	call := func(db *sql.DB) {
		out, err := idempotency.Do(ctx, db, keys, key(id), fn)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("a caller: %v", err)
		}
		results[out.Row]++
		if out.Changed {
			fresh++
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { call(first) })
	select {
	case <-inside:
	case <-cut:
	case <-ctx.Done():
		t.Fatal("the first caller did not come in")
	}
	for range callers - 1 {
		wg.Go(func() {
			if begun.Add(1) == callers-1 {
				once.Do(func() { close(rest) })
			}
			call(db)
		})
	}
	wg.Wait()
	if n := charges(t, db); n != 1 || len(results) != 1 || fresh != 1 {
		t.Errorf("%d charges, %d fresh, results %v", n, fresh, results)
	}
	return int(entered.Load())
}

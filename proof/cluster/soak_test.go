//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// EnvSoak is the name of the environment variable that makes TestSoak longer than 40 s, as in 10m.
const EnvSoak = "ONEROW_CLUSTER_SOAK"

// soak is callers whose work is one commit: a key with its result, an effect, a serial number.
type soak struct {
	*site
	keys                   *idempotency.Keys
	series                 *serial.Series
	mu                     sync.Mutex
	told                   map[string]int64 // the number that a key was answered with
	calls, failed, unknown atomic.Int64
}

// Callers on all nodes while one is killed and joins again, twice: nothing that was acknowledged is lost, nothing is
// half there, and the nodes end alike.
func TestSoak(t *testing.T) {
	length := 40 * time.Second
	if text := os.Getenv(EnvSoak); text != "" {
		length = must[time.Duration](t)(time.ParseDuration(text))
	}
	k := &soak{site: newSite(t, effects), told: map[string]int64{},
		keys:   must[*idempotency.Keys](t)(idempotency.New(idempotency.Config{})),
		series: must[*serial.Series](t)(serial.New("soak"))}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	const callers = 6
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() { k.call(ctx, caller) })
	}
	last := nodes.Nodes() - 1
	for range 2 {
		time.Sleep(length / 8)
		if err := nodes.Kill(last); err != nil {
			t.Fatal(err)
		}
		time.Sleep(length / 8)
		rejoin(t, last)
	}
	all.Wait()
	t.Logf("%d calls, %d failed, %d with an unknown outcome", k.calls.Load(), k.failed.Load(), k.unknown.Load())
	k.check()
	k.same()
}

// call calls until ctx ends; a call that failed is repeated on another node.
func (k *soak) call(ctx context.Context, caller int) {
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprintf("%d of %d", i, caller)
		for try := 0; ctx.Err() == nil; try++ {
			number, err := k.once(ctx, k.db[(caller+try)%len(k.db)], key)
			k.calls.Add(1)
			if err == nil {
				k.mu.Lock()
				k.told[key] = number
				k.mu.Unlock()
				break
			}
			k.failed.Add(1)
			if errors.Is(err, onerow.ErrOutcomeUnknown) {
				k.unknown.Add(1)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (k *soak) once(ctx context.Context, db *sql.DB, key string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	out, err := idempotency.Do(ctx, db, k.keys, idempotency.Key{Operation: "soak", ID: key}, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
		if _, err := tx.ExecContext(ctx, sqlEffect, key, 1); err != nil {
			return 0, err
		}
		claim, err := k.series.Claim(ctx, tx, key, 1)
		return claim.Row.From, err
	})
	return out.Row, err
}

// check looks for what was acknowledged, and for halves.
func (k *soak) check() {
	k.Helper()
	if len(k.told) < 50 {
		k.Errorf("only %d calls came to an end", len(k.told))
	}
	for key, number := range k.told {
		claim, err := k.series.Find(k.Context(), k.db[0], key)
		n := dbtest.Scan[int](k, k.db[0], "SELECT COUNT(*) FROM effect WHERE what = ?", key)
		if err != nil || claim.From != number || n != 1 {
			k.Errorf("key %s was answered with %d, has %d effects and the number %d, %v", key, number, n, claim.From, err)
		}
	}
	done := dbtest.Scan[int](k, k.db[0], "SELECT COUNT(*) FROM onerow_key")
	effects := dbtest.Scan[int](k, k.db[0], "SELECT COUNT(*) FROM effect")
	claims := dbtest.Scan[int](k, k.db[0], "SELECT COUNT(*) FROM onerow_serial_claim")
	if done != effects || done != claims {
		k.Errorf("%d keys, %d effects, %d claims", done, effects, claims)
	}
	if found := must[[]gaps.Finding](k)(gaps.Find(k.Context(), k.db[0], k.series)); len(found) > 0 {
		k.Errorf("not gapless: %v", found)
	}
}

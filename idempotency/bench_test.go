package idempotency_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// BenchmarkDo: a transaction with one business INSERT is the floor; the others do it once for a key.
func BenchmarkDo(b *testing.B) {
	db, _ := open(b)
	keys, ctx := newKeys(b, idempotency.Config{Keep: time.Hour}), b.Context()
	var n atomic.Int64
	fresh := func() idempotency.Key { return key(fmt.Sprint("k", n.Add(1))) }
	do := func(k idempotency.Key, opts ...idempotency.Option) error {
		_, err := idempotency.Do(ctx, db, keys, k, charge(1), opts...)
		return err
	}
	must(idempotency.Do(ctx, db, keys, key("there"), charge(1)))
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"floor", func() error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { _, err := charge(1)(ctx, tx); return err })
		}},
		{"Do", func() error { return do(fresh()) }},
		{"Do, KeyLast", func() error { return do(fresh(), idempotency.KeyLast()) }},
		{"two steps", func() error {
			claim, _, err := idempotency.Begin[receipt](ctx, db, keys, fresh())
			if err != nil {
				return err
			}
			if err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { _, err := charge(1)(ctx, tx); return err }); err != nil {
				return err
			}
			return keys.Complete(ctx, db, claim, receipt{Amount: 1})
		}},
		{"replay", func() error { return do(key("there")) }},
		{"replay, LookFirst", func() error { return do(key("there"), idempotency.LookFirst()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTableSize: what begin, complete and replay cost beside so many keys, while
// the purge runs. The sizes come from ONEROW_KEYS; by hand, 2 million:
//
//	ONEROW_KEYS=2000,2000000 go test -run '^$' -bench TableSize -timeout 60m ./idempotency
//
// The server needs a buffer pool that holds the table (about 1 GB for 2 million): with the default of 128 MB
// this measures the disk. It measures both tables in turns, and reports the ratio of the larger one to the
// smaller.
func BenchmarkTableSize(b *testing.B) {
	sizes := [2]int{2000, 20000}
	if s := os.Getenv("ONEROW_KEYS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d,%d", &sizes[0], &sizes[1]); err != nil {
			b.Fatalf("ONEROW_KEYS=%s: %v", s, err)
		}
	}
	var tables [2]*sized
	for i, n := range sizes {
		tables[i] = newSized(b, n)
	}
	const rounds, perRound = 15, 100
	times := map[string]*[2][]time.Duration{}
	for b.Loop() {
		for range rounds {
			for i, s := range tables {
				for verb, d := range s.round(b, perRound) {
					if times[verb] == nil {
						times[verb] = &[2][]time.Duration{}
					}
					times[verb][i] = append(times[verb][i], d...)
				}
			}
		}
	}
	for verb, t := range times {
		small, large := median(t[0]), median(t[1])
		b.ReportMetric(float64(large)/float64(small), verb+"-ratio")
		b.Logf("%-8s %8d keys %s, %8d keys %s, ratio %.2f", verb, sizes[0], small, sizes[1], large, float64(large)/float64(small))
	}
	for _, s := range tables {
		b.Logf("purged beside it: %d", s.stop())
	}
}

// sized is a table with keys, half of them expired, and a purge that runs.
type sized struct {
	db     *sql.DB
	keys   *idempotency.Keys
	n      int
	next   int
	cancel context.CancelFunc
	done   sync.WaitGroup
	purged int
}

const sqlFill = `INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, completed_at, expires_at, codec, result) VALUES `

func newSized(b *testing.B, n int) *sized {
	b.Helper()
	db, _ := open(b)
	// In the order of the primary key, so that 2 million take a minute: hashes, every second one
	// of which expires within the next minutes.
	type filler struct {
		hash string
		i    int
	}
	list := make([]filler, n)
	for i := range list {
		list[i] = filler{fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, i))), i}
	}
	slices.SortFunc(list, func(a, b filler) int { return strings.Compare(a.hash, b.hash) })
	for part := range slices.Chunk(list, 1000) {
		var rows strings.Builder
		for at, f := range part {
			expires := "NULL"
			if f.i%2 == 0 {
				expires = fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d SECOND", f.i%600)
			}
			fmt.Fprintf(&rows, `%s('7', 'charge', '%s', 'complete', %d, '0123456789abcdef', 'filler', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), %s, 'json/1', '{"id":1,"amount":1}')`,
				","[:min(at, 1)], f.hash, f.i+1, expires)
		}
		dbtest.Exec(b, db, sqlFill+rows.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &sized{db: db, keys: newKeys(b, idempotency.Config{}), n: n, cancel: cancel}
	s.done.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			n, err := s.keys.Purge(context.WithoutCancel(ctx), db, 200)
			if err != nil {
				b.Errorf("purge: %v", err)
			}
			s.purged += n
			<-tick.C
		}
	})
	return s
}

func (s *sized) stop() int {
	s.cancel()
	s.done.Wait()
	return s.purged
}

// round measures each verb n times.
func (s *sized) round(b *testing.B, n int) map[string][]time.Duration {
	ctx, times := b.Context(), map[string][]time.Duration{}
	timed := func(verb string, call func() error) {
		start := time.Now()
		if err := call(); err != nil {
			b.Fatalf("%s: %v", verb, err)
		}
		times[verb] = append(times[verb], time.Since(start))
	}
	for range n {
		s.next++
		k := key(fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, "new", s.next))))
		var claim idempotency.Claim
		timed("begin", func() (err error) { claim, _, err = idempotency.Begin[receipt](ctx, s.db, s.keys, k); return err })
		timed("complete", func() error { return s.keys.Complete(ctx, s.db, claim, receipt{Amount: 1}) })
		old := key(fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, (s.next*7919%s.n)/2*2+1)))) // one that does not expire
		timed("replay", func() error { _, _, err := idempotency.Begin[receipt](ctx, s.db, s.keys, old); return err })
	}
	return times
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// TestHeap: keys that are new, and replays, leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	dbtest.HeapStays(t, func(n int) error {
		_, first := idempotency.Do(ctx, db, keys, key(fmt.Sprint("k", n)), charge(1))
		_, again := idempotency.Do(ctx, db, keys, key(fmt.Sprint("k", n)), charge(1), idempotency.LookFirst())
		return errors.Join(first, again)
	})
}

//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// row is one of the benchmark.
type row struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

// call is what is measured: the i-th of all.
type call func(ctx context.Context, db *sql.DB, i int64) error

// BenchmarkCausalReads measures calls with causal reads and without, turn by turn, by one client and by 16 that
// are spread over all nodes:
//
//	ONEROW_CLUSTER=galera go test -C proof -tags cluster -run '^$' -bench Causal -benchtime 20x ./cluster
//
// A turn is 50 calls of each client. Reported are the medians in milliseconds, and the statements of a call.
func BenchmarkCausalReads(b *testing.B) {
	plan := schema.Plan{Resources: []schema.Resource{{Name: "project", Owner: "user_id", Label: schema.Label{Column: "name"}}}}
	s := newSite(b, plan.DDL()...)
	waits, stales := pools(s, ""), pools(s, stale())
	projects, err := repo.New[row](plan, "project")
	if err != nil {
		b.Fatal(err)
	}
	keys, err := idempotency.New(idempotency.Config{Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	there, err := projects.Create(b.Context(), waits[0], row{UserID: 1, Name: "there"})
	if err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	for _, verb := range []struct {
		name string
		call call
	}{
		{"get", func(ctx context.Context, db *sql.DB, _ int64) error {
			_, err := projects.Get(ctx, db, there.Row.ID)
			return err
		}},
		{"create", func(ctx context.Context, db *sql.DB, i int64) error {
			_, err := projects.Create(ctx, db, row{UserID: i, Name: "new"})
			return err
		}},
		{"Do", func(ctx context.Context, db *sql.DB, i int64) error {
			key := idempotency.Key{Tenant: "1", Operation: "bench", ID: fmt.Sprint(i)}
			_, err := idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
				_, err := projects.Create(ctx, tx, row{UserID: -i, Name: "new"})
				return i, err
			})
			return err
		}},
	} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%dclients", verb.name, clients), func(b *testing.B) {
				var took [2][]time.Duration
				var sent [2]int64
				for b.Loop() {
					for i, db := range [][]*sql.DB{waits, stales} {
						before := questions(b, db)
						took[i] = append(took[i], turn(b, db, clients, verb.call, &n)...)
						sent[i] += questions(b, db) - before - int64(len(db))
					}
				}
				for i, name := range []string{"causal", "stale"} {
					slices.Sort(took[i])
					b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, name+"-ms")
					b.ReportMetric(float64(took[i][len(took[i])*99/100].Microseconds())/1000, name+"-p99-ms")
					b.ReportMetric(float64(sent[i])/float64(len(took[i])), name+"-stmts")
				}
			})
		}
	}
}

// turn is 50 calls of each client, and how long each took.
func turn(b *testing.B, db []*sql.DB, clients int, f call, n *atomic.Int64) []time.Duration {
	const calls = 50
	took, errs := make([]time.Duration, clients*calls), make([]error, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := range calls {
				began := time.Now()
				if errs[c] = f(b.Context(), db[c%len(db)], n.Add(1)); errs[c] != nil {
					return
				}
				took[c*calls+i] = time.Since(began)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
	return took
}

// questions is how many statements clients have sent to the nodes; each question is one.
func questions(b *testing.B, all []*sql.DB) (sum int64) {
	for _, db := range all {
		var name string
		var n int64
		if err := onerow.QueryRow(b.Context(), db, "SHOW GLOBAL STATUS LIKE 'Questions'", nil, &name, &n); err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return sum
}

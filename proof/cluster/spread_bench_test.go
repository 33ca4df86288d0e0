//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/serial"
)

// BenchmarkSpread lets 12 clients write through one, two and three nodes: all for one owner, each for an owner of his
// own through all nodes, and each owner through a node of his own, as docs/CLUSTERS.md advises:
//
//	ONEROW_CLUSTER=galera go test -C proof -tags cluster -run '^$' -bench Spread -benchtime 3x ./cluster
//
// A turn is 50 calls of each client. Reported are, for each call: the statements; the transactions that were run again;
// what the nodes counted as conflicts. And calls per second, on whatever machine it is.
func BenchmarkSpread(b *testing.B) {
	s := newSite(b, append(plan.DDL(), effects)...)
	projects := must[*repo.Repo[project]](b)(repo.New[project](plan, "project"))
	screens := must[*repo.Repo[screen]](b)(repo.New[screen](plan, "screen"))
	keys := must[*idempotency.Keys](b)(idempotency.New(idempotency.Config{Name: "spread"}))
	const clients = 12
	var above [clients]int64
	for i := range above {
		above[i] = must[onerow.Result[project]](b)(projects.Create(b.Context(), s.db[0], project{UserID: 1, Name: fmt.Sprint(i)})).Row.ID
	}
	for _, verb := range []struct {
		name string
		call func(ctx context.Context, db *sql.DB, owner int, n int64) error
	}{
		{"create", func(ctx context.Context, db *sql.DB, owner int, n int64) error { // and the mark of the owner's quota
			return second(projects.Create(ctx, db, project{UserID: int64(100 + owner), Name: fmt.Sprint(n)}))
		}},
		{"create below a guarded parent", func(ctx context.Context, db *sql.DB, owner int, n int64) error {
			return second(screens.Create(ctx, db, screen{ProjectID: above[owner], Name: fmt.Sprint(n)}))
		}},
		{"update", func(ctx context.Context, db *sql.DB, owner int, n int64) error {
			return second(projects.Rename(ctx, db, above[owner], fmt.Sprint("renamed ", n)))
		}},
		{"Do", func(ctx context.Context, db *sql.DB, owner int, n int64) error {
			key := idempotency.Key{Tenant: fmt.Sprint(owner), Operation: "spread", ID: fmt.Sprint(n)}
			return second(idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
				return n, second(tx.ExecContext(ctx, sqlEffect, key.ID, n))
			}))
		}},
		{"serial", func(ctx context.Context, db *sql.DB, owner int, n int64) error {
			series, err := serial.New(fmt.Sprint("spread ", owner))
			if err != nil {
				return err
			}
			return second(series.Claim(ctx, db, fmt.Sprint(n), 1))
		}},
	} {
		for _, spread := range []struct {
			name        string
			nodes       int
			owner, node func(client, i int) int
		}{
			{"one owner/1 node", 1, zero, zero},
			{"one owner/2 nodes", 2, zero, byClient},
			{"one owner/3 nodes", 3, zero, byClient},
			{"12 owners/1 node", 1, byClient, zero},
			{"12 owners/3 nodes", 3, byClient, byCall},
			{"12 owners/3 nodes, an owner at one", 3, byClient, byClient},
		} {
			b.Run(strings.ReplaceAll(verb.name+"/"+spread.name, " ", "_"), func(b *testing.B) {
				const each = 50
				turns, began, before := 0, time.Now(), tally(b, s.db)
				for b.Loop() {
					turns++
					var g errgroup.Group
					for client := range clients {
						g.Go(func() error {
							for i := range each {
								db := s.db[spread.node(client, i)%spread.nodes]
								if err := verb.call(b.Context(), db, spread.owner(client, i), spreadCalls.Add(1)); err != nil {
									return err
								}
							}
							return nil
						})
					}
					if err := g.Wait(); err != nil {
						b.Fatal(err)
					}
				}
				took, after, n := time.Since(began), tally(b, s.db), float64(turns*clients*each)
				b.ReportMetric(n/took.Seconds(), "calls/s")
				b.ReportMetric(float64(after.questions-before.questions)/n, "stmts/call")
				b.ReportMetric(float64(after.begun-before.begun)/n-float64(begins()), "again/call")
				b.ReportMetric(float64(after.conflicts-before.conflicts)/n, "conflicts/call")
			})
		}
	}
}

// spreadCalls numbers calls across all runs, so that no name comes twice.
var spreadCalls atomic.Int64

func zero(int, int) int          { return 0 }
func byClient(client, _ int) int { return client }
func byCall(client, i int) int   { return client + i }

// begins is how often the nodes count BEGIN for a transaction that is not run again: members of a group count what
// they apply of each other, too.
func begins() int {
	if nodes.Kind() == devdb.Group {
		return nodes.Nodes()
	}
	return 1
}

// nodesTally is what the nodes have counted since they began.
type nodesTally struct{ questions, begun, conflicts int64 }

// Conflicts are seen by the node that certifies, and by the one whose transaction a remote write ends.
const (
	sqlGaleraConflicts = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')"
	sqlGroupConflicts  = `SELECT 'conflicts', COUNT_CONFLICTS_DETECTED FROM performance_schema.replication_group_member_stats WHERE member_id = @@server_uuid`
	sqlUpToDate        = "SELECT 'applied', COUNT(*) FROM (SELECT 1 FROM effect LIMIT 1) AS any_row" // waits for what was committed
	sqlSent            = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_begin')"
)

func tally(b *testing.B, all []*sql.DB) (sum nodesTally) {
	b.Helper()
	conflicts := sqlGaleraConflicts
	if nodes.Kind() == devdb.Group {
		conflicts = sqlGroupConflicts
	}
	for i, db := range all {
		for _, query := range []string{sqlUpToDate, sqlSent, conflicts} {
			err := onerow.Query(b.Context(), db, query, nil, func(rows *sql.Rows) error {
				var name string
				var n int64
				if err := rows.Scan(&name, &n); err != nil {
					return err
				}
				switch {
				case name == "Questions":
					sum.questions += n
				case name == "Com_begin":
					sum.begun += n
				case name != "applied" && (nodes.Kind() == devdb.Galera || i == 0): // each member of a group counts them all
					sum.conflicts += n
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	return sum
}

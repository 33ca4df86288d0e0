package limit_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// BenchmarkHotOwner is 64 clients who create files of one owner, without a limit, with one that counts and with
// one that sums, turn by turn; the ratios are reported:
//
//	make bench RUN=BenchmarkHotOwner PKG=./limit
//	.cache/bin/withserver -dir .data/bench -- go test -run '^$' -bench HotOwner ./limit   # a durable server
func BenchmarkHotOwner(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprint(clients, "clients"), func(b *testing.B) {
			db, _ := open(b)
			db.SetMaxOpenConns(clients)
			db.SetMaxIdleConns(clients)
			kinds := []*repo.Repo[File]{files(b), files(b, schema.Limit{}), files(b, schema.Limit{Sum: "bytes"})}
			dbtest.Exec(b, db, "INSERT INTO user (id, files, bytes) VALUES (7, 1000000000, 1000000000000)")
			var took [3]time.Duration
			var n atomic.Int64
			for b.Loop() {
				for i, r := range kinds {
					begin := time.Now()
					burst(b, db, r, clients, &n)
					took[i] += time.Since(begin)
				}
			}
			b.ReportMetric(float64(took[0])/float64(took[1]), "rate-counted")
			b.ReportMetric(float64(took[0])/float64(took[2]), "rate-summed")
			b.ReportMetric(20*float64(clients*b.N)/took[0].Seconds(), "creates/s-without")
		})
	}
}

// files is the repository of files with these limits.
func files(b *testing.B, limits ...schema.Limit) *repo.Repo[File] {
	p := schema.Plan{Resources: []schema.Resource{plan.Resources[0]}}
	p.Resources[0].Limits = limits
	var rules []*limit.Rule
	for _, l := range must(p.Resource("file")).Limits {
		rules = append(rules, must(limit.New(p, l.Name, quota.LimitQuery("SELECT files FROM user WHERE id = ?"))))
	}
	return must(repo.New[File](p, "file", rules...))
}

// burst is 20 creates of each client.
func burst(b *testing.B, db *sql.DB, r *repo.Repo[File], clients int, n *atomic.Int64) {
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range 20 {
				if _, err := r.Create(context.Background(), db, File{UserID: 7, Name: fmt.Sprint("f", n.Add(1)), Bytes: 1}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

package cascade

import (
	"testing"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// BenchmarkRetention is how many rows of a leaf table, which have nothing below them, are found and deleted
// in a second, by one worker and by four: each has a job.
func BenchmarkRetention(b *testing.B) {
	const rows = 2000
	for name, parallel := range map[string]int{"one": 1, "four": 4} {
		b.Run(name, func(b *testing.B) {
			db, plan := openAttic(b), attic()
			plan.Tables[2].Retention.Rate = rows
			w, err := NewWorker(db, plan, Config{Parallel: parallel, Target: -1})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				dbtest.Exec(b, db, "INSERT INTO ping (host, id, at) "+cost.Numbers(rows)+"SELECT 'a', i, '2020-01-01' FROM numbers")
				b.StartTimer()
				if done := stepOf(b, db, retainer(db, plan), "ping"); done.Queued != rows {
					b.Fatalf("%+v", done)
				}
				drain(b, w)
				if n := count(b, db, "SELECT COUNT(*) FROM ping"); n != 0 {
					b.Fatalf("%d rows are left", n)
				}
			}
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

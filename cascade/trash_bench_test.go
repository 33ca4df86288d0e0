package cascade

import (
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// BenchmarkTrash deletes 10,100 rows with a trash and without, turn by turn, and brings them back, which it
// compares with INSERT … SELECT of the same rows into tables of the same indexes, in one transaction.
func BenchmarkTrash(b *testing.B) {
	db, ctx := openBench(b), b.Context()
	kept := benchPlan
	kept.Trash = schema.Age(time.Hour)
	plantTrash(b, db, kept)
	if err := execAll(ctx, db, "CREATE TABLE copy_of_comment LIKE comment", "CREATE TABLE copy_of_screen LIKE screen"); err != nil {
		b.Fatal(err)
	}
	plain, err := NewWorker(db, benchPlan, Config{})
	if err != nil {
		b.Fatal(err)
	}
	keeping, err := NewWorker(db, kept, Config{})
	if err != nil {
		b.Fatal(err)
	}
	var without, with, back, floor time.Duration
	measure := func(sum *time.Duration, fn func()) {
		begin := time.Now()
		fn()
		*sum += time.Since(begin)
	}
	for b.Loop() {
		plantBench(b, db)
		measure(&floor, func() {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				b.Fatal(err)
			}
			dbtest.Exec(b, tx, "INSERT INTO copy_of_screen SELECT * FROM screen")
			dbtest.Exec(b, tx, "INSERT INTO copy_of_comment SELECT * FROM comment")
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		})
		dbtest.Exec(b, db, "TRUNCATE TABLE copy_of_screen")
		dbtest.Exec(b, db, "TRUNCATE TABLE copy_of_comment")
		condemn(b, db, 1, 0)
		measure(&without, func() { drain(b, plain) })
		plantBench(b, db)
		job := condemn(b, db, 1, 0)
		measure(&with, func() { drain(b, keeping) })
		if got := get(b, db, job.ID); got.State != Done || got.DeletedRows != benchScreens*(benchComments+1) {
			b.Fatalf("%+v", got)
		}
		measure(&back, func() {
			p, err := RestoreRows(ctx, db, kept, job.ID, RestoreOptions{})
			if err != nil || p.Rows != benchScreens*(benchComments+1) {
				b.Fatalf("%+v, %v", p, err)
			}
		})
		dbtest.Exec(b, db, "DELETE FROM onerow_job")
		dbtest.Exec(b, db, "DELETE FROM screen")
		dbtest.Exec(b, db, "DELETE FROM comment")
	}
	rows := float64(b.N * benchScreens * (benchComments + 1))
	b.ReportMetric(without.Seconds()/with.Seconds(), "of-the-rate-without")
	b.ReportMetric(floor.Seconds()/back.Seconds(), "of-INSERT-SELECT")
	b.ReportMetric(rows/with.Seconds(), "kept/s")
	b.ReportMetric(rows/back.Seconds(), "restored/s")
}

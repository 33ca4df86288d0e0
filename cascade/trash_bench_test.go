package cascade

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// BenchmarkTrash deletes a tree with a trash and without, turn by turn, and brings it back, which it
// compares with INSERT … SELECT of the same rows into tables of the same indexes, in one transaction; and
// with the worker's two statements by hand. Each part begins on a server at rest; the medians are compared.
func BenchmarkTrash(b *testing.B) {
	for _, screens := range []int64{benchScreens, 10 * benchScreens} {
		b.Run(fmt.Sprint(screens*(benchComments+1), "rows"), func(b *testing.B) { benchTrash(b, screens) })
	}
}

func benchTrash(b *testing.B, screens int64) {
	db, ctx, rows := openBench(b), b.Context(), screens*(benchComments+1)
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
	var without, with, byHand, back, floor []time.Duration
	measure := func(times *[]time.Duration, fn func()) {
		time.Sleep(time.Second) // else the server is still purging what was deleted before
		begin := time.Now()
		fn()
		*times = append(*times, time.Since(begin))
	}
	for b.Loop() {
		plantScreens(b, db, screens)
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
		plantScreens(b, db, screens)
		job := condemn(b, db, 1, 0)
		measure(&with, func() { drain(b, keeping) })
		if got := get(b, db, job.ID); got.State != queue.Done || got.DeletedRows != rows {
			b.Fatalf("%+v", got)
		}
		measure(&back, func() {
			p, err := recover.Rows(ctx, db, kept, job.ID, recover.Options{})
			if err != nil || p.Rows != rows {
				b.Fatalf("%+v, %v", p, err)
			}
		})
		dbtest.Exec(b, db, "DELETE FROM screen")
		dbtest.Exec(b, db, "DELETE FROM comment")
		plantScreens(b, db, screens)
		measure(&byHand, func() { keepByHand(b, db, screens) })
		dbtest.Exec(b, db, "DELETE FROM onerow_trash_comment WHERE onerow_job = 0")
		dbtest.Exec(b, db, "DELETE FROM onerow_job")
		dbtest.Exec(b, db, "DELETE FROM screen")
		dbtest.Exec(b, db, "DELETE FROM comment")
	}
	b.ReportMetric(median(without)/median(with), "of-the-rate-without")
	b.ReportMetric(median(without)/median(byHand), "by-hand")
	b.ReportMetric(median(floor)/median(back), "of-INSERT-SELECT")
	b.ReportMetric(float64(rows)/median(with), "kept/s")
	b.ReportMetric(float64(rows)/median(back), "restored/s")
}

// keepByHand is the worker's two statements without the rest, in four transactions.
func keepByHand(b *testing.B, db *sql.DB, screens int64) {
	b.Helper()
	quarter := screens / 4
	const columns = "id, screen_id, version, created_at, updated_at"
	for step := range int64(4) {
		tx, err := db.BeginTx(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		dbtest.Exec(b, tx, fmt.Sprintf("INSERT INTO onerow_trash_comment (onerow_job, onerow_step, onerow_lost, %s) SELECT 0, %[2]d, 0, %[1]s FROM comment FORCE INDEX (parent_id) WHERE screen_id BETWEEN %[3]d AND %[4]d FOR UPDATE",
			columns, step, step*quarter+1, (step+1)*quarter))
		dbtest.Exec(b, tx, fmt.Sprintf("DELETE c FROM onerow_trash_comment AS k FORCE INDEX (PRIMARY) STRAIGHT_JOIN comment AS c FORCE INDEX (PRIMARY) ON c.id = k.id WHERE k.onerow_job = 0 AND k.onerow_step = %d", step))
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// median is in seconds.
func median(times []time.Duration) float64 {
	return slices.Sorted(slices.Values(times))[len(times)/2].Seconds()
}

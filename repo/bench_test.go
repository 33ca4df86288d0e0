package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// Each hot path runs beside its floor: the same statements by hand, in the same
// process, turn by turn, so that the ratio holds on any machine:
//
//	make bench RUN=BenchmarkCreate
//
// floor-ns and ratio are reported beside ns/op.
func beside(b *testing.B, verb, floor func(i int) error) {
	b.Helper()
	var took [2]time.Duration
	i := 0
	for b.Loop() {
		i++
		for k, call := range []func(int) error{floor, verb} {
			begin := time.Now()
			if err := call(2*i + k); err != nil {
				b.Fatal(err)
			}
			took[k] += time.Since(begin)
		}
	}
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(i), "floor-ns")
	b.ReportMetric(float64(took[1].Nanoseconds())/float64(i), "verb-ns")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}

func inTx(ctx context.Context, db *sql.DB, stmts ...func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, stmt := range stmts {
		if err := stmt(tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func exec(ctx context.Context, query string, args ...any) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
}

func row(ctx context.Context, query string, args ...any) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			cols, err := rows.Columns()
			if err != nil {
				return err
			}
			dest := make([]any, len(cols))
			for i := range dest {
				dest[i] = new(sql.RawBytes)
			}
			if err := rows.Scan(dest...); err != nil {
				return err
			}
		}
		return rows.Close()
	}
}

const sqlMark = "INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES ('project', '1', UTC_TIMESTAMP(6))"

func insertByHand(ctx context.Context, db *sql.DB, name string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO project (user_id, name, name_key, stem_key, copy_no, note, due, code, version, created_at, updated_at)
		VALUES (1, ?, ?, ?, 0, '', NULL, NULL, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, name, name, name)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if err := exec(ctx, sqlMark)(tx); err != nil {
		return err
	}
	if err := row(ctx, "SELECT * FROM project WHERE id = ?", id)(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func BenchmarkCreate(b *testing.B) {
	db, p := open(b), newRepos(b).projects
	beside(b,
		func(i int) error {
			return second(p.Create(b.Context(), db, Project{UserID: 1, Name: fmt.Sprint("n", i)}))
		},
		func(i int) error { return insertByHand(b.Context(), db, fmt.Sprint("n", i)) })
}

func BenchmarkArchiveActivate(b *testing.B) {
	db, p, ctx := open(b), newRepos(b).projects, b.Context()
	mine := must(p.Create(ctx, db, Project{UserID: 1, Name: "mine"})).Row.ID
	hand := must(p.Create(ctx, db, Project{UserID: 1, Name: "hand"})).Row.ID
	const cols = "id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at, note, due, code"
	beside(b,
		func(int) error {
			if err := second(p.Archive(ctx, db, mine)); err != nil {
				return err
			}
			return second(p.Activate(ctx, db, mine))
		},
		func(int) error {
			err := inTx(ctx, db, row(ctx, "SELECT * FROM project WHERE id = ? FOR UPDATE", hand),
				exec(ctx, "INSERT INTO project_archive ("+cols+", archived_at) SELECT "+cols+", UTC_TIMESTAMP(6) FROM project WHERE id = ?", hand),
				exec(ctx, "DELETE FROM project WHERE id = ?", hand), exec(ctx, sqlMark), row(ctx, "SELECT * FROM project_archive WHERE id = ?", hand))
			if err != nil {
				return err
			}
			return inTx(ctx, db, row(ctx, "SELECT * FROM project_archive WHERE id = ? FOR UPDATE", hand),
				exec(ctx, "INSERT INTO project ("+cols+") SELECT "+cols+" FROM project_archive WHERE id = ?", hand),
				exec(ctx, "DELETE FROM project_archive WHERE id = ?", hand), exec(ctx, sqlMark), row(ctx, "SELECT * FROM project WHERE id = ?", hand))
		})
}

func BenchmarkGet(b *testing.B) {
	db, p, ctx := open(b), newRepos(b).projects, b.Context()
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "a"})).Row.ID
	beside(b,
		func(int) error { return second(p.Get(ctx, db, id)) },
		func(int) error {
			rows, err := db.QueryContext(ctx, "SELECT * FROM project WHERE id = ? UNION ALL SELECT * FROM project WHERE id = ? AND 1 = 0", id, id)
			if err != nil {
				return err
			}
			for rows.Next() {
				dest := make([]any, 13)
				for i := range dest {
					dest[i] = new(sql.RawBytes)
				}
				if err := rows.Scan(dest...); err != nil {
					return err
				}
			}
			return rows.Close()
		})
}

// BenchmarkHotOwner: 64 callers create rows of one owner.
func BenchmarkHotOwner(b *testing.B) {
	db, p, ctx := open(b), newRepos(b).projects, b.Context()
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("n", n.Add(1))}); err != nil {
				b.Error(err)
			}
		}
	})
}

// TestHeap: rows that come and go leave nothing in memory.
func TestHeap(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	dbtest.HeapStays(t, func(n int) error {
		res, err := p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("n", n)}, repo.RequestID(fmt.Sprint(n)))
		if err != nil {
			return err
		}
		return second(p.Delete(ctx, db, res.Row.ID))
	})
}

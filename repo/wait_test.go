package repo_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestWaitsOnce: a verb that waited for its row, which somebody else has changed meanwhile, goes on; it is not
// refused and run again. MariaDB 11.8 would refuse it (innodb_snapshot_isolation) if its statement had read anything without a
// lock before it waited.
func TestWaitsOnce(t *testing.T) {
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	r, ctx := newRepos(t), t.Context()
	for _, v := range []struct {
		name, table string
		call        func(db *sql.DB, id int64) error
	}{
		{"rename", "project", func(db *sql.DB, id int64) error {
			return second(r.projects.Rename(ctx, db, id, fmt.Sprint("renamed ", id)))
		}},
		{"update", "project", func(db *sql.DB, id int64) error {
			return second(r.projects.Update(ctx, db, id, func(p *Project) error { p.Note = "updated"; return nil }))
		}},
		{"archive", "project", func(db *sql.DB, id int64) error { return second(r.projects.Archive(ctx, db, id)) }},
		{"activate", "project_archive", func(db *sql.DB, id int64) error { return second(r.projects.Activate(ctx, db, id)) }},
		{"delete", "project", func(db *sql.DB, id int64) error { return second(r.projects.Delete(ctx, db, id)) }},
		{"delete, archived", "project_archive", func(db *sql.DB, id int64) error { return second(r.projects.Delete(ctx, db, id)) }},
		{"create below", "project", func(db *sql.DB, id int64) error {
			return second(r.screens.Create(ctx, db, Screen{ProjectID: id, Filename: "s.png"}))
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			calls := func(held bool) crashtest.Log {
				id := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint(v.name, held)})).Row.ID
				if v.table == "project_archive" {
					must(r.projects.Archive(ctx, db, id))
				}
				counted, c := racetest.Counted(t, dsn)
				if !held {
					return must(crashtest.Count(c, func() error { return v.call(counted, id) }))
				}
				tx := must(db.BeginTx(ctx, nil))
				must(tx.ExecContext(ctx, "UPDATE "+v.table+" SET note = 'meanwhile' WHERE id = ?", id))
				done := make(chan error, 1)
				log, err := crashtest.Count(c, func() error {
					go func() { done <- v.call(counted, id) }()
					dbtest.AwaitLock(t, db)
					if err := tx.Commit(); err != nil {
						return err
					}
					return <-done
				})
				if err != nil {
					t.Fatal(err)
				}
				return log
			}
			if free, waited := calls(false), calls(true); len(free) != len(waited) {
				t.Errorf("%d statements, %d where it had to wait:\n%s", len(free), len(waited), waited)
			}
		})
	}
}

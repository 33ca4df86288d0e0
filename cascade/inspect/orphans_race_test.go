package inspect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/racetest"
)

// TestOrphansOfMovingParents: a row that moves between its tables all the time is never
// taken for missing, neither by the search nor by what queues.
func TestOrphansOfMovingParents(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		const columns = "id, user_id, version, created_at, updated_at"
		var claimed []Orphan
		for id := range int64(20) {
			foresttest.Project(t, db, id+1)
			foresttest.Insert(t, db, "note", map[string]any{"project_id": id + 1})
			claimed = append(claimed, Orphan{Resource: "project", ID: fmt.Sprint(id + 1), Table: "note"})
		}
		ctx, cancel := context.WithCancel(t.Context())
		moved := make(chan error, 1)
		go func() {
			for {
				for _, move := range [][2]string{{"project", "project_archive"}, {"project_archive", "project"}} {
					more, value := "", ""
					if move[1] == "project_archive" {
						more, value = ", archived_at", ", UTC_TIMESTAMP(6)"
					}
					err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
						_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s%s) SELECT %s%s FROM %s FOR UPDATE", move[1], columns, more, columns, value, move[0]))
						if err != nil {
							return err
						}
						_, err = tx.ExecContext(ctx, "DELETE FROM "+ident.Quote(move[0]))
						return err
					})
					if ctx.Err() != nil {
						moved <- nil
						return
					}
					if err != nil {
						moved <- err
						return
					}
				}
			}
		}()
		for range 40 {
			err := Orphans(t.Context(), db, forest, OrphanOptions{Table: "note", Page: 7}, func(o Orphan) error {
				return fmt.Errorf("taken for missing: %s", told(o))
			})
			if err != nil {
				t.Error(err)
				break
			}
			done, err := EnqueueOrphans(t.Context(), db, forest, claimed)
			if err != nil || done.Queued+done.Open != 0 || done.Returned != 20 {
				t.Errorf("%+v, %v", done, err)
				break
			}
		}
		cancel()
		if err := <-moved; err != nil {
			t.Error(err)
		}
	})
}

// TestEnqueueOrphansCrash fails it at every statement: jobs and audit come together.
func TestEnqueueOrphansCrash(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			dsn := dbtest.DSN(t, dbtest.Isolation(level))
			foresttest.Plant(t, dbtest.OpenDSN(t, dsn))
			found := []Orphan{{Resource: "project", ID: "1"}, {Resource: "project", ID: "2"}, {Resource: "project", ID: "3"}}
			report := crashtest.Run(t, racetest.Share(crashtest.Workflow{
				Name: "enqueue orphans", DSN: dsn,
				Setup: func(ctx context.Context, db *sql.DB) error {
					var errs []error
					for _, table := range []string{"project", "onerow_job", "onerow_deletion"} {
						_, err := db.ExecContext(ctx, "DELETE FROM "+ident.Quote(table))
						errs = append(errs, err)
					}
					return errors.Join(append(errs, foresttest.InsertRow(ctx, db, "project", map[string]any{"id": 2, "user_id": 7}))...)
				},
				Call: func(ctx context.Context, db *sql.DB) error {
					_, err := EnqueueOrphans(ctx, db, forest, found)
					return err
				},
				Tables:    []string{"project", "onerow_job", "onerow_deletion"},
				Generated: []string{"onerow_job.deletion_id"},
				Ignore:    []string{"onerow_job.batch_seq"},
				Sets:      []string{"onerow_deletion"},
				Check: func(ctx context.Context, db *sql.DB) error {
					var jobs int
					err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job WHERE resource_id IN ('1', '3')", nil, &jobs)
					if err == nil && jobs != 2 {
						err = fmt.Errorf("%d jobs", jobs)
					}
					return err
				},
			}))
			if report.FaultPoints < racetest.Least(40) {
				t.Errorf("%d fault points", report.FaultPoints)
			}
		})
	}
}

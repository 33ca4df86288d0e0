package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
)

// database is an empty one of the test's own.
func database(t *testing.T) (dsn string) {
	t.Helper()
	server, err := devdb.Start(t.Context(), devdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("onerow_t_%d_layers", os.Getpid())
	if err := server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.DropDatabase(context.Background(), name), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return server.DSN(name)
}

// TestLayers: the program, then for each layer what is rolled back, and what a lost transaction lets through.
func TestLayers(t *testing.T) {
	ctx := t.Context()
	dsn := database(t)
	if err := run(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	db, err := pool.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the test is over
	all, err := layers(db)
	if err != nil {
		t.Fatal(err)
	}
	made := fmt.Sprint(len(all), 0, len(all))
	if got := rows(t, db); got != made {
		t.Fatalf("archived, active, notes: %s, want %s", got, made)
	}
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range all {
		t.Run(name, func(t *testing.T) {
			mine := errors.New("mine")
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := create(ctx, tx, projects, l, name)
				return errors.Join(err, mine)
			})
			if !errors.Is(err, mine) {
				t.Error(err)
			}
			err = l.begin(ctx, func(tx onerow.DB) error {
				_, err := projects.Create(ctx, tx, project{UserID: 7, Name: name})
				return errors.Join(err, mine)
			})
			if !errors.Is(err, mine) {
				t.Error(err)
			}
			// The first session is lost, and the layer's error thrown away; then it works.
			tries := 0
			err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if err := l.add(ctx, tx, 1, "half"); err != nil {
					return err
				}
				if tries++; tries > 1 {
					return mine
				}
				var session int64
				if err := tx.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&session); err != nil {
					return err
				}
				if _, err := db.ExecContext(ctx, fmt.Sprint("KILL ", session)); err != nil {
					return err
				}
				if err := l.add(ctx, tx, 1, "the other half"); err == nil {
					t.Error("written to a session that was killed")
				}
				return nil
			})
			if !errors.Is(err, mine) || tries != 2 {
				t.Errorf("%d tries: %v", tries, err)
			}
		})
	}
	if got := rows(t, db); got != made {
		t.Errorf("archived, active, notes: %s, want %s", got, made)
	}
}

func rows(t *testing.T, db *sql.DB) string {
	t.Helper()
	var archived, active, notes int
	const count = "SELECT (SELECT COUNT(*) FROM project_archive), (SELECT COUNT(*) FROM project), (SELECT COUNT(*) FROM note)"
	if err := db.QueryRowContext(t.Context(), count).Scan(&archived, &active, &notes); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(archived, active, notes)
}

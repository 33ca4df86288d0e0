package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/retain"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// crowdAttic has as many rows that are not due as rows says, and a few that are.
func crowdAttic(t *testing.T, dsn string, rows int) {
	t.Helper()
	db := dbtest.OpenDSN(t, dsn)
	from := func(what string) string { return cost.Numbers(rows) + "SELECT " + what + " FROM numbers" }
	for _, stmt := range append(atticTables,
		"INSERT INTO visit (id, seen_at) "+from("i, IF(i <= 5, '2020-01-01', UTC_TIMESTAMP(6))"),
		"INSERT INTO step (visit) "+from("i"),
		"INSERT INTO ping (host, id, at) "+from("'a', i, IF(i <= 5, '2020-01-01', UTC_TIMESTAMP(6))"),
		"INSERT INTO onerow_retention (resource, next_at) "+from("CONCAT('r', i), UTC_TIMESTAMP(6)"),
		"ANALYZE TABLE visit, step, ping, onerow_retention",
	) {
		dbtest.Exec(t, db, stmt)
	}
}

func costsOfRetention(c *cost.Costs, work working, graphs map[string]*graph.Graph) {
	step := func(resource string, want retain.Done) func(ctx context.Context, db *sql.DB) error {
		want.Resource = resource
		return func(ctx context.Context, db *sql.DB) error {
			var name string
			if err := db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
				return err
			}
			r := retain.New(db, attic(), func(context.Context) (*graph.Graph, error) { return graphs[name], nil })
			done, err := r.Step(ctx, resource, true)
			if err == nil && done != want {
				err = fmt.Errorf("%+v, want %+v", done, want)
			}
			due, derr := r.Due(ctx, resource, 100)
			if derr == nil && due.Due == 0 {
				derr = errors.New("nothing is due")
			}
			_, drerr := r.DryRun(ctx, resource, func(string, string) error { return nil })
			return errors.Join(err, derr, drerr)
		}
	}
	c.Call("retention", step("visit", retain.Done{Queued: 5, End: true}))
	c.Call("retention, too early", step("visit", retain.Done{Early: true}))
	c.Call("retention of TIMESTAMP", step("ping", retain.Done{Queued: 5, End: true}))
	c.Call("retention, again", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(execAll(ctx, db, "UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6) WHERE resource = 'ping'"), step("ping", retain.Done{Passed: 5, End: true})(ctx, db))
	})
	c.Call("work what is due", func(ctx context.Context, db *sql.DB) error { return work(ctx, db, attic(), Config{}, 5+5) })
	c.Call("spare what is not due any more", func(ctx context.Context, db *sql.DB) error {
		_, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "visit", ResourceID: "20", From: queue.FromDue}})
		return errors.Join(err, work(ctx, db, attic(), Config{}, 1))
	})
}

//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

type screen struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Name      string `db:"name"`
}

var plan = schema.Plan{Cluster: true, Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "over"}},
	{Name: "screen", Archive: "screen_archive", Owner: "project_id", Label: schema.Label{Column: "name"},
		Parent: schema.Parent{Resource: "project", Column: "project_id"}},
}}

// effects has no unique key: what is done twice shows.
const effects = `CREATE TABLE effect (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, what VARBINARY(100) NOT NULL, n BIGINT NOT NULL) ENGINE=InnoDB`

const (
	sqlEffect = "INSERT INTO effect (what, n) VALUES (?, ?)"
	atMost    = 5 // of an owner's
)

func five(context.Context, *onerow.Tx, any) (int, error) { return atMost, nil }

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

type total struct{ Sum, Count int64 }

// streams: each message comes through each node, in an order of the node's own.
func streams(s *site) {
	guard := ordering.Guard[total]{Consumer: "c", Hold: true, First: 1}
	const messages = 12
	apply := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, state *total) error {
		state.Sum += m.Sequence
		state.Count++
		_, err := tx.ExecContext(ctx, sqlEffect, m.Stream, m.Sequence)
		return err
	}
	s.crowd(1, func(ctx context.Context, db *sql.DB, _ int) error {
		for _, i := range rand.Perm(2 * messages) {
			m := ordering.Message{Stream: fmt.Sprint(i % 2), Sequence: int64(i/2 + 1), Payload: []byte("x")}
			if _, err := guard.Apply(ctx, db, m, apply); err != nil {
				return fmt.Errorf("apply: %w", err)
			}
		}
		return nil
	})
	for _, stream := range []string{"0", "1"} {
		state := must[ordering.Context[total]](s)(guard.Read(s.Context(), s.db[0], stream))
		rows := dbtest.Scan[int64](s, s.db[0], "SELECT COUNT(*) FROM effect WHERE what = ?", stream)
		sum := dbtest.Scan[int64](s, s.db[0], "SELECT SUM(n) FROM effect WHERE what = ?", stream)
		if want := int64(messages * (messages + 1) / 2); rows != messages || sum != want || state.State.Sum != want || state.State.Count != messages {
			s.Errorf("stream %s: %d rows of %d messages, their sum is %d, state %+v", stream, rows, messages, sum, state.State)
		}
	}
}

func quotas(s *site) {
	projects := must[*repo.Repo[project]](s)(repo.New[project](plan, "project"))
	rule := must[*quota.Rule](s)(quota.New(plan, "project", five))
	s.crowd(1, func(ctx context.Context, db *sql.DB, caller int) error {
		for i := range 4 {
			if _, err := projects.Create(ctx, db, project{UserID: 1, Name: fmt.Sprintf("%d of %d", i, caller)}); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			if err := rule.Settle(ctx, db, int64(1)); err != nil {
				return fmt.Errorf("settle: %w", err)
			}
		}
		return nil
	})
	if err := rule.Settle(s.Context(), s.db[0], int64(1)); err != nil {
		s.Fatal(err)
	}
	rows := dbtest.Scan[int](s, s.db[0], "SELECT COUNT(*) FROM project")
	over := dbtest.Scan[int](s, s.db[0], "SELECT COUNT(*) FROM project WHERE `over` <> 0")
	marks := dbtest.Scan[int](s, s.db[0], "SELECT COUNT(*) FROM onerow_quota_mark")
	if rows != 4*len(s.db) || over != rows-atMost || marks != 0 {
		s.Errorf("%d of %d rows are over the quota of %d, %d marks are left", over, rows, atMost, marks)
	}
}

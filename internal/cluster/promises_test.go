//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
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

type file struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

var plan = schema.Plan{Cluster: true, Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "over"}},
	{Name: "screen", Archive: "screen_archive", Owner: "project_id", Label: schema.Label{Column: "name"},
		Parent: schema.Parent{Resource: "project", Column: "project_id"}},
	{Name: "file", Archive: "file_archive", Owner: "user_id", Limits: []schema.Limit{{}}},
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

// Callers on all nodes at once: what one server promises holds, and the nodes end alike.
func TestPromises(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *site){
		"names": names, "keys": keys, "serial": serials, "ordering": streams, "quota": quotas, "limit": limits, "one job": oneJob,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, append(plan.DDL(), effects)...)
			test(t, s)
			s.same()
		})
	}
}

func names(t *testing.T, s *site) {
	projects := must[*repo.Repo[project]](t)(repo.New[project](plan, "project"))
	const rounds = 10
	var won [rounds]atomic.Int64
	s.crowd(2, func(ctx context.Context, db *sql.DB, _ int) error {
		for i := range rounds {
			res, err := projects.Create(ctx, db, project{UserID: 1, Name: fmt.Sprintf("Name %d", i)})
			switch {
			case err == nil && res.Changed:
				won[i].Add(1)
			case !errors.Is(err, repo.ErrNameTaken):
				return fmt.Errorf("create: %w", err)
			}
		}
		return nil
	})
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Errorf("name %d was given %d times", i, n)
		}
	}
}

func keys(t *testing.T, s *site) {
	keys := must[*idempotency.Keys](t)(idempotency.New(idempotency.Config{}))
	const rounds = 15
	s.crowd(2, func(ctx context.Context, db *sql.DB, caller int) error {
		for i := range rounds {
			id := fmt.Sprint(i)
			out, err := idempotency.Do(ctx, db, keys, idempotency.Key{Operation: "charge", ID: id}, func(ctx context.Context, tx *onerow.Tx) (int, error) {
				_, err := tx.ExecContext(ctx, sqlEffect, id, caller)
				return caller, err
			})
			if err != nil {
				return fmt.Errorf("key %s: %w", id, err)
			}
			var who int
			if err := onerow.QueryRow(ctx, db, "SELECT n FROM effect WHERE what = ?", []any{id}, &who); err != nil || who != out.Row {
				return fmt.Errorf("key %s was answered with %d, and done by %d: %w", id, out.Row, who, err)
			}
		}
		return nil
	})
	if n := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM effect"); n != rounds {
		t.Errorf("%d effects of %d keys", n, rounds)
	}
}

func serials(t *testing.T, s *site) {
	series := must[*serial.Series](t)(serial.New("invoice"))
	const rounds = 8
	s.crowd(1, func(ctx context.Context, db *sql.DB, caller int) error {
		for i := range rounds {
			if _, err := series.Claim(ctx, db, fmt.Sprintf("%d of %d", i, caller), 2); err != nil {
				return fmt.Errorf("claim: %w", err)
			}
			if _, err := series.Claim(ctx, db, fmt.Sprintf("%d of all", i), 1); err != nil {
				return fmt.Errorf("claim: %w", err)
			}
		}
		return nil
	})
	found := must[[]serial.Finding](t)(series.Gaps(t.Context(), s.db[0]))
	if len(found) > 0 {
		t.Errorf("not gapless: %v", found)
	}
	res := must[onerow.Result[serial.Claim]](t)(series.Claim(t.Context(), s.db[1], "last", 1))
	if want := int64(len(s.db)*rounds*2 + rounds + 1); res.Row.From != want {
		t.Errorf("the next number is %d, want %d", res.Row.From, want)
	}
}

type total struct{ Sum, Count int64 }

func streams(t *testing.T, s *site) {
	guard := must[*ordering.Guard[total]](t)(ordering.New[total](ordering.Config{Consumer: "c", Mode: ordering.Hold, First: 1}))
	const messages = 12
	apply := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, state *total) error {
		state.Sum += m.Sequence
		state.Count++
		_, err := tx.ExecContext(ctx, sqlEffect, m.Stream, m.Sequence)
		return err
	}
	s.crowd(1, func(ctx context.Context, db *sql.DB, _ int) error { // each message through each node, in an order of its own
		for _, i := range rand.Perm(2 * messages) {
			m := ordering.Message{Stream: fmt.Sprint(i % 2), Sequence: int64(i/2 + 1), Payload: []byte("x")}
			if _, err := guard.Apply(ctx, db, m, apply); err != nil {
				return fmt.Errorf("apply: %w", err)
			}
		}
		return nil
	})
	for _, stream := range []string{"0", "1"} {
		state := must[ordering.Context[total]](t)(guard.Read(t.Context(), s.db[0], stream))
		rows := dbtest.Scan[int64](t, s.db[0], "SELECT COUNT(*) FROM effect WHERE what = ?", stream)
		sum := dbtest.Scan[int64](t, s.db[0], "SELECT SUM(n) FROM effect WHERE what = ?", stream)
		if want := int64(messages * (messages + 1) / 2); rows != messages || sum != want || state.State.Sum != want || state.State.Count != messages {
			t.Errorf("stream %s: %d rows of %d messages, their sum is %d, state %+v", stream, rows, messages, sum, state.State)
		}
	}
}

func quotas(t *testing.T, s *site) {
	projects := must[*repo.Repo[project]](t)(repo.New[project](plan, "project"))
	rule := must[*quota.Rule](t)(quota.New(plan, "project", five))
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
	if err := rule.Settle(t.Context(), s.db[0], int64(1)); err != nil {
		t.Fatal(err)
	}
	rows := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM project")
	over := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM project WHERE `over` <> 0")
	marks := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM onerow_quota_mark")
	if rows != 4*len(s.db) || over != rows-atMost || marks != 0 {
		t.Errorf("%d of %d rows are over the quota of %d, %d marks are left", over, rows, atMost, marks)
	}
}

func limits(t *testing.T, s *site) {
	rule := must[*limit.Rule](t)(limit.New(plan, "file", five))
	files := must[*repo.Repo[file]](t)(repo.New[file](plan, "file", repo.WithLimits(rule)))
	var made, refused atomic.Int64
	s.crowd(2, func(ctx context.Context, db *sql.DB, _ int) error {
		for range 3 {
			_, err := files.Create(ctx, db, file{UserID: 1})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, limit.ErrLimit):
				refused.Add(1)
			default:
				return fmt.Errorf("create: %w", err)
			}
			var n int
			if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM file", nil, &n); err != nil || n > atMost {
				return fmt.Errorf("%d files, %w", n, err)
			}
		}
		return nil
	})
	if made.Load() != atMost || refused.Load() == 0 {
		t.Errorf("%d files were made and %d refused, at most %d are allowed", made.Load(), refused.Load(), atMost)
	}
}

func oneJob(t *testing.T, s *site) {
	projects := must[*repo.Repo[project]](t)(repo.New[project](plan, "project"))
	const rounds = 6
	var ids []int64
	for i := range rounds {
		ids = append(ids, must[onerow.Result[project]](t)(projects.Create(t.Context(), s.db[0], project{UserID: 1, Name: fmt.Sprint(i)})).Row.ID)
	}
	s.crowd(2, func(ctx context.Context, db *sql.DB, _ int) error {
		for _, id := range ids {
			if _, err := projects.Delete(ctx, db, id, repo.Grace(time.Hour)); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
		}
		return nil
	})
	if n := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM onerow_job"); n != rounds {
		t.Errorf("%d jobs of %d deleted rows", n, rounds)
	}
}

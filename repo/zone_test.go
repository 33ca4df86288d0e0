package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	r := newRepos(t)
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		dsn := dbtest.DSN(t, zone)
		db := dbtest.OpenDSN(t, dsn)
		makeTables(t, db)
		var all []crashtest.Workflow
		hide := verb{"delete archived, with grace", archived, func(ctx context.Context, r repos, db *sql.DB) error {
			return second(r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour)))
		}, false, 0}
		for _, v := range append(verbs[:len(verbs):len(verbs)], hide) {
			all = append(all, workflow(v, r, dsn))
		}
		return db, all
	})
}

// visits: times in every type that has a time.
func visits() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "visit", Archive: "visit_archive", Owner: "user_id",
		Columns: []schema.Column{
			{Name: "seen", Type: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"}, {Name: "left_at", Type: "TIMESTAMP(6) NULL"}, {Name: "due", Type: "DATETIME(6) NULL"},
		},
		Indexes: []schema.Index{{Columns: []string{"user_id", "seen"}, Unique: true}},
	}}}
}

type Visit struct {
	ID     int64        `db:"id"`
	UserID int64        `db:"user_id"`
	Seen   time.Time    `db:"seen"`
	Left   *time.Time   `db:"left_at"`
	Due    sql.NullTime `db:"due"`
}

// TestTimestampsInEachZone: what is written to a TIMESTAMP is that moment, and is read as it, in sessions of
// any time zone, in the hour of the year that it reads twice and in that which it does not have, too.
func TestTimestampsInEachZone(t *testing.T) {
	moments := []time.Time{}
	for _, text := range []string{"2026-01-10T12:00:00Z", "2026-03-29T00:30:00Z", "2026-03-29T02:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		moments = append(moments, at)
	}
	byName := zonetest.Clockwork(t, dbtest.Open(t))
	for _, zone := range append([]string{"+00:00", byName}, dbtest.ForeignZones...) {
		t.Run(zone, func(t *testing.T) {
			dsn, ctx := dbtest.DSN(t, dbtest.Zone(zone)), t.Context()
			db := dbtest.OpenDSN(t, dsn)
			if err := migrations.Up(ctx, db); err != nil {
				t.Fatal(err)
			}
			for _, stmt := range visits().DDL() {
				dbtest.Exec(t, db, stmt)
			}
			r := must(repo.New[Visit](visits(), "visit"))
			if err := live.Verify(ctx, db, visits()); err != nil {
				t.Error(err)
			}
			stored := func(what, table string, id int64, want Visit) {
				t.Helper()
				if table != "" {
					var seen, left float64
					if err := onerow.QueryRow(ctx, db, "SELECT UNIX_TIMESTAMP(seen), UNIX_TIMESTAMP(left_at) FROM "+table+" WHERE id = ?", []any{id}, &seen, &left); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if int64(seen) != want.Seen.Unix() || int64(left) != want.Left.Unix() {
						t.Errorf("%s: the table has %v and %v, want %v and %v", what, time.Unix(int64(seen), 0).UTC(), time.Unix(int64(left), 0).UTC(), want.Seen, want.Left)
					}
				}
				want.ID = id
				if d := cmp.Diff(want, must(r.Get(ctx, db, id))); d != "" {
					t.Errorf("%s: %s", what, d)
				}
			}
			for i, at := range moments {
				later := at.Add(time.Microsecond)
				row := Visit{UserID: 1, Seen: at, Left: &later, Due: sql.NullTime{Time: at, Valid: true}}
				var opts []repo.CreateOption
				if i%2 == 1 {
					opts = append(opts, repo.RequestID(fmt.Sprint(i)))
				}
				res, err := r.Create(ctx, db, row, opts...)
				if err != nil {
					t.Errorf("create of %v: %v", at, err)
					continue
				}
				id := res.Row.ID
				stored("create", "visit", id, row)
				var taken *repo.ConflictError
				if _, err := r.Create(ctx, db, row); !errors.As(err, &taken) || taken.HolderID != id {
					t.Errorf("a second one of %v: %v", at, err)
				}
				must(r.Archive(ctx, db, id))
				stored("archive", "visit_archive", id, row)
				must(r.Activate(ctx, db, id))
				stored("activate", "visit", id, row)
				must(r.Delete(ctx, db, id, repo.Grace(time.Hour)))
				must(r.CancelDelete(ctx, db, id))
				stored("cancel", "visit", id, row)
				row.Seen = at.Add(time.Second)
				must(r.Update(ctx, db, id, func(v *Visit) error { v.Seen = row.Seen; return nil }))
				stored("update", "visit", id, row)
			}
			if page := must(r.List(ctx, db, 1, repo.PageOptions{Limit: 50})); len(page.Items) != len(moments) {
				t.Errorf("the list has %d of %d", len(page.Items), len(moments))
			} else {
				for i, row := range page.Items {
					if at := moments[i].Add(time.Second); !row.Seen.Equal(at) {
						t.Errorf("the list has %v, want %v", row.Seen, at)
					}
				}
			}
		})
	}
}

// TestTimestampAsText: text is another moment in each session, and no list is by a TIMESTAMP.
func TestTimestampAsText(t *testing.T) {
	type Text struct {
		ID     int64  `db:"id"`
		UserID int64  `db:"user_id"`
		Seen   string `db:"seen"`
	}
	if _, err := repo.New[Text](visits(), "visit"); err == nil || !strings.Contains(err.Error(), "TIMESTAMP") {
		t.Errorf("a string: %v", err)
	}
	r, ctx, db := must(repo.New[Visit](visits(), "visit")), t.Context(), dbtest.Open(t)
	for name, o := range map[string]repo.PageOptions{
		"a filter": {Where: map[string]any{"seen": time.Now()}}, "an order": {Sort: repo.Sort{Column: "seen"}},
	} {
		if _, err := r.List(ctx, db, 1, o); !errors.Is(err, repo.ErrUnsupported) || !strings.Contains(err.Error(), "TIMESTAMP") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

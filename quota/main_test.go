package quota_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// order is a way in which rows may be ordered.
type order struct {
	by         string
	descending bool
}

var orders = []order{{"", false}, {"", true}, {"position", false}, {"position", true}}

func (o order) String() string {
	return fmt.Sprintf("by=%s,descending=%v", cmp.Or(o.by, "id"), o.descending)
}

func (o order) plan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id",
		Quota: schema.Quota{Flag: "is_over_quota", By: o.by, Descending: o.descending},
		// A fraction: as a number on the way through the client it would not come back the same.
		Columns: []schema.Column{{Name: "position", Type: "FLOAT NOT NULL DEFAULT 0"}},
	}}}
}

// rule counts by the user's own column; NULL means no limit.
func (o order) rule(t testing.TB) *quota.Rule {
	t.Helper()
	r, err := quota.New(o.plan(), "project", quota.LimitQuery("SELECT projects FROM user WHERE id = ?"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var levels = racetest.Levels()

// open makes a schema with the toolkit's tables, the plan's and the users'.
func open(t testing.TB, o order, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	for _, stmt := range append(o.plan().DDL(), "CREATE TABLE user (id BIGINT PRIMARY KEY, projects INT NULL) ENGINE=InnoDB") {
		dbtest.Exec(t, db, stmt)
	}
	return db, dsn
}

const sqlAdd = `INSERT INTO project (user_id, position, created_at, updated_at) VALUES (?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`

// add makes rows of a user with these positions.
func add(t testing.TB, db onerow.DB, user int, positions ...float32) {
	t.Helper()
	for _, p := range positions {
		dbtest.Exec(t, db, sqlAdd, user, p)
	}
}

func setLimit(t testing.TB, db onerow.DB, user int, limit any) {
	t.Helper()
	dbtest.Exec(t, db, "REPLACE INTO user (id, projects) VALUES (?, ?)", user, limit)
}

func recalculate(t testing.TB, db onerow.DB, r *quota.Rule, user int) quota.Result {
	t.Helper()
	res, err := r.Recalculate(t.Context(), db, user)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func mark(t testing.TB, db onerow.DB, user int) {
	t.Helper()
	if err := quota.Mark(t.Context(), db, "project", user); err != nil {
		t.Fatal(err)
	}
}

// flags holds the flags of a user's rows against the rule, sorted and counted in Go.
func flags(ctx context.Context, db onerow.DB, o order, user int) error {
	limit := sql.NullInt64{}
	if err := onerow.QueryRow(ctx, db, "SELECT projects FROM user WHERE id = ?", []any{user}, &limit); err != nil {
		return err
	}
	type row struct {
		id, version int64
		position    float64
		over        int
	}
	var rows []row
	// A FLOAT travels with six digits, and then two may look alike; a DOUBLE travels whole.
	err := onerow.Query(ctx, db, "SELECT id, version, position + 0e0, is_over_quota FROM project WHERE user_id = ?", []any{user}, func(r *sql.Rows) error {
		var one row
		err := r.Scan(&one.id, &one.version, &one.position, &one.over)
		rows = append(rows, one)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b row) int {
		c := cmp.Compare(a.id, b.id)
		if o.by == "position" {
			c = cmp.Or(cmp.Compare(a.position, b.position), c)
		}
		if o.descending {
			return -c
		}
		return c
	})
	for i, r := range rows {
		want := 0
		if limit.Valid && limit.Int64 >= 0 && int64(i) >= limit.Int64 {
			want = 1
		}
		if r.over != want {
			return fmt.Errorf("user %d: row %d (id %d, position %v) of %d has the flag %d, limit %v", user, i, r.id, r.position, len(rows), r.over, limit)
		}
		if r.version != 1 {
			return fmt.Errorf("a flag bumped the version to %d", r.version)
		}
	}
	return nil
}

func wantFlags(t testing.TB, db onerow.DB, o order, user int) {
	t.Helper()
	if err := flags(t.Context(), db, o, user); err != nil {
		t.Fatal(err)
	}
}

func marks(t testing.TB, db onerow.DB) int {
	return dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_quota_mark")
}

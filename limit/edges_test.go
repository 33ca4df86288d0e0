package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// fixed is a maximum that is the same for all.
func fixed(n int) func(context.Context, *onerow.Tx, any) (int, error) {
	return func(context.Context, *onerow.Tx, any) (int, error) { return n, nil }
}

// TestOwnerIsParent: the owner is the row above, and stays when a hidden row of its goes alone.
func TestOwnerIsParent(t *testing.T) {
	p := schema.Plan{Resources: []schema.Resource{
		{Name: "project", Owner: "user_id"},
		{Name: "doc", Archive: "doc_archive", Owner: "project_id", Parent: schema.Parent{Resource: "project", Column: "project_id"}, Limits: []schema.Limit{{}}},
	}}
	type Doc struct {
		ID        int64 `db:"id"`
		ProjectID int64 `db:"project_id"`
	}
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	must(0, migrations.Up(t.Context(), db))
	for _, stmt := range p.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	ctx := t.Context()
	rule := must(limit.New(p, "doc", fixed(1)))
	project := must(must(repo.New[Project](p, "project")).Create(ctx, db, Project{UserID: 1})).Row.ID
	docs := must(repo.New[Doc](p, "doc", rule))
	must(docs.Delete(ctx, db, must(docs.Create(ctx, db, Doc{ProjectID: project})).Row.ID, repo.Grace(time.Microsecond)))
	if err := must(cascade.NewWorker(db, p, cascade.Config{})).Drain(ctx); err != nil {
		t.Fatal(err)
	}
	must(docs.Create(ctx, db, Doc{ProjectID: project}))
}

// TestManyExpired: more reservations are over than one statement deletes.
func TestManyExpired(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 10, 150)
	for i := range 150 {
		must(s.bytes.Reserve(ctx, db, fmt.Sprint(i), 1, time.Hour, 7))
	}
	dbtest.Exec(t, db, "UPDATE onerow_reservation SET expires_at = expires_at - INTERVAL 1 DAY")
	must(s.create(ctx, db, 7, "a", 120))
	s.wantRoom(t, db, 7)
}

// TestOtherRule: two rules of one limit are the same; a reservation of another limit is refused.
func TestOtherRule(t *testing.T) {
	db, _ := open(t)
	s, other, ctx := newShop(t), newShop(t), t.Context()
	s.allow(t, db, 7, 10, 100)
	must(other.bytes.Reserve(ctx, db, "up", 60, time.Hour, 7))
	must(s.files.Create(ctx, db, File{UserID: 7, Name: "a", Bytes: 60}, repo.UseReservation(other.bytes, "up")))
	s.wantRoom(t, db, 7)
	if _, err := s.files.Create(ctx, db, File{UserID: 7, Name: "b"}, repo.UseReservation(s.notes, "up")); !errors.Is(err, repo.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// TestOtherHands: values that no verb writes hold nothing up, and what a column cannot hold is refused.
func TestOtherHands(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 10, 100)
	f, g := must(s.create(ctx, db, 7, "a", 10)), must(s.create(ctx, db, 7, "b", 10))
	dbtest.Exec(t, db, "UPDATE file SET bytes = IF(name = 'a', 2305843009213693952, -1)")
	must(s.files.Update(ctx, db, g.ID, func(f *File) error { f.Name = "c"; return nil }))
	must(s.files.Archive(ctx, db, f.ID))
	must(s.files.Delete(ctx, db, f.ID))
	must(0, s.bytes.Recount(ctx, db, 7))
	if state := must(s.bytes.Look(ctx, db, 7)); state != (limit.State{Max: 100, Known: true}) {
		t.Errorf("%+v", state)
	}
	for _, stmt := range tenants.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	docs, pages := must(limit.New(tenants, "docs", fixed(9))), must(limit.New(tenants, "pages", fixed(-1)))
	r := must(repo.NewOf[wide, string, Workspace](tenants, "doc", docs, pages))
	for _, n := range []uint64{1 << 32, 1 << 63} { // the column is an INT UNSIGNED
		if _, err := r.Create(ctx, db, wide{ID: "a", Tenant: 1, Workspace: "north", Pages: n}); !errors.Is(err, limit.ErrAmount) {
			t.Errorf("%d: %v", n, err)
		}
	}
	must(r.Create(ctx, db, wide{ID: "a", Tenant: 1, Workspace: "north", Pages: 1<<32 - 1}))
}

type wide struct {
	ID        string `db:"id"`
	Tenant    int64  `db:"tenant_id"`
	Workspace string `db:"workspace"`
	Pages     uint64 `db:"pages"`
}

// TestManyLimits: each has to be counted first, one after the other; who takes without Follow is told.
func TestManyLimits(t *testing.T) {
	db, _ := open(t)
	p := schema.Plan{Resources: []schema.Resource{plan.Resources[0]}}
	p.Resources[0].Limits = nil
	for i := range 12 {
		p.Resources[0].Limits = append(p.Resources[0].Limits, schema.Limit{Name: fmt.Sprint("l", i)})
	}
	var rules []*limit.Rule
	for i := range 12 {
		rules = append(rules, must(limit.New(p, fmt.Sprint("l", i), fixed(5))))
	}
	files := must(repo.New[File](p, "file", rules...))
	must(files.Create(t.Context(), db, File{UserID: 1, Name: "a"}))
	take := func() error {
		return onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return rules[0].Take(ctx, tx, 1, 2) })
	}
	if err := take(); !errors.Is(err, limit.ErrFollow) {
		t.Errorf("%v", err)
	}
	must(0, limit.Follow(t.Context(), db, take))
}

// TestLookUncounted: what is not known is not made up.
func TestLookUncounted(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	for _, maximum := range []any{nil, 5} {
		s.allow(t, db, 7, maximum, nil)
		f := must(s.create(ctx, db, 7, "a", 10))
		dbtest.Exec(t, db, "DELETE FROM onerow_limit")
		must(s.files.Archive(ctx, db, f.ID))
		s.allow(t, db, 7, maximum, nil)
		if state := must(s.number.Look(ctx, db, 7)); state.Known {
			t.Errorf("%+v", state)
		}
		must(s.create(ctx, db, 7, fmt.Sprint(maximum), 0))
		s.wantRoom(t, db, 7)
		dbtest.Exec(t, db, "DELETE FROM file")
		dbtest.Exec(t, db, "DELETE FROM onerow_limit")
	}
}

// TestUpdateAmount: what is no amount is refused by an update as by a create, whatever the row counted for before.
func TestUpdateAmount(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 10, nil)
	for _, c := range []struct{ before, after int64 }{{0, -1}, {5, -1}, {limit.MaxAmount, limit.MaxAmount + 1}, {5, limit.MaxAmount + 1}} {
		row := must(s.create(ctx, db, 7, fmt.Sprint(c), c.before))
		res, err := s.files.Update(ctx, db, row.ID, func(f *File) error { f.Bytes = c.after; return nil })
		if !errors.Is(err, limit.ErrAmount) {
			t.Errorf("%d becomes %d: %+v, %v", c.before, c.after, res.Row, err)
		}
	}
}

// TestLargeSums: what is in use is counted exactly, active, hidden and reserved, or it is an error; no sql_mode and
// no sign of the column changes that.
func TestLargeSums(t *testing.T) {
	for _, mode := range []string{"@@GLOBAL.sql_mode", "''", "'STRICT_ALL_TABLES,NO_UNSIGNED_SUBTRACTION'"} {
		db, _ := open(t, dbtest.Param("sql_mode", url.QueryEscape(mode)))
		s, ctx := newShop(t), t.Context()
		for user, typ := range []string{"BIGINT", "BIGINT UNSIGNED"} {
			dbtest.Exec(t, db, "ALTER TABLE file MODIFY bytes "+typ+" NOT NULL DEFAULT 0")
			dbtest.Exec(t, db, "ALTER TABLE file_archive MODIFY bytes "+typ+" NOT NULL DEFAULT 0")
			s.allow(t, db, int64(user), nil, nil)
			inUse := func(when string, want int64) {
				t.Helper()
				for _, counted := range []string{"before", "after"} {
					if state := must(s.bytes.Look(ctx, db, user)); state != (limit.State{Used: want, Max: -1, Known: true}) {
						t.Errorf("%s, %s, %s a count: %+v, not %d", mode, when, counted, state, want)
					}
					must(0, s.bytes.Recount(ctx, db, user))
				}
			}
			a := must(s.create(ctx, db, int64(user), "a", limit.MaxAmount))
			b := must(s.create(ctx, db, int64(user), "b", limit.MaxAmount-9))
			inUse("two rows", 2*limit.MaxAmount-9)
			must(s.files.Delete(ctx, db, a.ID, repo.Grace(time.Hour)))
			must(s.bytes.Reserve(ctx, db, "key", 8, time.Hour, user))
			inUse("hidden and reserved", 2*limit.MaxAmount-1)
			for _, joined := range []bool{false, true} {
				dbtest.Exec(t, db, "UPDATE onerow_limit SET counted_at = NULL WHERE name = 'file.bytes'")
				create := func(_ context.Context, db onerow.DB) error {
					_, err := s.create(ctx, db, int64(user), "c", 2)
					return err
				}
				err := create(ctx, db)
				if joined {
					err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return create(ctx, tx) })
				}
				if !errors.Is(err, limit.ErrLimit) {
					t.Errorf("%s, one too many, joined %v: %v", mode, joined, err)
				}
			}
			inUse("refused", 2*limit.MaxAmount-1)

			// By other hands, a row counts for what giving it back gives.
			for _, bytes := range [][]uint64{{math.MaxInt64}, {math.MaxUint64, 1 << 63, math.MaxInt64}}[user] {
				dbtest.Exec(t, db, "UPDATE file SET bytes = ? WHERE id = ?", bytes, b.ID)
				must(0, s.bytes.Recount(ctx, db, user))
				inUse(fmt.Sprint("a row of ", bytes), 2*limit.MaxAmount+8)
			}
			insert := fmt.Sprintf("INSERT INTO file (user_id, name, name_key, stem_key, bytes, created_at, updated_at) VALUES (%d, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", user)
			dbtest.Exec(t, db, insert, "d", "d", "d", int64(math.MaxInt64))
			if err := s.bytes.Recount(ctx, db, user); !errors.Is(err, limit.ErrAmount) {
				t.Errorf("%s, more than can be counted: %v", mode, err)
			}
			if _, err := s.create(ctx, db, int64(user), "e", 1); err == nil {
				t.Errorf("%s: a row was made where the count is an error", mode)
			}
			must(s.files.Archive(ctx, db, b.ID))
			must(0, s.bytes.Recount(ctx, db, user))
			inUse("it was archived", 2*limit.MaxAmount+8)
		}
	}
}

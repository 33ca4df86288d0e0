package waiting_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/internal/recount/waiting"
	"github.com/onerow/onerow/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func open(t *testing.T) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db, dsn
}

// unlimited is the maximum of an owner without one, as package limit stores it.
const unlimited = "1 << 61"

// TestLimits: owners of each kind, in rows of their own and in many.
func TestLimits(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	if all, err := waiting.Limits(ctx, db, 10); err != nil || len(all) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	dbtest.Exec(t, db, `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES
 ('file', 'free', 0, 4, 5, 1, UTC_TIMESTAMP(6)), ('file', 'full', 0, 0, 5, 1, UTC_TIMESTAMP(6) - INTERVAL 2 HOUR), ('file', 'over', 0, -3, 5, 1, UTC_TIMESTAMP(6)),
 ('file', 'none', 0, 0, 0, 1, UTC_TIMESTAMP(6)), ('file', 'any', 0, (`+unlimited+`) - 7, `+unlimited+`, 1, UTC_TIMESTAMP(6)),
 ('file', 'spread', 0, 0, 9, 1, UTC_TIMESTAMP(6)), ('file', 'spread', 1, 2, 0, 1, '9999-12-31'),
 ('file', 'spreadfull', 0, 0, 9, 1, UTC_TIMESTAMP(6)), ('file', 'spreadfull', 1, 0, 0, 1, '9999-12-31'),
 ('noted', 'spread', 0, 2, 9, 1, NULL), ('noted', 'spread', 1, 2, 0, 1, '9999-12-31'),
 ('File', 'a', 0, 1, 1, 1, UTC_TIMESTAMP(6))`)
	if err := errors.Join(recount.Limit(ctx, db, "file", "free"), recount.Limit(ctx, db, "file", "new"), recount.Limit(ctx, db, "other", "new")); err != nil {
		t.Fatal(err)
	}
	all, err := waiting.Limits(ctx, db, 1000)
	if err != nil {
		t.Fatal(err)
	}
	ages := map[string]time.Duration{}
	for i := range all {
		ages[all[i].Name], all[i].Counted = all[i].Counted, 0
	}
	want := []waiting.Limit{{Name: "File", Owners: 1}, {Name: "file", Owners: 8, Full: 4, Recount: 2}, {Name: "noted", Owners: 1, Recount: 1}, {Name: "other", Owners: 1, Recount: 1}}
	if !slices.Equal(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
	if ages["file"] < 2*time.Hour || ages["file"] > 3*time.Hour || ages["File"] > time.Hour || ages["other"] != 0 || ages["noted"] != 0 {
		t.Errorf("%v", ages)
	}
	// At its end nothing more is read.
	if all, err := waiting.Limits(ctx, db, 1); err != nil || all[1].Owners != 1 || all[1].Recount != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestExpired: reservations whose time is over, of each limit, and since when.
func TestExpired(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	dbtest.Exec(t, db, `INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at) VALUES
 ('file', '1', 'a', 1, UTC_TIMESTAMP(6) - INTERVAL 1 SECOND), ('file', '1', 'b', 1, UTC_TIMESTAMP(6) - INTERVAL 1 DAY), ('file', '2', 'c', 1, UTC_TIMESTAMP(6) + INTERVAL 1 DAY),
 ('later', '1', 'a', 1, UTC_TIMESTAMP(6) + INTERVAL 1 DAY)`)
	all, err := waiting.Expired(ctx, db, 1000)
	if err != nil || len(all) != 2 || all[0].Oldest < 24*time.Hour || all[0].Oldest > 25*time.Hour {
		t.Fatalf("%+v, %v", all, err)
	}
	all[0].Oldest = 0
	if want := []waiting.Reservations{{Name: "file", Expired: 2}, {Name: "later"}}; !slices.Equal(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
	if all, err := waiting.Expired(ctx, db, 1); err != nil || all[0].Expired != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestQuotas: how many marks there are, and the first one's age.
func TestQuotas(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	if marks, oldest, err := waiting.Quotas(ctx, db, 10); err != nil || marks != 0 || oldest != 0 {
		t.Errorf("%d, %v, %v", marks, oldest, err)
	}
	for range 3 {
		if err := recount.Quota(ctx, db, "file", "a"); err != nil {
			t.Fatal(err)
		}
	}
	dbtest.Exec(t, db, "UPDATE onerow_quota_mark SET created_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR ORDER BY id LIMIT 1")
	marks, oldest, err := waiting.Quotas(ctx, db, 1000)
	if err != nil || marks != 3 || oldest < time.Hour || oldest > 2*time.Hour {
		t.Errorf("%d, %v, %v", marks, oldest, err)
	}
	if marks, _, err := waiting.Quotas(ctx, db, 2); err != nil || marks != 2 {
		t.Errorf("%d, %v", marks, err)
	}
}

// TestCosts: with many owners, marks and reservations as much is read as with few, up to the end.
func TestCosts(t *testing.T) {
	filled := func(rows int) string {
		db, dsn := open(t)
		for _, stmt := range []string{
			"INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) " + cost.Numbers(rows) + "SELECT 'file', 1000 + i, 0, 4, 5, 1, UTC_TIMESTAMP(6) FROM numbers",
			"INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) " + cost.Numbers(rows) + "SELECT 'other', 1000 + i, 0, 4, 5, 1, UTC_TIMESTAMP(6) FROM numbers",
			"INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at) " + cost.Numbers(rows) + "SELECT 'file', 1000 + i, 'k', 10, UTC_TIMESTAMP(6) - INTERVAL 1 DAY FROM numbers",
			"INSERT INTO onerow_quota_mark (resource, owner, created_at) " + cost.Numbers(rows) + "SELECT 'file', 1000 + i, UTC_TIMESTAMP(6) FROM numbers",
		} {
			dbtest.Exec(t, db, stmt)
		}
		dbtest.Exec(t, db, "ANALYZE TABLE onerow_limit, onerow_reservation, onerow_quota_mark")
		return dsn
	}
	c := cost.Compare(t, filled(cost.Few), filled(cost.Many(t)), 200)
	c.Call("limits", func(ctx context.Context, db *sql.DB) error {
		all, err := waiting.Limits(ctx, db, 10)
		if err == nil && len(all) != 2 {
			err = fmt.Errorf("%+v", all)
		}
		return err
	})
	c.Call("expired", func(ctx context.Context, db *sql.DB) error {
		all, err := waiting.Expired(ctx, db, 10)
		if err == nil && (len(all) != 1 || all[0].Expired != 10) {
			err = fmt.Errorf("%+v", all)
		}
		return err
	})
	c.Call("quotas", func(ctx context.Context, db *sql.DB) error {
		_, _, err := waiting.Quotas(ctx, db, 10)
		return err
	})
	c.Source(".", nil)
}

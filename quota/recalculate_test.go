package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// TestFlags moves the limit of one user through everything that it may be, in all orders and with all
// settings of the driver that change what it answers.
func TestFlags(t *testing.T) {
	settings := []dbtest.Option{dbtest.Param("clientFoundRows", "true"), dbtest.Param("interpolateParams", "false"),
		dbtest.Param("parseTime", "false"), dbtest.Isolation(sql.LevelRepeatableRead)}
	for i, o := range orders {
		t.Run(o.String(), func(t *testing.T) {
			db, _ := open(t, o, settings[i])
			r := o.rule(t)
			add(t, db, 7, 0.1, 0.3, 0.2, 0.3, -4, 0.3, 1e9, 0.1)
			add(t, db, 8, 1, 2, 3)
			setLimit(t, db, 8, 1)
			for n, limit := range []any{3, 2, 3, 0, 1, nil, 7, 8, 9, -1, 5, -7, 0, 100} {
				setLimit(t, db, 7, limit)
				mark(t, db, 7)
				before := dbtest.Scan[int](t, db, "SELECT COALESCE(SUM(is_over_quota), 0) FROM project")
				res := recalculate(t, db, r, 7)
				wantFlags(t, db, o, 7)
				after := dbtest.Scan[int](t, db, "SELECT COALESCE(SUM(is_over_quota), 0) FROM project")
				if want := max(before-after, after-before); res != (quota.Result{Changed: want, Marks: 1, Generation: int64(n + 1)}) {
					t.Fatalf("limit %v: %+v, want %d changed", limit, res, want)
				}
				if res := recalculate(t, db, r, 8); n == 0 != (res.Changed == 2) {
					t.Fatalf("user 8: %+v", res)
				}
				dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET generation = ? WHERE owner = '7'", n+1)
			}
			wantFlags(t, db, o, 8)
		})
	}
}

// TestOwnersOfOtherKinds: text and bytes own rows as well, and the limit gets them as the sweep would.
func TestOwnersOfOtherKinds(t *testing.T) {
	db, _ := open(t, order{})
	dbtest.Exec(t, db, "ALTER TABLE project MODIFY user_id VARBINARY(80) NOT NULL")
	var got []any
	plan := order{}.plan()
	plan.Resources[0].OwnerType = "VARBINARY(80)"
	r, err := quota.New(plan, "project", func(_ context.Context, _ *onerow.Tx, owner any) (int, error) {
		got = append(got, owner)
		return 1, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	type tenant string
	for _, owner := range []any{tenant("o'brien, 50%"), []byte{0, 255, ','}} {
		for range 3 {
			dbtest.Exec(t, db, sqlAdd, owner, 0)
		}
		if err := quota.Mark(t.Context(), db, "project", owner); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := quota.NewSweeper(db, quota.Config{Recheck: -1}, r).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COALESCE(SUM(is_over_quota), 0) FROM project"); n != 4 || len(got) != 2 || string(got[0].([]byte)) != "o'brien, 50%" {
		t.Fatalf("%d rows over, owners %q", n, got)
	}
	if _, err := r.Recalculate(t.Context(), db, nil); !errors.Is(err, onerow.ErrInvalidKey) {
		t.Fatal(err)
	}
	if err := quota.Mark(t.Context(), db, "project", 1.5); !errors.Is(err, onerow.ErrInvalidKey) {
		t.Fatal(err)
	}
}

func TestNewRefuses(t *testing.T) {
	plan := order{}.plan()
	limit := quota.LimitQuery("SELECT 1")
	if _, err := quota.New(plan, "screen", limit); !errors.Is(err, schema.ErrUnknownResource) {
		t.Error(err)
	}
	if _, err := quota.New(schema.Plan{}, "project", limit); !errors.Is(err, schema.ErrInvalidPlan) {
		t.Error(err)
	}
	if _, err := quota.New(plan, "project", nil); err == nil {
		t.Error("a rule without a limit")
	}
	plan.Resources[0].Quota = schema.Quota{}
	if _, err := quota.New(plan, "project", limit); !errors.Is(err, quota.ErrNoQuota) {
		t.Error(err)
	}
}

// TestLimitFails: the marks stay, nothing is written; an owner who is gone settles its marks.
func TestLimitFails(t *testing.T) {
	db, _ := open(t, order{})
	add(t, db, 7, 1, 2)
	mark(t, db, 7)
	res := recalculate(t, db, order{}.rule(t), 7) // there is no such user
	if res.Marks != 1 || res.Changed != 0 {
		t.Fatalf("%+v", res)
	}
	mark(t, db, 7)
	boom := errors.New("boom")
	r, err := quota.New(order{}.plan(), "project", func(context.Context, *onerow.Tx, any) (int, error) { return 0, boom })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recalculate(t.Context(), db, 7); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if err := r.Settle(t.Context(), db, 7); !errors.Is(err, boom) || marks(t, db) != 1 {
		t.Fatal(err)
	}
	bad, err := quota.New(order{}.plan(), "project", quota.LimitQuery("SELECT nonsense FROM user WHERE id = ?"))
	if err != nil {
		t.Fatal(err)
	}
	var my *mysql.MySQLError
	if _, err := bad.Recalculate(t.Context(), db, 7); !errors.As(err, &my) || !strings.Contains(err.Error(), "owner 7 of project") {
		t.Fatal(err)
	}
}

// TestStatements holds the documented counts, which do not grow with rows that are right.
func TestStatements(t *testing.T) {
	for _, o := range orders {
		t.Run(o.String(), func(t *testing.T) {
			plain, dsn := open(t, o)
			db, c := racetest.Counted(t, dsn)
			r := o.rule(t)
			want := func(what string, n int, call func() error) {
				t.Helper()
				log, err := crashtest.Count(c, call)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if len(log) != n {
					t.Errorf("%s: %d statements, want %d:\n%s", what, len(log), n, log)
				}
			}
			again := func() error { _, err := r.Recalculate(t.Context(), db, 7); return err }
			for round := range 2 {
				for i := range 30 + 300*round {
					add(t, plain, 7, float32(i))
				}
				setLimit(t, plain, 7, 20)
				recalculate(t, plain, r, 7)
				const inTx = 2 // BEGIN, COMMIT
				want("nothing is wrong", inTx+5, again)
				setLimit(t, plain, 7, nil)
				recalculate(t, plain, r, 7)
				want("nothing is wrong, no limit", inTx+4, again)
				setLimit(t, plain, 7, 21)
				recalculate(t, plain, r, 7)
				setLimit(t, plain, 7, 20)
				mark(t, plain, 7)
				want("one flag, one mark", inTx+8, again)
				want("Settle without a mark", 1, func() error { return r.Settle(t.Context(), db, 7) })
				for range 30 {
					mark(t, plain, 7)
				}
				setLimit(t, plain, 7, 0)
				want("Settle, 20 flags, 30 marks, all are over", 1+inTx+7, func() error { return r.Settle(t.Context(), db, 7) })
				want("Mark", 1, func() error { return quota.Mark(t.Context(), db, "project", 7) })
				sweeper := quota.NewSweeper(db, quota.Config{}, r)
				want("a sweep of one mark, and a look at the owner", 2+1+inTx+6+inTx+2, func() error { _, err := sweeper.RunOnce(t.Context()); return err })
				want("a sweep without work", 1, func() error { _, err := sweeper.RunOnce(t.Context()); return err })
				wantFlags(t, plain, o, 7)
			}
		})
	}
}

// TestRoundTrips holds how many a call takes where statements travel together.
func TestRoundTrips(t *testing.T) {
	o := orders[0]
	plain, dsn := open(t, o)
	db, c := racetest.CountedTogether(t, dsn)
	r := o.rule(t)
	for i := range 30 {
		add(t, plain, 7, float32(i))
	}
	setLimit(t, plain, 7, 20)
	again := func() error { _, err := r.Recalculate(t.Context(), db, 7); return err }
	racetest.RoundTrips(t, c, "ten flags", 5, again)
	racetest.RoundTrips(t, c, "nothing is wrong", 5, again)
	setLimit(t, plain, 7, 21)
	mark(t, plain, 7)
	racetest.RoundTrips(t, c, "one flag, one mark", 5, again)
	setLimit(t, plain, 7, nil)
	racetest.RoundTrips(t, c, "no limit", 4, again)
	wantFlags(t, plain, o, 7)
}

// TestManyMarksAndFlags: chunks, and more than one transaction takes on.
func TestManyMarksAndFlags(t *testing.T) {
	o := order{by: "position", descending: true}
	db, dsn := open(t, o, dbtest.Isolation(sql.LevelRepeatableRead))
	r := o.rule(t)
	const digits = `(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)`
	thousands := func(n int) string {
		return fmt.Sprintf(` FROM %[1]s a, %[1]s b, %[1]s c, %[1]s d, %[1]s e WHERE a.d + 10*b.d + 100*c.d + 1000*d.d + 10000*e.d < %[2]d`, digits, n)
	}
	dbtest.Exec(t, db, `INSERT INTO onerow_quota_mark (resource, owner, created_at) SELECT 'project', '7', UTC_TIMESTAMP(6)`+thousands(11_500))
	dbtest.Exec(t, db, `INSERT INTO project (user_id, position, created_at, updated_at) SELECT 7, RAND(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)`+thousands(12_300))
	setLimit(t, db, 7, 40)
	counted, c := racetest.Counted(t, dsn)
	log, err := crashtest.Count(c, func() error {
		res, err := r.Recalculate(t.Context(), counted, 7)
		if res.Changed != 12_260 || res.Marks != 11_501 || res.Generation != 3 {
			t.Errorf("%+v", res)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Three transactions: 10,000 flags, then the other 2,260 with 10,000 marks, then the marks that are left
	// and one that says so.
	if want := 2 + 5 + 10 + 1 + (2 + 5 + 3 + 10 + 1 + 1) + (2 + 5 + 2 + 1); len(log) != want {
		t.Errorf("%d statements, want %d:\n%s", len(log), want, log)
	}
	wantFlags(t, db, o, 7)
	if n := marks(t, db); n != 0 {
		t.Errorf("%d marks left", n)
	}

	// In the caller's transaction the rest is left, with a mark.
	setLimit(t, db, 7, nil)
	if err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := r.Recalculate(ctx, tx, 7)
		if res.Changed != 10_000 || !res.Postponed {
			t.Errorf("joined: %+v", res)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if n := marks(t, db); n != 1 {
		t.Fatalf("%d marks", n)
	}
	if err := r.Settle(t.Context(), db, 7); err != nil {
		t.Fatal(err)
	}
	wantFlags(t, db, o, 7)
}

// TestWritesLockNothingElse: the writes use the primary key, however long their lists are. So while a
// recalculation's transaction is still open, marks of the same owner and of others are appended, and rows are
// made, without a wait.
func TestWritesLockNothingElse(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, order{}, dbtest.Isolation(level), dbtest.Param("innodb_lock_wait_timeout", "1"))
			r := order{}.rule(t)
			for user := 6; user <= 8; user++ {
				setLimit(t, db, user, 2)
				add(t, db, user, 1, 2, 3, 4, 5, 6, 7, 8)
				for range 40 {
					mark(t, db, user)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				res, err := r.Recalculate(ctx, tx, 7)
				if err != nil || res.Changed != 6 || res.Marks != 40 {
					return fmt.Errorf("%+v: %w", res, err)
				}
				for user := 5; user <= 9; user++ {
					mark(t, db, user)
					add(t, db, user, 9)
				}
				dbtest.Exec(t, db, "UPDATE project SET version = version + 1 WHERE id = 1") // of user 6
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

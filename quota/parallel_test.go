package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
)

// TestConverges: 16 goroutines create, delete and move rows and change limits, each with a mark in its
// transaction; recalculations and sweeps of three sweepers run beside them. After the last sweep every flag
// is as a sort in Go says.
func TestConverges(t *testing.T) {
	for _, level := range levels {
		for _, o := range orders {
			t.Run(fmt.Sprintf("%s/%s", level, o), func(t *testing.T) {
				db, _ := open(t, o, dbtest.Isolation(level))
				r := o.rule(t)
				const users = 3
				for user := range users {
					setLimit(t, db, user, 3)
				}
				var wg sync.WaitGroup
				for g := range 16 {
					rnd := rand.New(rand.NewPCG(uint64(g), 1))
					wg.Go(func() {
						for range 25 {
							user := rnd.IntN(users)
							if err := mutate(t.Context(), db, rnd, user); err != nil {
								t.Errorf("mutation: %v", err)
								return
							}
							var err error
							switch rnd.IntN(3) {
							case 0:
								err = r.Settle(t.Context(), db, user)
							case 1:
								_, err = r.Recalculate(t.Context(), db, user)
							}
							if err != nil {
								t.Errorf("recalculation: %v", err)
								return
							}
						}
					})
				}
				ctx, stop := context.WithCancel(t.Context())
				var sweeps sync.WaitGroup
				for range 3 {
					s := quota.NewSweeper(db, quota.Config{Batch: 2, Every: time.Millisecond, RecheckEvery: time.Millisecond, Log: slog.New(slog.DiscardHandler)}, r)
					sweeps.Go(func() {
						if err := s.Run(ctx); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				stop()
				sweeps.Wait()
				s := quota.NewSweeper(db, quota.Config{Batch: users + 1, Recheck: -1}, r)
				for more := true; more; { // a batch of marks may all be of one owner
					res, err := s.RunOnce(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					more = res.More
				}
				if n := marks(t, db); n != 0 {
					t.Errorf("%d marks left", n)
				}
				for user := range users {
					if err := flags(t.Context(), db, o, user); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// mutate is what an application does to a user's rows.
func mutate(ctx context.Context, db *sql.DB, rnd *rand.Rand, user int) error {
	kind, position, limit := rnd.IntN(6), rnd.Float32(), sql.NullInt64{Int64: rnd.Int64N(8) - 1, Valid: rnd.IntN(9) > 0}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		var err error
		switch kind {
		case 0, 1, 2:
			_, err = tx.ExecContext(ctx, sqlAdd, user, position)
		case 3, 4:
			var id int64
			err = onerow.QueryRow(ctx, tx, "SELECT id FROM project WHERE user_id = ? ORDER BY RAND() LIMIT 1", []any{user}, &id)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				return nil
			case err != nil:
			case kind == 3:
				_, err = tx.ExecContext(ctx, "DELETE FROM project WHERE id = ?", id)
			default:
				_, err = tx.ExecContext(ctx, "UPDATE project SET position = ? WHERE id = ?", position, id)
			}
		default:
			_, err = tx.ExecContext(ctx, "UPDATE user SET projects = ? WHERE id = ?", limit, user)
		}
		if err != nil {
			return err
		}
		return quota.Mark(ctx, tx, "project", user)
	})
}

// TestSlowRecalculation: one that has read its limit and then takes its time cannot undo what a newer one
// did, for the newer one waits for it.
func TestSlowRecalculation(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, order{}, dbtest.Isolation(level))
			add(t, db, 7, 1, 2, 3, 4)
			setLimit(t, db, 7, 3)
			entered, release := make(chan bool), make(chan bool)
			fast := quota.LimitQuery("SELECT projects FROM user WHERE id = ?")
			slow, err := quota.New(order{}.plan(), "project", func(ctx context.Context, tx *onerow.Tx, owner any) (int, error) {
				limit, err := fast(ctx, tx, owner)
				entered <- true
				<-release
				return limit, err
			})
			if err != nil {
				t.Fatal(err)
			}
			results := make(chan quota.Result, 2)
			run := func(r *quota.Rule) {
				res, err := r.Recalculate(t.Context(), db, 7)
				if err != nil {
					t.Error(err)
				}
				results <- res
			}
			go run(slow)
			<-entered
			setLimit(t, db, 7, 1)
			mark(t, db, 7)
			go run(order{}.rule(t))
			dbtest.AwaitLock(t, db)
			if len(results) != 0 {
				t.Error("the newer one did not wait")
			}
			release <- true
			first, second := <-results, <-results
			if first.Generation > second.Generation { // its goroutine was the quicker one to say so
				first, second = second, first
			}
			if first.Generation != 1 || second.Generation != 2 || second.Marks != 1 {
				t.Errorf("%+v, %+v", first, second)
			}
			wantFlags(t, db, order{}, 7)
		})
	}
}

// TestNoMarkIsLost: ids commit out of order. The mark with the lower id commits after the recalculation that
// deletes the higher one, and is still there; so is one that comes while the recalculation runs.
func TestNoMarkIsLost(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, order{}, dbtest.Isolation(level))
			setLimit(t, db, 7, 1)
			add(t, db, 7, 1)
			late, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			mark(t, late, 7)
			add(t, late, 7, 2)
			mark(t, db, 7)
			r, err := quota.New(order{}.plan(), "project", func(context.Context, *onerow.Tx, any) (int, error) {
				mark(t, db, 7) // and the third, between the reading and the deleting
				return 1, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if res := recalculate(t, db, r, 7); res.Marks != 1 {
				t.Fatalf("%+v", res)
			}
			if err := late.Commit(); err != nil {
				t.Fatal(err)
			}
			if n := marks(t, db); n != 2 {
				t.Fatalf("%d marks, want the late one and the third", n)
			}
			if err := order.rule(order{}, t).Settle(t.Context(), db, 7); err != nil {
				t.Fatal(err)
			}
			wantFlags(t, db, order{}, 7)
			if n := marks(t, db); n != 0 {
				t.Fatalf("%d marks", n)
			}
		})
	}
}

// TestJoined: in the caller's transaction the flags follow in the same commit, or not at all. When the
// transaction's snapshot is older than somebody else's recalculation, nothing is written from it, and a mark
// asks for another one.
func TestJoined(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, order{}, dbtest.Isolation(level), dbtest.StaleWrites())
			r := order{}.rule(t)
			setLimit(t, db, 7, 1)
			add(t, db, 7, 1)
			boom := errors.New("boom")
			for _, want := range []error{boom, nil} {
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					add(t, tx, 7, 2)
					mark(t, tx, 7)
					for n := range 2 { // its own bump is not somebody else's
						res, err := r.Recalculate(ctx, tx, 7)
						if err != nil || res.Changed != 1-n || res.Marks != 1-n || res.Postponed {
							t.Errorf("%+v, %v", res, err)
						}
					}
					wantFlags(t, tx, order{}, 7)
					return want
				})
				if !errors.Is(err, want) {
					t.Fatal(err)
				}
				wantFlags(t, db, order{}, 7)
			}

			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM project"); n != 2 { // the snapshot of REPEATABLE READ
				t.Fatalf("%d rows", n)
			}
			dbtest.Exec(t, db, "DELETE FROM project WHERE is_over_quota = 0")
			recalculate(t, db, r, 7)
			res, err := r.Recalculate(t.Context(), tx, 7)
			if err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if postponed := level == sql.LevelRepeatableRead; res.Postponed != postponed || res.Changed != 0 || (marks(t, db) == 1) != postponed {
				t.Fatalf("%+v", res)
			}
			wantFlags(t, db, order{}, 7)
			if err := r.Settle(t.Context(), db, 7); err != nil {
				t.Fatal(err)
			}
			wantFlags(t, db, order{}, 7)
		})
	}
}

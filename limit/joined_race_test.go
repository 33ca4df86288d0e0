package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

// joinedCalls are calls in a caller's transaction, and a batch of the cascade.
func (s shop) joinedCalls() map[string]call {
	calls := s.calls()
	joined := func(fn func(ctx context.Context, tx *onerow.Tx) error) call {
		return func(ctx context.Context, db *sql.DB) error { return onerow.InTx(ctx, db, fn) }
	}
	maps.Copy(calls, map[string]call{
		"joined c":             joined(func(ctx context.Context, tx *onerow.Tx) error { return second(s.create(ctx, tx, 7, "c", 10)) }),
		"joined d":             joined(func(ctx context.Context, tx *onerow.Tx) error { return second(s.create(ctx, tx, 7, "d", 10)) }),
		"joined recount":       joined(func(ctx context.Context, tx *onerow.Tx) error { return s.number.Recount(ctx, tx, 7) }),
		"joined recount bytes": joined(func(ctx context.Context, tx *onerow.Tx) error { return s.bytes.Recount(ctx, tx, 7) }),
		"batch": joined(func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM file WHERE id = 7000001")
			return errors.Join(err, recount.Limit(ctx, tx, "file", "7"), recount.Limit(ctx, tx, "file.bytes", "7"))
		}),
		"unlimited": func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE user SET files = NULL WHERE id = 7")
			return err
		},
	})
	return calls
}

// TestInterleaveUncounted: owners who have no row yet, whose rows a cascade deletes, or whose maximum changes,
// also in a caller's transaction. What is noted may be wrong until the sweep has counted it.
func TestInterleaveUncounted(t *testing.T) {
	races := []struct{ a, b, before string }{
		{"joined c", "create d", "uncounted"}, {"joined c", "joined d", "uncounted"}, {"joined c", "joined d", "uncounted, unlimited"},
		{"joined c", "create d", "uncounted, unlimited"}, {"create c", "lower", "uncounted"}, {"joined c", "lower", "uncounted"},
		{"joined c", "lower", "activate b, note"}, {"joined recount", "undo a", "hide a"}, {"joined recount", "hide a", ""},
		{"joined recount bytes", "use", "reserve"}, {"batch", "recount", "note"}, {"batch", "recount", ""}, {"batch", "create c", "uncounted"},
		{"batch", "sweep", "note"}, {"batch", "create c", "activate b, note"},
	}
	s := newShop(t)
	calls := s.joinedCalls()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			for _, race := range races {
				name := fmt.Sprintf("%s beside %s after %s", race.a, race.b, race.before)
				t.Run(name, func(t *testing.T) {
					w := s.workflow(dsn, name)
					setup := w.Setup
					w.Setup = func(ctx context.Context, db *sql.DB) error {
						err := setup(ctx, db)
						for _, c := range list(race.before) {
							err = errors.Join(err, calls[c](ctx, db))
						}
						return err
					}
					w.Check = nil
					crashtest.Interleave(t, crashtest.Race{
						Workflow: w, Calls: []func(context.Context, *sql.DB) error{calls[race.a], calls[race.b]},
						Judge: s.judgeSwept(race.b == "lower"), Preemptions: 1, Every: 100,
					})
				})
			}
		})
	}
}

// judgeSwept: once what is noted was counted, the room is right, and the maximum that of the application.
func (s shop) judgeSwept(lowered bool) func(context.Context, *sql.DB, []error) error {
	return func(ctx context.Context, db *sql.DB, answers []error) error {
		for _, err := range answers {
			if err != nil && !errors.Is(err, limit.ErrLimit) && !errors.Is(err, onerow.ErrNotFound) && !errors.Is(err, repo.ErrTooLate) {
				return err
			}
		}
		if _, err := limit.NewSweeper(db, limit.Config{Every: -1}, s.number, s.bytes).RunOnce(ctx); err != nil {
			return err
		}
		var files sql.NullInt64
		if err := onerow.QueryRow(ctx, db, "SELECT files FROM user WHERE id = 7", nil, &files); err != nil {
			return err
		}
		state, err := s.number.Look(ctx, db, 7)
		if err == nil && state.Known && files.Valid && state.Max != files.Int64 {
			err = fmt.Errorf("the maximum is %d, the room is of %d", files.Int64, state.Max)
		}
		return errors.Join(err, s.rooms(ctx, db, 7, lowered))
	}
}

// TestJoinedUncounted: in a caller's transaction an owner whom nobody has counted has the room that there is.
func TestJoinedUncounted(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			s := newShop(t)
			s.allow(t, db, 7, 2, nil)
			must(s.create(t.Context(), db, 7, "a", 1))
			for _, c := range []struct {
				name string
				want error
			}{{"b", nil}, {"c", limit.ErrLimit}} {
				dbtest.Exec(t, db, "DELETE FROM onerow_limit")
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return second(s.create(ctx, tx, 7, c.name, 1)) })
				if !errors.Is(err, c.want) {
					t.Errorf("create %s: %v, want %v", c.name, err, c.want)
				}
			}
			must(limit.NewSweeper(db, limit.Config{}, s.number, s.bytes).RunOnce(t.Context()))
			s.wantRoom(t, db, 7)
		})
	}
}

// TestOldMaximum: a transaction that began before the maximum was lowered does not bring the old one back.
func TestOldMaximum(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			s, ctx := newShop(t), t.Context()
			s.allow(t, db, 7, 3, nil)
			for _, name := range []string{"a", "b", "c"} {
				must(s.create(ctx, db, 7, name, 1))
			}
			runs := 0
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				var users int
				if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM user", nil, &users); err != nil {
					return err
				}
				if runs++; runs == 1 {
					dbtest.Exec(t, db, "DELETE FROM file WHERE name IN ('a', 'b')")
					must(0, errors.Join(recount.Limit(ctx, db, "file", "7"), recount.Limit(ctx, db, "file.bytes", "7")))
					s.allow(t, db, 7, 1, nil)
				}
				return second(s.create(ctx, tx, 7, "d", 1))
			})
			// It is refused, or run again as a whole where the server refuses what is behind its snapshot.
			if !errors.Is(err, limit.ErrLimit) {
				t.Errorf("%v", err)
			}
			if _, err := s.create(ctx, db, 7, "e", 1); !errors.Is(err, limit.ErrLimit) {
				t.Errorf("%v", err)
			}
			must(limit.NewSweeper(db, limit.Config{}, s.number, s.bytes).RunOnce(ctx))
			s.wantRoom(t, db, 7)
		})
	}
}

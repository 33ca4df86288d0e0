package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

// TestInterleave steps pairs of calls of one owner through the orders of their statements. Whatever the order:
// nothing is over, and the room is right without a count.
func TestInterleave(t *testing.T) {
	races := []struct{ a, b, before string }{
		{"create c", "create d", ""}, {"create c", "create d", "uncounted"}, {"create c", "create d", "activate b"}, {"create c", "activate b", ""},
		{"create c", "archive a", "activate b"}, {"create c", "delete a", "activate b"}, {"create c", "hide a", "activate b"},
		{"create c", "undo a", "activate b, hide a"}, {"create c", "recount", "activate b"}, {"create c", "lower", ""}, {"create c", "higher", "activate b"},
		{"archive a", "recount", ""}, {"archive a", "recount", "uncounted"}, {"delete a", "sweep", "uncounted"}, {"delete a", "create c", "uncounted, note"},
		{"more bytes", "create large", ""}, {"more bytes", "reserve much", ""}, {"less bytes", "create large", ""},
		{"reserve", "reserve", ""}, {"reserve", "reserve much", ""}, {"reserve", "reserve", "uncounted"}, {"reserve", "cancel", "reserve"},
		{"use", "use more", "reserve"}, {"use", "cancel", "reserve"}, {"use less", "sweep", "reserve"}, {"use late", "sweep", "reserve late"},
		{"use late", "create large", "reserve late"}, {"create large", "sweep", "reserve late"}, {"reserve late", "sweep", "reserve late"},
		{"recount", "recount", "uncounted"}, {"recount", "note", ""}, {"lower", "higher", ""}, {"lower", "sweep", ""}, {"archive a", "sweep", "note"},
	}
	s := newShop(t)
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			total, begin := 0, time.Now()
			for _, race := range races {
				name := fmt.Sprintf("%s beside %s after %s", race.a, race.b, race.before)
				t.Run(name, func(t *testing.T) {
					calls := s.calls()
					report := crashtest.Interleave(t, crashtest.Race{
						Workflow:    s.workflow(dsn, name, list(race.before)...),
						Calls:       []func(context.Context, *sql.DB) error{calls[race.a], calls[race.b]},
						Judge:       s.judge(race.a == race.b, race.a == "lower" || race.b == "lower"),
						Preemptions: 1, Every: 100,
					})
					total += report.Schedules
				})
			}
			t.Logf("%s: %d races, %d interleavings in %s", level, len(races), total, time.Since(begin).Round(time.Millisecond))
		})
	}
}

// judge: a refusal is an answer, where something else has the room.
func (s shop) judge(same, lowered bool) func(context.Context, *sql.DB, []error) error {
	return func(ctx context.Context, db *sql.DB, answers []error) error {
		refused := 0
		for _, err := range answers {
			switch {
			case errors.Is(err, limit.ErrLimit):
				refused++
			case errors.Is(err, onerow.ErrNotFound), errors.Is(err, repo.ErrTooLate):
			case err != nil:
				return err
			}
		}
		if same && refused > 0 {
			return fmt.Errorf("one call twice was refused: %w", errors.Join(answers...))
		}
		return s.rooms(ctx, db, 7, lowered)
	}
}

// TestInterleaveExtended: a reservation that was over and lasts an hour by now is not ended by the sweep that
// has found it.
func TestInterleaveExtended(t *testing.T) {
	s := newShop(t)
	for _, level := range levels {
		_, dsn := open(t, dbtest.Isolation(level))
		calls := s.calls()
		crashtest.Interleave(t, crashtest.Race{
			Workflow: s.workflow(dsn, "an extended reservation", "reserve late"),
			Calls: []func(context.Context, *sql.DB) error{func(ctx context.Context, db *sql.DB) error {
				return second(s.bytes.Reserve(ctx, db, "late", 20, time.Hour, 7))
			}, calls["sweep"]},
			Judge: func(ctx context.Context, db *sql.DB, answers []error) error {
				var held int64
				err := onerow.QueryRow(ctx, db, "SELECT COALESCE(SUM(amount), 0) FROM onerow_reservation", nil, &held)
				if err = errors.Join(append(answers, err)...); err == nil && held != 20 {
					err = fmt.Errorf("%d are reserved of 20", held)
				}
				return errors.Join(err, s.rooms(ctx, db, 7, false))
			},
			Preemptions: 1, Every: 100,
		})
	}
}

// TestInterleaveNaiveTwins: a count before the insert, in one transaction, lets two through.
func TestInterleaveNaiveTwins(t *testing.T) {
	s := newShop(t)
	for _, level := range levels {
		_, dsn := open(t, dbtest.Isolation(level))
		naive := func(name string) call {
			return func(ctx context.Context, db *sql.DB) error {
				return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
					var n int
					if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM file WHERE user_id = 7", nil, &n); err != nil || n >= 2 {
						return err
					}
					_, err := tx.ExecContext(ctx, "INSERT INTO file (user_id, name, name_key, stem_key, created_at, updated_at) VALUES (7, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", name, name, name)
					return err
				})
			}
		}
		w := s.workflow(dsn, "naive")
		_, err := crashtest.ExploreRace(t.Context(), crashtest.Race{
			Workflow: w, Calls: []func(context.Context, *sql.DB) error{naive("c"), naive("d")},
			Judge: func(ctx context.Context, db *sql.DB, _ []error) error {
				var n int
				if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM file WHERE user_id = 7", nil, &n); err != nil || n <= 2 {
					return err
				}
				return fmt.Errorf("%d files of 2", n)
			},
		})
		if err == nil {
			t.Errorf("%s: not caught", level)
		}
	}
}

package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/quota"
)

type call = func(ctx context.Context, db *sql.DB) error

// marked is a mutation with its mark, in one transaction.
func marked(mutation string) call {
	return func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := tx.ExecContext(ctx, mutation); err != nil {
				return err
			}
			return quota.Mark(ctx, tx, "project", 7)
		})
	}
}

// The mutations.
const (
	insertProject = `INSERT INTO project (user_id, position, created_at, updated_at) VALUES (7, 2.5, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`
	deleteProject = `DELETE FROM project WHERE id = 7000003`
	moveProject   = `UPDATE project SET position = 0.5 WHERE id = 7000003`
	lowerLimit    = `UPDATE user SET projects = 1 WHERE id = 7`
)

// TestInterleave steps recalculations, settles and sweeps of one owner through the orders of their
// statements, against each other and against mutations that mark. Whatever the order: no mark is lost, and
// once settled all flags are right.
func TestInterleave(t *testing.T) {
	o := order{by: "position", descending: true}
	r := o.rule(t)
	recalculate := func(ctx context.Context, db *sql.DB) error {
		_, err := r.Recalculate(ctx, db, 7)
		return err
	}
	settle := func(ctx context.Context, db *sql.DB) error { return r.Settle(ctx, db, 7) }
	sweep := func(ctx context.Context, db *sql.DB) error {
		_, err := quota.NewSweeper(db, quota.Config{}, r).RunOnce(ctx)
		return err
	}
	// In a caller's transaction, whose snapshot is older than the bump.
	joined := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var n int
			if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM project WHERE user_id = 7", nil, &n); err != nil {
				return err
			}
			_, err := r.Recalculate(ctx, tx, 7)
			return err
		})
	}
	races := []struct {
		name string
		a, b call // without b: a, twice
		// settled: the two leave the flags right and no mark of theirs; otherwise the mark of what came in
		// between may be left for the sweep.
		settled bool
	}{
		{"recalculate, twice", recalculate, nil, true},
		{"settle, twice", settle, nil, true},
		{"sweep, twice", sweep, nil, true},
		{"recalculate, settle", recalculate, settle, true},
		{"recalculate, sweep", recalculate, sweep, true},
		{"recalculate joined, recalculate", joined, recalculate, false},
		{"recalculate joined, twice", joined, nil, false},
		{"recalculate, create with its mark", recalculate, marked(insertProject), false},
		{"recalculate, delete with its mark", recalculate, marked(deleteProject), false},
		{"recalculate, move with its mark", recalculate, marked(moveProject), false},
		{"recalculate, a new limit with its mark", recalculate, marked(lowerLimit), false},
		{"settle, create with its mark", settle, marked(insertProject), false},
		{"sweep, delete with its mark", sweep, marked(deleteProject), false},
		{"mark, mark", marked(insertProject), marked(deleteProject), false},
	}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, o, dbtest.Isolation(level))
			total, begin := 0, time.Now()
			for _, race := range races {
				t.Run(race.name, func(t *testing.T) {
					if race.b == nil {
						race.b = race.a
					}
					preemptions := 2
					if strings.Contains(race.name, "sweep") { // up to 32 statements: two preemptions make 1,100 schedules of it
						preemptions = 1
					}
					report := crashtest.Interleave(t, crashtest.Race{
						Workflow: racing(dsn, "quota: "+race.name), Calls: []func(context.Context, *sql.DB) error{race.a, race.b},
						Judge:       judge(o, r, race.settled),
						Preemptions: preemptions, Every: 100,
					})
					t.Logf("workflow %s: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
					total += report.Schedules
				})
			}
			t.Logf("%s: %d races, %d interleavings in %s", level, len(races), total, time.Since(begin).Round(time.Millisecond))
		})
	}
}

// TestInterleaveTogether does so where statements travel together.
func TestInterleaveTogether(t *testing.T) {
	o := order{by: "position", descending: true}
	r := o.rule(t)
	recalculate := func(ctx context.Context, db *sql.DB) error {
		_, err := r.Recalculate(ctx, db, 7)
		return err
	}
	_, dsn := open(t, o, dbtest.Isolation(levels[0]))
	for name, b := range map[string]call{"twice": recalculate, "a create with its mark": marked(insertProject), "a new limit with its mark": marked(lowerLimit)} {
		t.Run(name, func(t *testing.T) {
			crashtest.Interleave(t, crashtest.Race{
				Workflow: racetest.Together(racing(dsn, "quota: recalculate, "+name)), Calls: []func(context.Context, *sql.DB) error{recalculate, b},
				Judge: judge(o, r, name == "twice"), Preemptions: 2, Every: 100,
			})
		})
	}
}

// racing starts from flags that are all wrong, with marks; the rows of user 7 are 7000000 to 7000003.
func racing(dsn, name string) crashtest.Workflow {
	w := faulty(dsn, nil)
	w.Name = name
	setup := w.Setup
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		if err := setup(ctx, db); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE project SET id = 1000000 * user_id + position")
		return err
	}
	return w
}

// judge holds the end against the rule: what is wrong must be marked, and a settle must put it right.
func judge(o order, r *quota.Rule, settled bool) func(context.Context, *sql.DB, []error) error {
	return func(ctx context.Context, db *sql.DB, answers []error) error {
		if err := errors.Join(answers...); err != nil {
			return err
		}
		if settled {
			if err := errors.Join(flags(ctx, db, o, 7), noMarks(ctx, db)); err != nil {
				return err
			}
		}
		if err := r.Settle(ctx, db, 7); err != nil {
			return err
		}
		if err := flags(ctx, db, o, 7); err != nil {
			return fmt.Errorf("a mark was lost: after a settle %w", err)
		}
		return noMarks(ctx, db)
	}
}

// TestInterleaveNaiveTwins is the negative control: recalculations without the generation, marks that are
// deleted up to an id, and a mark that is not in its mutation's transaction.
func TestInterleaveNaiveTwins(t *testing.T) {
	o := order{by: "position", descending: true}
	r := o.rule(t)
	// naive counts, decides in Go and writes. until is what it deletes of the marks.
	naive := func(until string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				var limit, seen int64
				if err := onerow.QueryRow(ctx, tx, "SELECT projects FROM user WHERE id = 7", nil, &limit); err != nil {
					return err
				}
				if err := onerow.QueryRow(ctx, tx, "SELECT COALESCE(MAX(id), 0) FROM onerow_quota_mark", nil, &seen); err != nil {
					return err
				}
				var over []any
				err := onerow.Query(ctx, tx, "SELECT id FROM project WHERE user_id = 7 ORDER BY position DESC, id DESC", nil, func(rows *sql.Rows) error {
					var id int64
					err := rows.Scan(&id)
					over = append(over, id)
					return err
				})
				if err != nil {
					return err
				}
				over = append([]any{int64(0)}, over[min(int64(len(over)), limit):]...)
				set := "UPDATE project SET is_over_quota = id IN (?" + strings.Repeat(", ?", len(over)-1) + ") WHERE user_id = 7"
				if _, err := tx.ExecContext(ctx, set, over...); err != nil {
					return err
				}
				_, err = tx.ExecContext(ctx, until, seen)
				return err
			})
		}
	}
	upTo, all := naive("DELETE FROM onerow_quota_mark WHERE id <= ?"), naive("DELETE FROM onerow_quota_mark WHERE id > 0 * ?")
	first := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { // the mark's id is drawn before the mutation
			if err := quota.Mark(ctx, tx, "project", 7); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, lowerLimit)
			return err
		})
	}
	markFirst := func(ctx context.Context, db *sql.DB) error {
		if err := quota.Mark(ctx, db, "project", 7); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, lowerLimit)
		return err
	}
	recalculate := func(ctx context.Context, db *sql.DB) error {
		_, err := r.Recalculate(ctx, db, 7)
		return err
	}
	twins := []struct {
		name  string
		a, b  call
		shows []string // in this order
	}{
		{"recalculate: all marks deleted, not those that were read", all, marked(lowerLimit),
			[]string{"SELECT projects FROM user", "UPDATE user SET projects", "INSERT INTO onerow_quota_mark", "DELETE FROM onerow_quota_mark"}},
		{"recalculate twice, a limit in between: no generation", recalculateAfter(lowerLimit, recalculate), upTo,
			[]string{"SELECT projects FROM user WHERE id = 7", "COMMIT", "SELECT projects FROM user WHERE id = ?"}}, // read before the limit, and after it
		{"mark on its own, before the mutation", markFirst, recalculate,
			[]string{"INSERT INTO onerow_quota_mark", "SELECT projects FROM user", "UPDATE user SET projects"}},
		// Ids commit out of order: the mark with the lower id is there before the recalculation, and not
		// committed.
		{"recalculate: marks deleted up to an id", first, func(ctx context.Context, db *sql.DB) error {
			return errors.Join(quota.Mark(ctx, db, "project", 7), upTo(ctx, db))
		}, []string{"INSERT INTO onerow_quota_mark", "SELECT projects FROM user", "UPDATE user SET projects"}},
	}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, o, dbtest.Isolation(level), dbtest.StaleWrites())
			for _, twin := range twins {
				t.Run(twin.name, func(t *testing.T) {
					racetest.Caught(t, crashtest.Race{
						Workflow: racing(dsn, "quota, naive: "+twin.name), Calls: []func(context.Context, *sql.DB) error{twin.a, twin.b},
						Judge: judge(o, r, false), Every: 100,
					}, twin.shows...)
				})
			}
		})
	}
}

// recalculateAfter makes the mutation with its mark, then recalculates.
func recalculateAfter(mutation string, recalculate call) call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := marked(mutation)(ctx, db); err != nil {
			return err
		}
		return recalculate(ctx, db)
	}
}

package quota_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/quota"
)

// verb is a verb under faults: the call, the tables that compare as sets, and how many fault points it has at
// least.
type verb struct {
	name string
	call func(ctx context.Context, db *sql.DB) error
	sets []string
	min  int
}

// verbs are a mutation with its mark, a recalculation, and a sweep, which settles.
func verbs(r *quota.Rule) []verb {
	return []verb{
		{"Mark", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if _, err := tx.ExecContext(ctx, "UPDATE user SET projects = 1 WHERE id = 7"); err != nil {
					return err
				}
				return quota.Mark(ctx, tx, "project", 7)
			})
		}, []string{"onerow_quota_mark"}, 30},
		{"Recalculate", func(ctx context.Context, db *sql.DB) error {
			_, err := r.Recalculate(ctx, db, 7)
			return err
		}, nil, 80},
		{"RunOnce", func(ctx context.Context, db *sql.DB) error {
			_, err := quota.NewSweeper(db, quota.Config{}, r).RunOnce(ctx)
			return err
		}, nil, 200},
	}
}

// TestSurvivesFaults fails every verb at every statement.
func TestSurvivesFaults(t *testing.T) {
	o := order{by: "position", descending: true}
	for _, level := range levels {
		for _, c := range verbs(o.rule(t)) {
			t.Run(level.String()+"/"+c.name, func(t *testing.T) {
				_, dsn := open(t, o, dbtest.Isolation(level))
				w := faulty(dsn, c.call)
				w.Sets = c.sets
				if c.sets == nil {
					w.Check = func(ctx context.Context, db *sql.DB) error {
						return errors.Join(flags(ctx, db, o, 7), noMarks(ctx, db))
					}
				}
				if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(c.min) {
					t.Errorf("only %d fault points", report.FaultPoints)
				}
			})
		}
	}
}

// TestSurvivesFaultsTogether does so where statements travel together.
func TestSurvivesFaultsTogether(t *testing.T) {
	o := order{by: "position", descending: true}
	call := verbs(o.rule(t))[1].call
	_, dsn := open(t, o, dbtest.Isolation(levels[0]))
	w := racetest.Together(faulty(dsn, call))
	w.Check = func(ctx context.Context, db *sql.DB) error {
		return errors.Join(flags(ctx, db, o, 7), noMarks(ctx, db))
	}
	log := crashtest.Run(t, racetest.Share(w)).Statements
	racetest.HasPackets(t, log)
	if last := log[len(log)-1]; last.Kind != "commit" || last.Begins {
		t.Errorf("what it writes does not travel with COMMIT:\n%s", log)
	}
}

// faulty: user 7 has two rows with wrong flags of either kind and three marks, user 8 one mark.
func faulty(dsn string, call func(context.Context, *sql.DB) error) crashtest.Workflow {
	return crashtest.Workflow{
		DSN:   dsn,
		Empty: []string{"project", "user", "onerow_quota_mark", "onerow_quota_owner"},
		Setup: func(ctx context.Context, db *sql.DB) error {
			for _, query := range []string{
				"INSERT INTO user VALUES (7, 2), (8, NULL)",
				`INSERT INTO project (user_id, position, is_over_quota, created_at, updated_at) VALUES (7, 1, 0, '2026-01-01', '2026-01-01'),
 (7, 2, 1, '2026-01-01', '2026-01-01'), (7, 3, 1, '2026-01-01', '2026-01-01'), (7, 0, 0, '2026-01-01', '2026-01-01'),
 (8, 0, 0, '2026-01-01', '2026-01-01')`,
				`INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES
 ('project', '7', '2026-01-01'), ('project', '8', '2026-01-01'), ('project', '7', '2026-01-01'), ('project', '7', '2026-01-01')`,
			} {
				if _, err := db.ExecContext(ctx, query); err != nil {
					return err
				}
			}
			return nil
		},
		Call:   call,
		Ignore: []string{"onerow_quota_owner.generation"},
	}
}

func noMarks(ctx context.Context, db onerow.DB) error {
	var n int
	if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE owner = '7'", nil, &n); err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("%d marks left", n)
}

// TestFaultsCatchTheNaiveTwin: the same steps, each correct, but not in one transaction.
func TestFaultsCatchTheNaiveTwin(t *testing.T) {
	_, dsn := open(t, order{})
	naive := func(ctx context.Context, db *sql.DB) error {
		var last sql.NullInt64
		if err := onerow.QueryRow(ctx, db, "SELECT MAX(id) FROM onerow_quota_mark WHERE owner = '7'", nil, &last); err != nil || !last.Valid {
			return err
		}
		if _, err := db.ExecContext(ctx, "DELETE FROM onerow_quota_mark WHERE owner = '7' AND id <= ?", last.Int64); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "UPDATE project SET is_over_quota = 0 WHERE user_id = 7"); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE project SET is_over_quota = 1 WHERE user_id = 7 ORDER BY id DESC LIMIT 2")
		return err
	}
	report, err := crashtest.Explore(t.Context(), faulty(dsn, naive))
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v", err)
	}
	if first := failures.List[0]; !strings.Contains(first.Diff, "table project") {
		t.Errorf("no difference in table project:\n%s", first)
	}
	t.Logf("%s: %d of them caught it", report, len(failures.List))
}

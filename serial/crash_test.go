package serial_test

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
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

func faulty(dsn string, setup, call func(context.Context, *sql.DB) error) crashtest.Workflow {
	return crashtest.Workflow{
		DSN:    dsn,
		Empty:  []string{"onerow_serial", "onerow_serial_claim", "postcard"},
		Setup:  setup,
		Call:   call,
		Tables: []string{"onerow_serial", "onerow_serial_claim", "postcard"},
		Ignore: []string{"onerow_serial_claim.call_token"},
		Check: func(ctx context.Context, db *sql.DB) error {
			found, err := gaps.Find(ctx, db, must(serial.New("s")))
			if err == nil && !gaps.Complete(found) {
				err = fmt.Errorf("the claims: %+v", found)
			}
			return err
		},
	}
}

// faultyVerb is a verb, the state before it, and how many fault points it has at least.
type faultyVerb struct {
	name  string
	setup func(context.Context, *sql.DB) error
	call  func(context.Context, *sql.DB) error
	min   int
}

func faultyVerbs(s *serial.Series) []faultyVerb {
	before := func(ctx context.Context, db *sql.DB) error { return second(s.Claim(ctx, db, "before", 4)) }
	return []faultyVerb{
		{"the first claim", nil, func(ctx context.Context, db *sql.DB) error { return second(s.Claim(ctx, db, "k", 1)) }, 40},
		{"claim n", before, func(ctx context.Context, db *sql.DB) error { return second(s.Claim(ctx, db, "k", 3)) }, 40},
		{"claim in a transaction", before, func(ctx context.Context, db *sql.DB) error { return sell(ctx, db, s, "k", 3) }, 45},
		{"replay", before, func(ctx context.Context, db *sql.DB) error { return second(s.Claim(ctx, db, "before", 4)) }, 30},
		{"void", before, func(ctx context.Context, db *sql.DB) error { return second(s.Void(ctx, db, "before", "why")) }, 30},
		{"claim and use", before, func(ctx context.Context, db *sql.DB) error { return invoice(ctx, db, s, "k", 2) }, 45},
		{"find and report", before, func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(s.Find(ctx, db, "before")), second(gaps.Find(ctx, db, s)), second(serial.List(ctx, db, "", 5)))
		}, 15},
	}
}

// TestSurvivesFaultsTogether does so where statements travel together.
func TestSurvivesFaultsTogether(t *testing.T) {
	t.Parallel()
	_, dsn := open(t, dbtest.Isolation(levels[0]))
	for _, v := range faultyVerbs(series(t, "s")) {
		t.Run(v.name, func(t *testing.T) {
			report := crashtest.Run(t, racetest.Share(racetest.Together(faulty(dsn, v.setup, v.call))))
			if v.name != "find and report" {
				racetest.HasPackets(t, report.Statements)
			}
		})
	}
}

// TestSurvivesFaults fails every verb at every statement.
func TestSurvivesFaults(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			for _, v := range faultyVerbs(series(t, "s")) {
				t.Run(v.name, func(t *testing.T) {
					if report := crashtest.Run(t, racetest.Share(faulty(dsn, v.setup, v.call))); report.FaultPoints < racetest.Least(v.min) {
						t.Errorf("only %d fault points", report.FaultPoints)
					}
				})
			}
		})
	}
}

// TestFaultsCatchTheNaiveTwin: a counter of its own, moved on before the business transaction, as a Redis
// INCR is.
func TestFaultsCatchTheNaiveTwin(t *testing.T) {
	_, dsn := open(t)
	w := faulty(dsn, func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "INSERT INTO onerow_serial VALUES ('s', 1, 1)")
		return err
	}, func(ctx context.Context, db *sql.DB) error {
		var has int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM postcard WHERE id = 'k'").Scan(&has); err != nil || has > 0 {
			return err
		}
		res, err := db.ExecContext(ctx, "UPDATE onerow_serial SET next_no = LAST_INSERT_ID(next_no + 1) WHERE series = 's'")
		if err != nil {
			return err
		}
		next, err := res.LastInsertId()
		if err != nil {
			return err
		}
		_, err = onerow.Affected(ctx, db, "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES ('k', 's', ?, ?)", next-1, next-1)
		return err
	})
	w.Check = nil
	report, err := crashtest.Explore(t.Context(), w)
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v", err)
	}
	if first := failures.List[0]; !strings.Contains(first.Diff, "table postcard") {
		t.Errorf("no difference in table postcard:\n%s", first)
	}
	t.Logf("%s: %d of them caught it", report, len(failures.List))
}

// invoice claims numbers with the row that has them.
func invoice(ctx context.Context, db onerow.DB, s *serial.Series, key string, amount int64) error {
	return second(s.ClaimWith(ctx, db, key, amount, onerow.Stmt{
		Query: "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES (?, 's', LAST_INSERT_ID(), LAST_INSERT_ID() + ?)", Args: []any{key, amount - 1},
	}))
}

// TestRoundTrips holds how many a call takes where statements travel together.
func TestRoundTrips(t *testing.T) {
	_, dsn := open(t)
	db, c := racetest.CountedTogether(t, dsn)
	ctx, s := t.Context(), series(t, "s")
	expect := func(what string, want int, call func() error) {
		t.Helper()
		racetest.RoundTrips(t, c, what, want, call)
	}
	claim := func() error { return second(s.Claim(ctx, db, "a", 1)) }
	expect("Claim", 1, claim)
	expect("Claim, replayed", 4, claim)
	expect("ClaimWith", 1, func() error { return invoice(ctx, db, s, "b", 2) })
	expect("ClaimWith, replayed", 4, func() error { return invoice(ctx, db, s, "b", 2) })
	expect("Claim in a transaction", 2, func() error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return second(s.Claim(ctx, tx, "c", 1)) })
	})
}

// TestStatements holds the counts that doc.go states, BEGIN and COMMIT added.
func TestStatements(t *testing.T) {
	_, dsn := open(t)
	db, c := racetest.Counted(t, dsn)
	ctx, s := t.Context(), series(t, "s")
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil || len(log) != want {
			t.Errorf("%s: %d statements, want %d, %v:\n%s", what, len(log), want, err, log)
		}
	}
	claim := func(key string, n int64) func() error {
		return func() error { return second(s.Claim(ctx, db, key, n)) }
	}
	expect("the first claim", 5, claim("a", 1))
	expect("claim", 5, claim("b", 1))
	expect("claim n", 5, claim("c", 1000))
	expect("replay", 4, claim("c", 1000))
	expect("void", 4, func() error { return second(s.Void(ctx, db, "a", "")) })
	expect("find", 1, func() error { return second(s.Find(ctx, db, "a")) })
	expect("gaps", 1, func() error { return second(gaps.Find(ctx, db, s)) })
	tx := must(db.BeginTx(ctx, nil))
	defer func() { must(0, tx.Rollback()) }()
	expect("joined", 3, func() error { return second(s.Claim(ctx, tx, "d", 1)) })
}

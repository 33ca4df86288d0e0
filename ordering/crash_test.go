package ordering_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/ordering"
)

// streams are the tables that the verbs of a guard write with a function of one write; compared are all.
var streams = []string{"onerow_stream", "onerow_stream_message", "message"}

var compared = []string{"onerow_stream", "onerow_stream_message", "onerow_dead_letter", "run", "tendency", "message", "runner"}

// faulty is a workflow that starts with these messages applied and a runner.
func faulty(dsn string, g *ordering.Guard[runState], before []int64, call func(context.Context, *sql.DB) error) crashtest.Workflow {
	return crashtest.Workflow{
		DSN: dsn,
		Setup: func(ctx context.Context, db *sql.DB) error {
			wiped := compared
			if ctx.Value(narrowly{}) != nil {
				wiped = streams
			}
			for _, table := range wiped {
				if _, err := db.ExecContext(ctx, "DELETE FROM "+table); err != nil {
					return err
				}
			}
			for _, seq := range before {
				if _, err := g.Apply(ctx, db, sample(seq).message(), one); err != nil {
					return err
				}
			}
			if ctx.Value(narrowly{}) != nil {
				return nil
			}
			_, err := db.ExecContext(ctx, "INSERT INTO runner (id, name, points, asked_us) VALUES (1, 'Ann', 0, 5)")
			return err
		},
		Call:   call,
		Tables: compared,
	}
}

// narrow looks at streams only, and makes no runner.
func narrow(w crashtest.Workflow) crashtest.Workflow {
	setup := w.Setup
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		return setup(context.WithValue(ctx, narrowly{}, true), db)
	}
	w.Tables, w.Ignore = streams, nil
	return w
}

type narrowly struct{}

func sample(seq int64) ping {
	return ping{User: 3000, Meters: 100 + seq, At: seq * 30_000, Seq: seq, Run: 7}
}

// one is a function with one write.
func one(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *runState) error {
	s.Meters++
	_, err := tx.ExecContext(ctx, "INSERT INTO message VALUES (3000, ?, ?)", m.Sequence, s.Meters)
	return err
}

// verb is a verb under faults: its guard, the messages before it, the call, and how many fault points it has
// at least.
type verb struct {
	name   string
	g      *ordering.Guard[runState]
	before []int64
	call   func(context.Context, *sql.DB) error
	min    int
}

// verbs: hold is the guard of those that hold messages.
func verbs() (list []verb, hold *ordering.Guard[runState]) {
	reject := &ordering.Guard[runState]{Consumer: "c", Keep: true}
	hold = &ordering.Guard[runState]{Consumer: "c", Hold: true, First: 1}
	give := func(g *ordering.Guard[runState], seq int64) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			return second(g.Apply(ctx, db, sample(seq).message(), apply))
		}
	}
	light := func(seq int64) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			return second(hold.Apply(ctx, db, sample(seq).message(), one))
		}
	}
	return []verb{
		{"reject, the first", reject, nil, give(reject, 5), 70},
		{"reject, newer", reject, []int64{2}, give(reject, 5), 70},
		{"reject, late", reject, []int64{2, 5}, give(reject, 3), 25},
		{"hold, parked", hold, []int64{1}, light(3), 45},
		{"hold, a gap closes", hold, []int64{1, 3}, light(2), 100},
		{"in a caller's transaction", hold, []int64{1, 3}, func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				return second(hold.Apply(ctx, tx, sample(2).message(), one))
			})
		}, 100},
		{"skip", hold, []int64{1, 3}, func(ctx context.Context, db *sql.DB) error { return second(hold.Skip(ctx, db, "user/3000", 1, one)) }, 80},
		{"by time", hold, nil, func(ctx context.Context, db *sql.DB) error {
			return second(guards[0].Update(ctx, db, 1, now, ordering.Change{Add: map[string]any{"points": 5}}))
		}, 25},
		{"optimistic, a decision that finds its work done", hold, nil, func(ctx context.Context, db *sql.DB) error {
			_, err := updateRunner(ctx, db, func(_ context.Context, r runner) (runner, error) {
				r.Points = 5
				return r, nil
			})
			return err
		}, 30},
		{"park", hold, nil, func(ctx context.Context, db *sql.DB) error {
			return second(ordering.Park(ctx, db, "q", "m", []byte("x"), errPoison))
		}, 25},
		{"forget, settle and read", reject, []int64{1, 2}, func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(ordering.Forget(ctx, db, -1e9, 1)), second(ordering.Forget(ctx, db, -1e9, 10)), second(ordering.Settle(ctx, db, 1)),
				second(reject.Read(ctx, db, "user/3000")), second(reject.Waiting(ctx, db, 5)), second(ordering.DeadLetters(ctx, db, "q", 0, 5)))
		}, 40},
	}, hold
}

// TestSurvivesFaults fails every verb at every statement.
func TestSurvivesFaults(t *testing.T) {
	verbs, hold := verbs()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			for _, v := range verbs {
				t.Run(v.name, func(t *testing.T) {
					w := faulty(dsn, v.g, v.before, v.call)
					w.Ignore = []string{"runner.version"}
					if strings.HasPrefix(v.name, "hold") || v.g == hold && v.before != nil {
						w = narrow(w)
					}
					if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(v.min) {
						t.Errorf("only %d fault points", report.FaultPoints)
					}
				})
			}
		})
	}
}

// TestFaultsCatchTheNaiveTwins: the context written first, and the writes in transactions of their own;
// adding without a guard.
func TestFaultsCatchTheNaiveTwins(t *testing.T) {
	_, dsn := open(t)
	g := &ordering.Guard[runState]{Consumer: "c"}
	for name, call := range map[string]func(context.Context, *sql.DB) error{
		"context first": func(ctx context.Context, db *sql.DB) error {
			c, err := g.Read(ctx, db, "user/3000")
			if err != nil || c.Last >= 2 {
				return err
			}
			p := sample(2)
			c.State.advance(p)
			if _, err := db.ExecContext(ctx, "UPDATE onerow_stream SET last_seq = 2, state = ?", string(must(json.Marshal(c.State)))); err != nil {
				return err
			}
			_, err = db.ExecContext(ctx, "REPLACE INTO run VALUES (?, ?, ?)", p.Run, c.State.Meters, p.At-c.State.Since)
			return err
		},
		"add without a guard": func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE runner SET points = points + 5 WHERE id = 1")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := faulty(dsn, g, []int64{1}, call)
			w.Once = true
			report, err := crashtest.Explore(t.Context(), w)
			var failures *crashtest.Failures
			if !errors.As(err, &failures) {
				t.Fatalf("not caught: %v", err)
			}
			table := map[string]string{"context first": "table run:", "add without a guard": "table runner:"}[name]
			if first := failures.List[0]; !strings.Contains(first.Diff, table) {
				t.Errorf("no difference in the %s\n%s", table, first)
			}
			t.Logf("%s: %d of them caught it", report, len(failures.List))
		})
	}
}

// TestStatements holds the counts that doc.go states, BEGIN and COMMIT added.
func TestStatements(t *testing.T) {
	db, dsn := open(t)
	dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
	counted, c := racetest.Counted(t, dsn)
	ctx := t.Context()
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil || len(log) != want {
			t.Errorf("%s: %d statements, want %d, %v:\n%s", what, len(log), want, err, log)
		}
	}
	give := func(g *ordering.Guard[trail], stream string, seq int64) func() error {
		return func() error {
			return second(g.Apply(ctx, counted, ordering.Message{Stream: stream, Sequence: seq}, follow))
		}
	}
	reject := &ordering.Guard[trail]{Consumer: "a"}
	keep := &ordering.Guard[trail]{Consumer: "b", Keep: true}
	hold := &ordering.Guard[trail]{Consumer: "c", Hold: true}
	expect("reject, applied", 5, give(reject, "s", 5))
	expect("reject, refused", 4, give(reject, "s", 5))
	expect("keep, applied", 6, give(keep, "s", 5))
	expect("keep, refused", 5, give(keep, "s", 4))
	expect("hold, next", 5, give(hold, "s", 0))
	expect("hold, parked", 6, give(hold, "s", 2))
	expect("hold, refused while one is parked", 4+4+1, give(hold, "s", 0)) // looks whether it can be released
	expect("hold, a gap closes", 5+1+7, give(hold, "s", 1))
	for seq := int64(2); seq <= 100; seq++ {
		must(hold.Apply(ctx, db, ordering.Message{Stream: "long", Sequence: seq}, follow))
	}
	must(hold.Apply(ctx, db, ordering.Message{Stream: "long", Sequence: 0}, follow))
	expect("hold, a gap of 100 closes", 5+1+7, give(hold, "long", 1))
	expect("read", 1, func() error { return second(hold.Read(ctx, counted, "s")) })
	expect("by time", 3, func() error {
		return second(guards[0].Update(ctx, counted, 1, now, ordering.Change{Add: map[string]any{"points": 5}}))
	})
	expect("by time, refused", 4, func() error {
		return second(guards[0].Update(ctx, counted, 1, now, ordering.Change{Add: map[string]any{"points": 5}}))
	})
	expect("optimistic", 4, func() error {
		return second(updateRunner(ctx, counted, func(_ context.Context, r runner) (runner, error) { return r, nil }))
	})
	expect("park", 3, func() error { return second(ordering.Park(ctx, counted, "q", "m", nil, errPoison)) })
}

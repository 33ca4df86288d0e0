package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// answers are what the calls of one schedule got beside their errors.
type answers struct {
	mu   sync.Mutex
	list []onerow.Result[serial.Claim]
}

func (a *answers) add(res onerow.Result[serial.Claim]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, res)
}

// once is a condition: all calls got one range, and one of them drew it (none, where it was there before).
func (a *answers) once(drawn int) func(context.Context, *sql.DB) error {
	return func(context.Context, *sql.DB) error {
		changed := 0
		for _, res := range a.list {
			if res.Row.From != a.list[0].Row.From || res.Row.To != a.list[0].Row.To {
				return fmt.Errorf("one key, several ranges: %+v", a.list)
			}
			if res.Changed {
				changed++
			}
		}
		if changed != drawn {
			return fmt.Errorf("%d calls say that they drew the range, want %d: %+v", changed, drawn, a.list)
		}
		return nil
	}
}

// disjoint is a condition: no number was given to two calls.
func (a *answers) disjoint(context.Context, *sql.DB) error {
	list := slices.Clone(a.list)
	slices.SortFunc(list, func(x, y onerow.Result[serial.Claim]) int { return int(x.Row.From - y.Row.From) })
	for i := 1; i < len(list); i++ {
		if list[i].Row.From <= list[i-1].Row.To {
			return fmt.Errorf("doubles: %+v", list)
		}
	}
	return nil
}

// reason maps an error to the sentinel that it is: the texts carry what differs between two executions.
func reason(err error) error {
	for _, want := range []error{serial.ErrMismatch, serial.ErrVoided, serial.ErrNoClaim, errChanged} {
		if errors.Is(err, want) {
			return want
		}
	}
	return err
}

type call = func(context.Context, *sql.DB) error

// race is two or three calls at once. None of them may leave a gap or a double: faulty's Check.
type race struct {
	name  string
	setup call
	calls []call
	once  bool
	check call
}

func races(s *serial.Series, heard *answers) []race {
	claim := func(key string, amount int64) call {
		return func(ctx context.Context, db *sql.DB) error {
			res, err := s.Claim(ctx, db, key, amount)
			if err == nil {
				heard.add(res)
			}
			return reason(err)
		}
	}
	// work is a business transaction around a claim.
	work := func(id string, amount int64, before string, end error) call {
		return func(ctx context.Context, db *sql.DB) error {
			return reason(onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if before != "" {
					if err := onerow.QueryRow(ctx, tx, before, nil, new(int)); err != nil {
						return err
					}
				}
				return errors.Join(sell(ctx, tx, s, id, amount), end)
			}))
		}
	}
	void := func(key, why string) call {
		return func(ctx context.Context, db *sql.DB) error { return reason(second(s.Void(ctx, db, key, why))) }
	}
	before := func(ctx context.Context, db *sql.DB) error { return sell(ctx, db, s, "before", 4) }
	half := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, claimed_at)
			VALUES ('s', 'k', 2, REPEAT('x', 16), UTC_TIMESTAMP(6))`)
		return err
	}
	report := func(ctx context.Context, db *sql.DB) error {
		found, err := gaps.Find(ctx, db, s)
		if err == nil && !gaps.Complete(found) {
			err = fmt.Errorf("a report of what is in progress: %+v", found)
		}
		return errors.Join(err, second(serial.List(ctx, db, "", 5)))
	}
	const look = "SELECT COUNT(*) FROM onerow_serial_claim" // takes the snapshot
	twice := func(c call) []call { return []call{c, c} }
	return []race{
		{"the first claim, one key", nil, twice(claim("k", 3)), true, heard.once(1)},
		{"claim, one key", before, twice(claim("k", 3)), true, heard.once(1)},
		{"claim, one key, three times", before, []call{claim("k", 3), claim("k", 3), claim("k", 3)}, true, heard.once(1)},
		{"replay", before, twice(claim("before", 4)), true, heard.once(0)},
		{"claim, a half claim", half, twice(claim("k", 2)), true, heard.once(1)},
		{"claim, one key, two amounts", before, []call{claim("k", 1), claim("k", 2)}, false, nil},
		{"the first claim, two keys", nil, []call{claim("k", 3), claim("l", 2)}, false, heard.disjoint},
		{"claim, two keys", before, []call{claim("k", 3), claim("l", 2)}, false, heard.disjoint},
		{"sell, one id", before, twice(work("k", 3, "", nil)), true, nil},
		{"sell, two ids", before, []call{work("k", 3, "", nil), work("l", 1, "", nil)}, false, nil},
		{"sell after a look, one id", before, twice(work("k", 3, look, nil)), true, nil},
		{"sell after a look", before, []call{work("k", 3, look, nil), work("l", 1, look, nil)}, false, nil},
		{"sell, one changes his mind", before, []call{work("k", 3, "", errChanged), work("l", 1, "", nil)}, false, nil},
		{"sell, one id, one changes his mind", before, []call{work("k", 3, "", errChanged), work("k", 3, "", nil)}, false, nil},
		{"claim and void", before, []call{claim("k", 3), void("k", "why")}, false, nil},
		{"replay and void", before, []call{claim("before", 4), void("before", "why")}, false, nil},
		{"void, two reasons", before, []call{void("before", "why"), void("before", "so")}, false, nil},
		{"claim and report", before, []call{claim("k", 3), report}, false, nil},
	}
}

// workflow is a race as crashtest takes it.
func (r race) workflow(dsn string, heard *answers) crashtest.Race {
	w := faulty(dsn, r.setup, nil)
	gapless := w.Check
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		heard.list = nil
		if r.setup == nil {
			return nil
		}
		return r.setup(ctx, db)
	}
	w.Check = func(ctx context.Context, db *sql.DB) error {
		if err := gapless(ctx, db); err != nil || r.check == nil {
			return err
		}
		return r.check(ctx, db)
	}
	// Of three copies the schedules with two preemptions are too many.
	return crashtest.Race{Workflow: w, Calls: r.calls, AsOnce: r.once, Every: 150, Preemptions: 4 - len(r.calls)}
}

// TestInterleave steps every verb, and the pairs that meet at a series, through the interleavings of their
// statements.
func TestInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			heard := &answers{}
			for _, r := range races(series(t, "s"), heard) {
				t.Run(r.name, func(t *testing.T) { crashtest.Interleave(t, r.workflow(dsn, heard)) })
			}
		})
	}
}

// TestInterleaveTogether does so where statements travel together.
func TestInterleaveTogether(t *testing.T) {
	t.Parallel()
	_, dsn := open(t, dbtest.Isolation(levels[0]))
	heard := &answers{}
	for _, r := range races(series(t, "s"), heard) {
		t.Run(r.name, func(t *testing.T) {
			race := r.workflow(dsn, heard)
			race.Workflow = racetest.Together(race.Workflow)
			crashtest.Interleave(t, race)
		})
	}
}

// naive sells with a number that it has read: the largest one and 1, or the counter, written back.
func naive(read, write string) func(id string) call {
	return func(id string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				var next int64
				if err := onerow.QueryRow(ctx, tx, read, nil, &next); err != nil {
					return err
				}
				if write != "" {
					if _, err := tx.ExecContext(ctx, write, next+1); err != nil {
						return err
					}
				}
				_, err := tx.ExecContext(ctx, "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES (?, 's', ?, ?)", id, next, next)
				return err
			})
		}
	}
}

// TestInterleaveCatchesTheNaiveTwins: the schedule shows both reads before the second write, and a number is
// there twice.
func TestInterleaveCatchesTheNaiveTwins(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			for _, twin := range []struct {
				name   string
				sell   func(id string) call
				racing []string
			}{
				{"the largest and 1", naive("SELECT MAX(to_no) + 1 FROM postcard WHERE campaign = 's'", ""), []string{"SELECT MAX(to_no)", "INSERT INTO postcard"}},
				{"the counter, read and written", naive("SELECT next_no FROM onerow_serial WHERE series = 's'", "UPDATE onerow_serial SET next_no = ? WHERE series = 's'"),
					[]string{"SELECT next_no", "UPDATE onerow_serial SET next_no"}},
			} {
				t.Run(twin.name, func(t *testing.T) {
					s := series(t, "s")
					w := faulty(dsn, func(ctx context.Context, db *sql.DB) error { return sell(ctx, db, s, "before", 4) }, nil)
					w.Check = nil // the postcards tell
					_, err := crashtest.ExploreRace(t.Context(), crashtest.Race{Workflow: w, Calls: []call{twin.sell("k"), twin.sell("l")}, Every: -1})
					caught(t, err, "postcard", twin.racing...)
				})
			}
		})
	}
}

// caught demands that the first failure's table shows both copies at each of these statements, and rows of
// that table that differ.
func caught(t *testing.T, err error, table string, statements ...string) {
	t.Helper()
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v", err)
	}
	first := failures.List[0]
	for _, statement := range statements {
		if strings.Count(first.Table, statement) != 2 {
			t.Errorf("the schedule does not show %q of both copies:\n%s", statement, first)
		}
	}
	if !strings.Contains(first.Diff, "table "+table) {
		t.Errorf("no difference in %s:\n%s", table, first)
	}
	t.Logf("%d schedules catch it; the first, %s:\n%s", len(failures.List), first.Schedule, first.Table)
}

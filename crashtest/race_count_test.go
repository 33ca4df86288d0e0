package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// independent makes a race of copies that only read, of so many statements each.
func independent(dsn string, steps ...int) Race {
	r := stock(dsn, nil)
	r.Tables = []string{"stock"}
	r.Setup = func(context.Context, *sql.DB) error { return nil }
	for _, n := range steps {
		r.Calls = append(r.Calls, selects(n))
	}
	return r
}

func binomial(n, k int) int {
	total := 1
	for i := range k {
		total = total * (n - i) / (i + 1)
	}
	return total
}

// bounded is how many interleavings of n and m steps have at most k preemptions. A schedule of b blocks of
// one copy's steps has b-2: the last two blocks end with a copy's end.
func bounded(n, m, k int) int {
	total := 0
	for blocks := 2; blocks <= k+2; blocks++ {
		first, second := (blocks+1)/2-1, blocks/2-1 // cuts in the copy that begins, in the other
		total += binomial(n-1, first)*binomial(m-1, second) + binomial(m-1, first)*binomial(n-1, second)
	}
	return total
}

func TestInterleavingsAreCounted(t *testing.T) {
	dsn := stockDSN(t)
	tests := []struct {
		steps       []int
		preemptions int
		every       int
		want        int
		complete    bool
	}{
		{[]int{7, 7}, 2, 0, 3432, true}, // of 14 steps 7
		{[]int{7, 7}, 2, 3432, 86, false},
		{[]int{7, 7}, 2, -1, bounded(7, 7, 2), false},
		{[]int{7, 7}, 1, -1, bounded(7, 7, 1), false},
		{[]int{6, 4}, 3, -1, bounded(6, 4, 3), false},
		{[]int{5, 3}, 2, 0, binomial(8, 3), true},
		{[]int{2, 2, 2}, 2, 0, 90, true}, // 6! / (2! 2! 2!)
		{[]int{2, 1, 1}, 1, -1, 12, false},
		{[]int{1, 1}, 2, 0, 2, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%v at most %d of %d", tt.steps, tt.preemptions, tt.every), func(t *testing.T) {
			r := independent(dsn, tt.steps...)
			r.Preemptions, r.Every = tt.preemptions, tt.every
			report := Interleave(t, r)
			steps := 0
			for _, n := range tt.steps {
				steps += n
			}
			if report.Schedules != tt.want || report.Distinct != tt.want || report.Complete != tt.complete || report.Steps != steps*tt.want ||
				report.Waits != 0 || report.Unsteady != 0 {
				t.Errorf("want %d: %+v", tt.want, report)
			}
		})
	}
	if n := interleavings([]int{7, 7}, 5000); n != 3432 {
		t.Errorf("%d interleavings of 7 and 7", n)
	}
	if n := interleavings([]int{500, 500, 500}, 5000); n != 5000 {
		t.Errorf("%d interleavings of 500, 500 and 500", n)
	}
}

// Prepared statements are one step, as they are one statement of Explore.
func TestPreparedStatementsAreOneStep(t *testing.T) {
	r := stock(stockDSN(t, dbtest.Param("interpolateParams", "false")), takeNaively)
	_, err := ExploreRace(t.Context(), r)
	var failures *Failures
	if !errors.As(err, &failures) || failures.Runs != binomial(8, 4) && failures.Runs < 20 {
		t.Fatal(err)
	}
	if table := failures.List[0].Table; strings.Count(table, "UPDATE stock") != 2 || !strings.Contains(table, "     8  |") {
		t.Errorf("not 8 steps:\n%s", table)
	}
}

// TestOrderOfWaiting shows who waits for whom and who goes on when, for a schedule given by hand.
func TestOrderOfWaiting(t *testing.T) {
	for _, level := range bothLevels {
		t.Run(level.String(), func(t *testing.T) {
			r := stock(stockDSN(t, dbtest.Isolation(level)), sends("UPDATE stock SET n = n-1 WHERE id = 1"))
			r.Calls = slices.Repeat([]func(context.Context, *sql.DB) error{r.Call}, 3)
			table, err := Replay(t.Context(), r, "AABBCCA")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(table) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			var marks []string
			for _, line := range got {
				for _, mark := range []string{"waits", "(4) goes on", "(6) goes on", "COMMIT"} {
					if strings.Contains(line, mark) {
						marks = append(marks, mark)
					}
				}
			}
			if order := strings.Join(marks, ", "); order != "waits, waits, COMMIT, (4) goes on, COMMIT, (6) goes on, COMMIT" {
				t.Errorf("%s\n%s", order, table)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	r := stock(stockDSN(t), sends("UPDATE stock SET n = n-1 WHERE id = 1"))
	for _, tt := range []struct{ schedule, says string }{
		{"AAX", "no copy"}, {"AAC", "no copy"}, {"AABBB", "could not go on"}, {"a", "could not go on"},
	} {
		if _, err := Replay(t.Context(), r, tt.schedule); !errors.Is(err, errUnplayable) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.schedule, err)
		}
	}
	var first string
	for range 5 {
		table, err := Replay(t.Context(), r, "ABBA")
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = table
		}
		if table != first {
			t.Errorf("not the same again:\n%s%s", first, table)
		}
	}
}

// Locks that are not InnoDB's are seen too, and a circle of them is no deadlock to the server.
func TestNamedLocks(t *testing.T) {
	t.Parallel()
	lock := func(names ...string) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) (err error) {
			c, err := db.Conn(ctx)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			for _, name := range names {
				if _, err := c.ExecContext(ctx, "DO GET_LOCK(?, 10)", name); err != nil {
					return err
				}
			}
			for _, name := range names {
				if _, err := c.ExecContext(ctx, "DO RELEASE_LOCK(?)", name); err != nil {
					return err
				}
			}
			return nil
		}
	}
	dsn := stockDSN(t)
	r := stock(dsn, nil)
	name := configOf(t, dsn).DBName
	r.Calls = calls{lock(name), lock(name)}
	if report := Interleave(t, r); report.Waits == 0 {
		t.Errorf("nobody waited: %+v", report)
	}
}

func TestStuck(t *testing.T) {
	t.Parallel()
	// Two transactions of one copy on two connections: the second waits for the first, which is its own.
	r := stock(stockDSN(t), func(ctx context.Context, db *sql.DB) error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 1"); err != nil {
				return err
			}
			_, err := db.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 1")
			return err
		})
	})
	_, err := ExploreRace(t.Context(), r)
	if !errors.Is(err, errStuck) {
		t.Errorf("not stuck: %v", err)
	}
}

func TestRaceThatCannotBeExplored(t *testing.T) {
	dsn := stockDSN(t)
	tests := []struct {
		name   string
		change func(*Race)
		says   string
	}{
		{"no call", func(r *Race) { r.Call = nil }, "lacks Call"},
		{"four copies", func(r *Race) { r.Calls = slices.Repeat([]func(context.Context, *sql.DB) error{r.Call}, 4) }, "4 copies"},
		{"one copy", func(r *Race) { r.Calls = []func(context.Context, *sql.DB) error{r.Call} }, "1 copies"},
		{"not the same twice", func(r *Race) {
			var n atomic.Int64 // the copies begin at the same time
			r.Call = func(ctx context.Context, db *sql.DB) error {
				_, err := db.ExecContext(ctx, "UPDATE stock SET n = ? WHERE id = 1", n.Add(1))
				return err
			}
		}, "in the same order differ"},
		{"no statement", func(r *Race) { r.Call = func(context.Context, *sql.DB) error { return nil } }, "the copies sent no statement"},
		{"no copy works", func(r *Race) { r.Call = sends("UPDATE stocks SET n = 1 WHERE id = 1") }, "every copy fails in every serial execution: Error 1146"},
		{"no copy works, judged", func(r *Race) {
			r.Call = sends("UPDATE stocks SET n = 1 WHERE id = 1")
			r.Judge = func(context.Context, *sql.DB, []error) error { return nil }
		}, "every copy fails in every serial execution: Error 1146"},
		{"no copy works, as once", func(r *Race) { r.Call, r.AsOnce = sends("UPDATE stocks SET n = 1 WHERE id = 1"), true }, "every copy fails in every serial execution: Error 1146"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := stock(dsn, sends("UPDATE stock SET n = 1 WHERE id = 1"))
			tt.change(&r)
			if _, err := ExploreRace(t.Context(), r); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("want %q in: %v", tt.says, err)
			}
		})
	}
}

// A schedule that comes out otherwise than it was chosen is judged too, and what it should have been is
// missing.
func TestUnsteadySchedules(t *testing.T) {
	const played = 4 // three serial executions and the first schedule; the next one is to begin with B
	for _, tt := range []struct {
		name    string
		silent  func(play int) bool // when B sends no statement
		answers string
	}{
		{"wrong once", func(play int) bool { return play == played+1 }, "7 left"},
		{"never again", func(play int) bool { return play > played }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stock(stockDSN(t), nil)
			play := 0
			r.Setup = func(ctx context.Context, db *sql.DB) error {
				play++
				return fullStock(ctx, db)
			}
			r.Calls = calls{
				func(ctx context.Context, db *sql.DB) error {
					n := 9
					if tt.answers != "" && tt.silent(play) {
						n = 7
					}
					_, err := db.ExecContext(ctx, "UPDATE stock SET n = ? WHERE id = 1", n)
					return err
				},
				func(ctx context.Context, db *sql.DB) error {
					if tt.silent(play) {
						return nil
					}
					return selects(1)(ctx, db)
				},
			}
			r.Judge = func(ctx context.Context, db *sql.DB, answers []error) error {
				var n int
				err := errors.Join(append(answers, db.QueryRowContext(ctx, "SELECT n FROM stock WHERE id = 1").Scan(&n))...)
				if err == nil && n != 9 {
					err = fmt.Errorf("%d left", n)
				}
				return err
			}
			report, err := ExploreRace(t.Context(), r)
			if tt.answers == "" && err != nil || tt.answers != "" && (err == nil || !strings.Contains(err.Error(), tt.answers)) {
				t.Errorf("want %q: %v", tt.answers, err)
			}
			if report.Complete || report.Unsteady != 1 || report.Schedules != 2 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// A copy that waits for another one inside the process is left behind after a while, and comes back when it
// can.
func TestWaitOutsideTheDatabase(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	r := stock(stockDSN(t), func(ctx context.Context, db *sql.DB) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := db.ExecContext(ctx, "UPDATE stock SET n = n-1 WHERE id = 1")
		return err
	})
	if report := Interleave(t, r); report.Schedules == 0 || report.Serial != 1 {
		t.Errorf("%+v", report)
	}
}

// A copy that polls until another one is done gives way to it after a while.
func TestPollingGivesWay(t *testing.T) {
	t.Parallel()
	gaveUp := errors.New("gave up")
	polls := 0
	r := stock(stockDSN(t), nil)
	r.Calls = calls{
		func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE stock SET n = 0 WHERE id = 1")
			return err
		},
		func(ctx context.Context, db *sql.DB) error {
			for polls = 1; polls <= 100; polls++ {
				var n int
				if err := db.QueryRowContext(ctx, "SELECT n FROM stock WHERE id = 1").Scan(&n); err != nil || n == 0 {
					return err
				}
			}
			return gaveUp
		},
	}
	r.Check = func(context.Context, *sql.DB) error {
		if polls > 20 && polls <= 100 {
			return fmt.Errorf("%d polls", polls)
		}
		return nil
	}
	if report := Interleave(t, r); report.Serial != 2 || report.Schedules < 10 || report.Steps > 20*report.Schedules {
		t.Errorf("%+v", report)
	}
}

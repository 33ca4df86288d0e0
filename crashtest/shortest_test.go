package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// twenty runs, each on the tables and counters that the one before has left.
const twenty = 20

func wantTwenty(t *testing.T, want Trace, shortest func() (Trace, error)) {
	t.Helper()
	for i := range twenty {
		got, err := shortest()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("run %d (- want, + got):\n%s", i+1, d)
		}
	}
}

// asks, changes and says are steps that wait for nobody.
func asks(number int, name, query, column, answer string) Step {
	return Step{Number: number, Copy: name, Session: 1, SQL: query, Columns: []string{column}, Rows: [][]string{{answer}}, Changed: -1}
}

func changes(number int, name, query string, args ...string) Step {
	return Step{Number: number, Copy: name, Session: 1, SQL: query, Args: args, Changed: 1}
}

func says(number int, name, query string) Step {
	return Step{Number: number, Copy: name, Session: 1, SQL: query, Changed: -1}
}

// Ids that the server has drawn are no numbers.
func TestShortestRace(t *testing.T) {
	t.Parallel()
	dsn := shopDSN(t, dbtest.Isolation(sql.LevelReadCommitted))
	const count = "SELECT COUNT(*) FROM purchase WHERE buyer = 'ann'"
	wantTwenty(t, Trace{
		Schedule: "ABBBAA",
		Steps: []Step{
			asks(1, "A", count, "COUNT(*)", "0"),
			asks(2, "B", count, "COUNT(*)", "0"),
			changes(3, "B", insertPurchase, "ann", "shoe"),
			changes(4, "B", insertAudit, "#1"),
			changes(5, "A", insertPurchase, "ann", "shoe"),
			changes(6, "A", insertAudit, "#2"),
		},
		Answers: []string{"nil", "nil"},
		Reason:  "the tables are not those after one call alone; nearest: one call alone, answers nil, nil",
		Diff: `table audit: 1 row serially, 2 rows interleaved
     id  purchase_id  what    at
  +  #2  #3           bought  a time
table purchase: 2 rows serially, 3 rows interleaved
     id  buyer  item  created_at
  +  #3  ann    shoe  a time
`,
	}, func() (Trace, error) {
		trace, _, err := ShortestRace(t.Context(), Race{Workflow: shop(dsn, readThenWrite), AsOnce: true})
		return trace, err
	})
}

// Ids in a text and times that were read are taken out as well; a number that no counter has drawn stays.
func TestShortestTexts(t *testing.T) {
	t.Parallel()
	dsn := shopDSN(t, dbtest.Isolation(sql.LevelReadCommitted), dbtest.Param("interpolateParams", "false"))
	const last = "SELECT MAX(id), MAX(created_at), 1234567 FROM purchase"
	call := func(ctx context.Context, db *sql.DB) error {
		var id, number int64
		var at string
		if err := db.QueryRowContext(ctx, last).Scan(&id, &at, &number); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE purchase SET item = CONCAT(item, ?) WHERE id = %d", id), "!")
		return err
	}
	update := func(number int, name string) Step {
		return changes(number, name, "UPDATE purchase SET item = CONCAT(item, ?) WHERE id = #1", "!")
	}
	read := func(number int, name string) Step {
		return Step{
			Number: number, Copy: name, Session: 1, SQL: last, Columns: []string{"MAX(id)", "MAX(created_at)", "1234567"},
			Rows: [][]string{{"#1", "a time", "1234567"}}, Changed: -1,
		}
	}
	got, _, err := ShortestRace(t.Context(), Race{Workflow: shop(dsn, call), AsOnce: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Step{read(1, "A"), update(2, "A"), read(3, "B"), update(4, "B")}, got.Steps); d != "" {
		t.Errorf("(- want, + got):\n%s", d)
	}
}

// Who waits, for whom, and when it goes on.
func TestShortestRaceWaits(t *testing.T) {
	t.Parallel()
	dsn := stockDSN(t, dbtest.Isolation(sql.LevelReadCommitted))
	const read, write = "SELECT n FROM stock WHERE id = 1", "UPDATE stock SET n = ? WHERE id = 1"
	late := changes(6, "B", write, "9")
	late.WaitsFor, late.GoesOn, late.Changed = "A", 7, 0
	if !strings.Contains(dbtest.Scan[string](t, dbtest.OpenDSN(t, dsn), "SELECT VERSION()"), "MariaDB") { // whose locks are not live
		late.Lock = "X,REC_NOT_GAP on stock.PRIMARY (1)"
	}
	wantTwenty(t, Trace{
		Schedule: "AAABBBAB",
		Steps: []Step{
			says(1, "A", "START TRANSACTION"), asks(2, "A", read, "n", "10"), changes(3, "A", write, "9"),
			says(4, "B", "START TRANSACTION"), asks(5, "B", read, "n", "10"), late,
			says(7, "A", "COMMIT"), says(8, "B", "COMMIT"),
		},
		Answers: []string{"nil", "nil"},
		Reason:  "the tables are not those after the copies one after the other in any order; nearest: AB, answers nil, nil",
		Diff:    "table stock: 2 rows serially, 2 rows interleaved\n     id  n\n  -  1   8\n  +  1   9\n",
	}, func() (Trace, error) {
		trace, _, err := ShortestRace(t.Context(), stock(dsn, takeNaively))
		return trace, err
	})
}

// Both lock the gap of a seat that nobody has, and wait for each other. Setup makes the table anew: a deleted seat
// would be locked in place of the gap, as long as it is not purged.
func TestShortestDeadlock(t *testing.T) {
	t.Parallel()
	dsn := stockDSN(t, dbtest.Isolation(sql.LevelRepeatableRead))
	const look, take = "SELECT who FROM ticket WHERE seat = 7 FOR UPDATE", "INSERT INTO ticket (seat, who) VALUES (7, 'ann')"
	r := stock(dsn, sends(look, take))
	r.Setup = func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "TRUNCATE TABLE ticket")
		return err
	}
	r.Again = func(error) bool { return false }
	var first Trace
	wantTwenty(t, first, func() (Trace, error) {
		got, _, err := ShortestRace(t.Context(), r)
		if err != nil || len(first.Steps) > 0 {
			return Trace{}, errors.Join(err, differ(first, got))
		}
		first = got
		last := got.Steps[len(got.Steps)-1]
		if len(got.Steps) != 8 || last.SQL != "ROLLBACK" && last.SQL != "COMMIT" {
			err = fmt.Errorf("no deadlock of eight steps: %+v", got)
		}
		return Trace{}, err
	})
}

func differ(want, got Trace) error {
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("(- first, + now):\n%s", d)
	}
	return nil
}

// The call with the fault is A, the one made again B.
func TestShortestFault(t *testing.T) {
	t.Parallel()
	dsn := shopDSN(t)
	lost := says(4, "A", "COMMIT")
	lost.Note, lost.Err = string(CutAfter), "error: invalid connection"
	duplicate := says(6, "B", insertRequest)
	duplicate.Args, duplicate.Err = []string{"r-1"}, "duplicate (1062)"
	wantTwenty(t, Trace{
		Fault: "statement 4 of 7: " + string(CutAfter),
		Steps: []Step{
			says(1, "A", "START TRANSACTION"), changes(2, "A", insertRequest, "r-1"), changes(3, "A", insertPurchase, "ann", "shoe"), lost,
			says(5, "B", "START TRANSACTION"), duplicate, says(7, "B", "ROLLBACK"),
		},
		Answers: []string{"invalid connection", "nil"},
		Reason:  "the tables differ from those of the run without faults",
		Diff:    "table audit: 1 row without the fault, 0 rows with it\n     id  purchase_id  what    at\n  -  #1  #2           bought  a time\n",
	}, func() (Trace, error) {
		trace, _, err := ShortestFault(t.Context(), shop(dsn, splitInTwo))
		return trace, err
	})
}

// A process that stops is a step without a number, and the retry waits for what it holds.
func TestShortestFaultStops(t *testing.T) {
	t.Parallel()
	w := shop(shopDSN(t), splitInTwo)
	w.Without = []Fault{CutBefore, CutLost, CutAfter, KillBefore, KillAfter, CancelBefore, CancelAfter, DeadlockBefore, DeadlockAfter, LockWait, RefusedCertification, RefusedCommit}
	trace, _, err := ShortestFault(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Steps) < 5 || trace.Steps[4].Note != "stops here, its connection stays open" || trace.Steps[5].Copy != "B" {
		t.Errorf("%+v", trace)
	}
}

func TestShortestSurvives(t *testing.T) {
	t.Parallel()
	dsn := shopDSN(t)
	w := shop(dsn, buy)
	if _, _, err := ShortestFault(t.Context(), w); !errors.Is(err, ErrSurvives) {
		t.Errorf("a right workflow: %v", err)
	}
	if _, _, err := ShortestRace(t.Context(), Race{Workflow: w, AsOnce: true}); !errors.Is(err, ErrSurvives) {
		t.Errorf("a right race: %v", err)
	}
	w.Call = func(context.Context, *sql.DB) error { return errors.New("no") }
	if _, _, err := ShortestRace(t.Context(), Race{Workflow: w}); err == nil || errors.Is(err, ErrSurvives) {
		t.Errorf("a race that cannot be explored: %v", err)
	}
}

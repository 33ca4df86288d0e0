package adopt_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema/adopt"
)

// expanded has run the files before the backfill.
func expanded(t testing.TB, rows int) (db *sql.DB, dsn string, f *adopt.Filler) {
	t.Helper()
	db, dsn = old(t, rows)
	for _, s := range planned(t, db, plan()).Steps {
		if s.Last {
			break
		}
		if err := send(t.Context(), db, adopt.Statements(s.Up)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := adopt.New(t.Context(), db, plan(), "ticket")
	if err != nil {
		t.Fatal(err)
	}
	return db, dsn, f
}

// ticket inserts one as an old writer does.
func ticket(id, desk int, title string) string {
	return fmt.Sprintf("INSERT INTO tickets (id, desk_id, title, updated_at, created_at) VALUES (%d, %d, '%s', '2020-02-02 02:02:02', '2020-01-01 01:01:01')", id, desk, title)
}

// keys are the rows with what belongs to their names.
func keys(t testing.TB, db *sql.DB) string {
	t.Helper()
	return dbtest.Scan[string](t, db, "SELECT COALESCE(GROUP_CONCAT(id, ' ', title, '=', COALESCE(title_key, 'NULL'), '/', COALESCE(stem_key, 'NULL'), '/', copy_no ORDER BY id SEPARATOR '; '), '') FROM tickets")
}

// untouched fails the test unless the times of all rows are those of ticket.
func untouched(t testing.TB, db *sql.DB) {
	t.Helper()
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM tickets WHERE updated_at <> '2020-02-02 02:02:02' OR created_at <> '2020-01-01 01:01:01'"); n > 0 {
		t.Errorf("the times of %d rows have moved", n)
	}
}

// said are the rows that were left, in words.
func said(r adopt.Report) string {
	var all []string
	for _, l := range r.Left {
		holder := ""
		if l.Holder != "" {
			holder = " of " + l.Holder
		}
		kind := "?"
		for name, err := range map[string]error{"taken": adopt.ErrNameTaken, "lacks": adopt.ErrLacks, "empty": names.ErrEmpty, "long": names.ErrTooLong, "invalid": names.ErrInvalid} {
			if errors.Is(l.Err, err) {
				kind = name
			}
		}
		all = append(all, l.ID+" "+kind+holder)
	}
	return strings.Join(all, ", ")
}

// TestTakenBesideTheLastCopy: somebody has typed the last copy numbers; a copy gets another.
func TestTakenBesideTheLastCopy(t *testing.T) {
	t.Parallel()
	db, _, f := expanded(t, 0)
	for i, title := range []string{"Alpha", "alpha (Copy 999998)", "alpha (Copy 999999)", "ALPHA"} {
		dbtest.Exec(t, db, ticket(i+1, 1, title))
	}
	report, err := f.Run(t.Context(), db, adopt.Options{Copies: true})
	if err != nil || !report.Whole || report.Copied != 1 {
		t.Fatalf("%v, %d copied, left is %s", err, report.Copied, said(report))
	}
	const want = "1 Alpha=alpha/alpha/0; 2 alpha (Copy 999998)=alpha (copy 999998)/alpha/999998; " +
		"3 alpha (Copy 999999)=alpha (copy 999999)/alpha/999999; 4 ALPHA (Copy 1)=alpha (copy 1)/alpha/1"
	if got := keys(t, db); got != want {
		t.Errorf("the rows are\n%s\nwant\n%s", got, want)
	}
}

// TestTaken: of two rows whose names are the same the first has the key, the other is listed with it; with
// copies it is renamed, and no name that another row has already, key or not, is given away. Names that
// cannot have a key, and rows without a name, are listed. No time moves.
func TestTaken(t *testing.T) {
	t.Parallel()
	db, _, f := expanded(t, 0)
	dbtest.Exec(t, db, "ALTER TABLE tickets MODIFY title VARCHAR(300) CHARACTER SET utf8mb4 NULL, MODIFY loud VARCHAR(300) CHARACTER SET utf8mb4 AS (UPPER(title)) VIRTUAL")
	for i, title := range []string{"Alpha", " ALPHA", "alpha (Copy 1)", "Beta", "alpha", "a\x01b", strings.Repeat("x", 201), "   ", "Alpha (Copy 3)"} {
		dbtest.Exec(t, db, ticket(i+1, 1, title))
	}
	dbtest.Exec(t, db, ticket(10, 2, "alpha"))
	dbtest.Exec(t, db, "INSERT INTO tickets (id, desk_id, title, updated_at, created_at) VALUES (11, 2, NULL, '2020-02-02 02:02:02', '2020-01-01 01:01:01')")
	report, err := f.Run(t.Context(), db, adopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const hostile = ", 6 invalid, 7 long, 8 empty, 11 lacks"
	left := strings.Split(said(report), ", ")
	slices.SortFunc(left, func(a, b string) int {
		return len(strings.Fields(a)[0])*100 + strings.Compare(a, b) - len(strings.Fields(b)[0])*100
	})
	if got, want := strings.Join(left, ", "), "2 taken of 1, 5 taken of 1"+hostile; got != want || report.Whole || report.LeftRows != 6 {
		t.Errorf("left is %s, want %s", got, want)
	}
	if report, err = f.Run(t.Context(), db, adopt.Options{Copies: true}); err != nil {
		t.Fatal(err)
	}
	if got := said(report); strings.Contains(got, "taken") || report.Copied != 2 || report.LeftRows != 4 {
		t.Errorf("left is %s, %d copied", got, report.Copied)
	}
	dbtest.Exec(t, db, "DELETE FROM tickets WHERE id IN (6, 7, 8, 11)")
	const want = "1 Alpha=alpha/alpha/0; 2 ALPHA (Copy 4)=alpha (copy 4)/alpha/4; 3 alpha (Copy 1)=alpha (copy 1)/alpha/1; 4 Beta=beta/beta/0; " +
		"5 alpha (Copy 5)=alpha (copy 5)/alpha/5; 9 Alpha (Copy 3)=alpha (copy 3)/alpha/3; 10 alpha=alpha/alpha/0"
	if got := keys(t, db); got != want {
		t.Errorf("the rows are\n%s\nwant\n%s", got, want)
	}
	untouched(t, db)
	if again, err := f.Run(t.Context(), db, adopt.Options{Copies: true}); err != nil || !again.Whole || again.Written+again.Copied > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestStale: writers that change names and not their keys, so that rows hold names of each other's.
func TestStale(t *testing.T) {
	t.Parallel()
	db, _, f := expanded(t, 0)
	for i, title := range []string{"A", "B", "C", "D"} {
		dbtest.Exec(t, db, ticket(i+1, 1, title))
	}
	if _, err := f.Run(t.Context(), db, adopt.Options{}); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "UPDATE tickets SET title = CASE id WHEN 1 THEN 'B' WHEN 2 THEN 'A' WHEN 3 THEN 'd' WHEN 4 THEN '' END, updated_at = updated_at")
	report, err := f.Run(t.Context(), db, adopt.Options{})
	if err != nil || said(report) != "4 empty" || report.LeftRows != 1 || report.Behind != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if got, want := keys(t, db), "1 B=b/b/0; 2 A=a/a/0; 3 d=d/d/0; 4 =NULL/d/0"; got != want {
		t.Errorf("the rows are\n%s\nwant\n%s", got, want)
	}
	untouched(t, db)
}

// TestResume: what a run has done before it ends at any page is not done again.
func TestResume(t *testing.T) {
	t.Parallel()
	db, _, f := expanded(t, 1700)
	stop := errors.New("stop")
	var last string
	report, err := f.Run(t.Context(), db, adopt.Options{OnPage: func(_ context.Context, r adopt.Report) error {
		if last = r.Last; last == "1000" {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || report.Written != 1000 {
		t.Fatalf("%+v, %v", report, err)
	}
	pages := 0
	report, err = f.Run(t.Context(), db, adopt.Options{OnPage: func(context.Context, adopt.Report) error { pages++; return nil }})
	// All in 4 pages, and the archive, twice.
	if err != nil || !report.Whole || report.Rows != 1700 || report.Written != 700 || pages != 5+5 {
		t.Errorf("%+v, %v, %d pages", report, err, pages)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM tickets WHERE title_key IS NULL"); n != 0 {
		t.Errorf("%d rows without a key", n)
	}
}

// TestCrash: the backfill may die at any statement.
func TestCrash(t *testing.T) {
	t.Parallel()
	_, dsn, f := expanded(t, 0)
	report := crashtest.Run(t, crashtest.Workflow{
		DSN: dsn, Tables: []string{"tickets"}, Empty: []string{"tickets"},
		Setup: func(ctx context.Context, db *sql.DB) error {
			for i, title := range []string{"A", "a", "B", "a (Copy 1)"} {
				if _, err := db.ExecContext(ctx, ticket(i+1, 1, title)); err != nil {
					return err
				}
			}
			_, err := db.ExecContext(ctx, "UPDATE tickets SET title_key = 'b', stem_key = 'b', updated_at = updated_at WHERE id = 1") // stale
			return err
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			_, err := f.Run(ctx, db, adopt.Options{Copies: true})
			return err
		},
		Check: func(ctx context.Context, db *sql.DB) error {
			if got, want := keys(t, db), "1 A=a/a/0; 2 a (Copy 2)=a (copy 2)/a/2; 3 B=b/b/0; 4 a (Copy 1)=a (copy 1)/a/1"; got != want {
				return fmt.Errorf("the rows are %s, want %s", got, want)
			}
			untouched(t, db)
			return nil
		},
	})
	if report.FaultPoints < 60 {
		t.Errorf("only %d fault points", report.FaultPoints)
	}
}

// TestInterleave: somebody renames, deletes or inserts between any two statements of a page. What he wrote
// stays, and the next run has nothing left to do but what he left behind.
func TestInterleave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stmt string
		want []string
	}{
		"a rename":                 {"UPDATE tickets SET title = 'C', updated_at = updated_at WHERE id = 1", []string{"1 C=c/c/0; 2 B=b/b/0"}},
		"a rename to a name there": {"UPDATE tickets SET title = 'b', title_key = NULL, updated_at = updated_at WHERE id = 1", []string{"1 b=b/b/0; 2 B=NULL/NULL/0", "1 b=NULL/NULL/0; 2 B=b/b/0", "1 b=NULL/a/0; 2 B=b/b/0"}},
		"a delete":                 {"DELETE FROM tickets WHERE id = 1", []string{"2 B=b/b/0"}},
		"an insert":                {ticket(3, 1, "c"), []string{"1 A=a/a/0; 2 B=b/b/0; 3 c=c/c/0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dsn, f := expanded(t, 0)
			crashtest.Interleave(t, crashtest.Race{
				Workflow: crashtest.Workflow{DSN: dsn, Tables: []string{"tickets"}, Empty: []string{"tickets"}, Setup: func(ctx context.Context, db *sql.DB) error {
					return send(ctx, db, []string{ticket(1, 1, "A"), ticket(2, 1, "B")})
				}},
				Calls: []func(context.Context, *sql.DB) error{
					func(ctx context.Context, db *sql.DB) error {
						_, err := f.Page(ctx, db, false)
						return err
					},
					func(ctx context.Context, db *sql.DB) error { return send(ctx, db, []string{c.stmt}) },
				},
				Judge: func(ctx context.Context, db *sql.DB, answers []error) error {
					if err := errors.Join(answers...); err != nil {
						return err
					}
					if _, err := f.Run(ctx, db, adopt.Options{}); err != nil {
						return err
					}
					untouched(t, db)
					if got := keys(t, db); !slices.Contains(c.want, got) {
						return fmt.Errorf("the rows are %s, want one of %q", got, c.want)
					}
					return nil
				},
			})
		})
	}
}

// TestCosts: pages are read and written by the primary key, and collisions found by the indexes of names.
func TestCosts(t *testing.T) {
	t.Parallel()
	var f *adopt.Filler
	at := func(rows int) string {
		db, dsn, filler := expanded(t, rows)
		f = filler
		// The first hundred have no keys, and no time. A key that was taken away in the call would be an
		// entry of the index that is locked until the server has purged it.
		if err := f.Rest(t.Context(), db, uint64(100)); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "UPDATE tickets SET updated_at = NULL WHERE id <= 100")
		dbtest.Exec(t, db, "ANALYZE TABLE tickets")
		return dsn
	}
	few, many := at(cost.Few), at(cost.Many(t))
	c := cost.Compare(t, few, many, 600)
	page := func(copies bool, before ...string) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			if err := send(ctx, db, before); err != nil {
				return err
			}
			_, err := f.Page(ctx, db, copies)
			return err
		}
	}
	c.Call("a page", page(false))
	c.Call("a page with nothing to do", page(false))
	c.Call("a name that is taken", page(false, "UPDATE tickets SET title = 'Ticket №900', desk_id = 900 % 3 + 1, title_key = NULL WHERE id = 7"))
	c.Call("a copy", page(true))
	c.Call("a name that a stale key holds", page(false, "UPDATE tickets SET title = 'Other' WHERE id = 900", "UPDATE tickets SET title = 'Ticket №900', title_key = NULL WHERE id = 7"))
	c.Source(".", nil)
}

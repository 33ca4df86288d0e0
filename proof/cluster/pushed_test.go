//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// part has the rows of each case: 1 is written first, and then by another node; 3 behind a savepoint; 2 and 4
// by the statement of the case; 9 last. source is read only.
const (
	ddlPart   = "CREATE TABLE part (c INT NOT NULL, id INT NOT NULL, n INT NOT NULL, PRIMARY KEY (c, id)) ENGINE=InnoDB"
	ddlSource = "CREATE TABLE source (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB"
)

// kinds are the statements that may be the first after the push-away; c is the case.
var kinds = []struct{ name, sql string }{
	{"nothing", ""},
	{"select", "SELECT n FROM part WHERE c = ? AND id = 2"},
	{"locking select", "SELECT n FROM part WHERE c = ? AND id = 2 FOR UPDATE"},
	{"select of no table", "SELECT ?"},
	{"insert", "INSERT INTO part VALUES (?, 4, 1)"},
	{"update", "UPDATE part SET n = n + 1 WHERE c = ? AND id = 2"},
	{"update of nothing", "UPDATE part SET n = n + 1 WHERE c = ? AND id = 5"},
	{"delete of nothing", "DELETE FROM part WHERE c = ? AND id = 5"},
	{"replace", "REPLACE INTO part VALUES (?, 2, 1)"},
	{"insert select", "INSERT INTO part SELECT ?, 4, 1 FROM source"},
	{"prepared", "UPDATE part SET n = n + 1 WHERE c = ? AND id = 2"},
	{"savepoint", "SAVEPOINT x"},
	{"rollback to", "ROLLBACK TO SAVEPOINT s"},
	{"release", "RELEASE SAVEPOINT s"},
	{"do", "DO 0"},
	{"set", "SET @x = 1"},
	{"refused ddl", "CREATE TABLE part (id INT)"},
}

// What a case does about savepoints.
const (
	without = "no savepoint"
	before  = "a savepoint before"
	after   = "a savepoint after"
)

// pushed is one case.
type pushed struct {
	*site
	c    int
	sp   string
	stmt func(ctx context.Context, tx *sql.Tx, c int) error
	away bool // another node writes row 1 while the transaction is open
}

// eachPushed has every kind of statement, with and without savepoints. The cases have rows of their own in
// one table; what is there in the end is compared on all nodes.
func eachPushed(t *testing.T, away bool, run func(p pushed, name string)) {
	s := newSite(t, ddlPart, ddlSource)
	dbtest.Exec(t, s.db[0], "INSERT INTO source VALUES (1)")
	c := 0
	for _, k := range kinds {
		for _, sp := range []string{without, before, after} {
			if c++; sp != before && strings.HasSuffix(k.sql, " s") || !away && k.name == "refused ddl" {
				continue // there is no such savepoint; it would commit
			}
			dbtest.Exec(t, s.db[0], "INSERT INTO part VALUES (?, 1, 0), (?, 2, 0), (?, 3, 0)", c, c, c)
			run(pushed{s, c, sp, statement(k.name, k.sql), away}, k.name+", "+sp)
		}
	}
	s.same()
}

// statement runs one of kinds.
func statement(name, query string) func(ctx context.Context, tx *sql.Tx, c int) error {
	return func(ctx context.Context, tx *sql.Tx, c int) error {
		var args []any
		if strings.Contains(query, "?") {
			args = append(args, c)
		}
		switch {
		case query == "":
			return nil
		case strings.HasPrefix(query, "SELECT"):
			var n int
			return tx.QueryRowContext(ctx, query, args...).Scan(&n)
		case name == "prepared":
			stmt, err := tx.PrepareContext(ctx, query)
			if err != nil {
				return err
			}
			_, err = stmt.ExecContext(ctx, args...)
			return errors.Join(err, stmt.Close())
		}
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
}

// work writes the parts of a transaction up to the last, with the push-away in between, and returns what its
// statements answered.
func (p pushed) work(ctx context.Context, tx *sql.Tx) (errs []error) {
	add := func(query string, args ...any) {
		_, err := tx.ExecContext(ctx, query, args...)
		errs = append(errs, err)
	}
	add("UPDATE part SET n = n + 1 WHERE c = ? AND id = 1", p.c)
	if p.sp == before {
		add("SAVEPOINT s")
		add("UPDATE part SET n = n + 1 WHERE c = ? AND id = 3", p.c)
	}
	if p.away {
		p.push()
	}
	errs = append(errs, p.stmt(ctx, tx, p.c))
	if p.sp == after {
		add("SAVEPOINT t")
	}
	add("INSERT INTO part VALUES (?, 9, 1)", p.c)
	return errs
}

// push writes the first row on another node, and waits until the first node has applied it.
func (p pushed) push() {
	p.Helper()
	dbtest.Exec(p, p.db[1], "UPDATE part SET n = n + 100 WHERE c = ? AND id = 1", p.c)
	if n := dbtest.Scan[int](p, p.db[0], "SELECT n FROM part WHERE c = ? AND id = 1", p.c); n != 100 {
		p.Errorf("case %d: %d on the first node", p.c, n)
	}
}

// want compares a case's rows on every node.
func (p pushed) want(name, rows string) {
	p.Helper()
	for i, db := range p.db {
		got := dbtest.Scan[string](p, db, sqlCase, p.c)
		if got != rows {
			p.Errorf("%s: node %d has %s, want %s", name, i, got, rows)
		}
	}
}

// TestPushedAway: a write of another node ends a transaction that is open on this one. Whatever its next
// statement is, and whatever the caller makes of its error, COMMIT does not say ok, and none of its parts is
// on any node.
func TestPushedAway(t *testing.T) {
	eachPushed(t, true, func(p pushed, name string) {
		tx, err := p.db[0].BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		errs := p.work(t.Context(), tx)
		if err := tx.Commit(); err == nil {
			t.Errorf("%s: COMMIT says ok after %v", name, errs)
		}
		p.want(name, "1:100,2:0,3:0")
	})
}

// TestPushedAwayInTx: InTx runs the whole again, and then all of it is there, once.
func TestPushedAwayInTx(t *testing.T) {
	eachPushed(t, true, func(p pushed, name string) {
		if strings.HasPrefix(name, "refused ddl") {
			return // it would commit, the second time
		}
		var plain string
		runs := 0
		err := onerow.InTx(t.Context(), p.db[0], func(ctx context.Context, tx *onerow.Tx) error {
			runs++
			p.away = runs == 1
			for _, err := range p.work(ctx, tx.SQL()) {
				if err != nil {
					return err
				}
			}
			return onerow.QueryRow(ctx, tx, sqlCase, []any{p.c}, &plain)
		})
		if strings.HasPrefix(name, "rollback to") && nodes.Kind() == devdb.Group {
			if !errors.Is(err, onerow.ErrNotUndone) {
				t.Errorf("%s: %v", name, err)
			}
			plain = "1:100,2:0,3:0"
		} else if err != nil || runs != 2 || !strings.HasPrefix(plain, "1:101,") || !strings.HasSuffix(plain, "9:1") {
			t.Errorf("%s: %v after %d runs, %s", name, err, runs, plain)
		}
		p.want(name, plain)
	})
}

// TestPushedAwaySavepoint: what a verb does in a caller's transaction. The push-away comes before its
// savepoint, behind it, or behind its write.
func TestPushedAwaySavepoint(t *testing.T) {
	s := newSite(t, ddlPart)
	errNo := errors.New("no")
	c := 0
	for _, at := range []string{"before", "behind", "behind its write"} {
		for _, answer := range []error{nil, errNo} {
			c++
			name := fmt.Sprintf("%s, %v", at, answer)
			dbtest.Exec(t, s.db[0], "INSERT INTO part VALUES (?, 1, 0), (?, 2, 0), (?, 3, 0)", c, c, c)
			p := pushed{site: s, c: c}
			tx, err := s.db[0].BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, tx, "UPDATE part SET n = n + 1 WHERE c = ? AND id = 1", c)
			verr := onerow.InTx(t.Context(), tx, func(ctx context.Context, tx *onerow.Tx) error {
				if at == "before" {
					p.push()
				}
				return tx.Savepoint(ctx, "verb", func() error {
					if at == "behind" {
						p.push()
					}
					_, err := tx.ExecContext(ctx, "INSERT INTO part VALUES (?, 9, 1)", c)
					if at == "behind its write" {
						p.push()
					}
					return errors.Join(err, answer)
				})
			})
			if err := tx.Commit(); err == nil {
				t.Errorf("%s: COMMIT says ok after %v", name, verr)
			}
			p.want(name, "1:100,2:0,3:0")
		}
	}
	s.same()
}

// TestNotPushedAway is the other half: without a write from elsewhere all is as on one server, but that a
// group has no savepoint to go back to.
func TestNotPushedAway(t *testing.T) {
	eachPushed(t, false, func(p pushed, name string) {
		tx, err := p.db[0].BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		errs := errors.Join(p.work(t.Context(), tx)...)
		cerr := tx.Commit()
		want := dbtest.Scan[string](t, p.db[0], sqlCase, p.c)
		switch {
		case strings.HasPrefix(name, "rollback to") && nodes.Kind() == devdb.Group:
			if !errors.Is(errs, onerow.ErrNotUndone) || !errors.Is(cerr, onerow.ErrTxPoisoned) || want != "1:0,2:0,3:0" {
				t.Errorf("%s: %v, %v, %s", name, errs, cerr, want)
			}
		case errs != nil || cerr != nil || !strings.HasPrefix(want, "1:1,") || !strings.HasSuffix(want, "9:1"):
			t.Errorf("%s: %v, %v, %s", name, errs, cerr, want)
		}
		p.want(name, want)
	})
}

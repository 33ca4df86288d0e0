package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func shop(dsn string, call func(context.Context, *sql.DB) error) Workflow {
	return Workflow{
		Name: "buy", DSN: dsn, Setup: emptyShop, Call: call,
		Refs: map[string]string{"request.purchase_id": "purchase.id", "audit.purchase_id": "purchase.id"},
	}
}

func number(err error) uint16 {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return server.Number
	}
	return 0
}

// inTx is the plain transaction that everybody writes.
func inTx(ctx context.Context, db *sql.DB, work func(*sql.Tx) error) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

const (
	insertRequest  = "INSERT INTO request (request_id) VALUES (?)"
	insertPurchase = "INSERT INTO purchase (buyer, item, created_at) VALUES (?, ?, UTC_TIMESTAMP(6))"
	linkRequest    = "UPDATE request SET purchase_id = ? WHERE request_id = ?"
	insertAudit    = "INSERT INTO audit (purchase_id, what, at) VALUES (?, 'bought', UTC_TIMESTAMP(6))"
)

func purchase(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, insertRequest, "r-1"); err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, insertPurchase, "ann", "shoe")
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, linkRequest, id, "r-1"); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertAudit, id)
	return err
}

// buy is right: the request id decides, and everything commits with it.
func buy(ctx context.Context, db *sql.DB) error {
	err := inTx(ctx, db, func(tx *sql.Tx) error { return purchase(ctx, tx) })
	if number(err) == 1062 {
		return nil // that was us
	}
	return err
}

func TestRightWorkflowPasses(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
		for _, interpolate := range []string{"true", "false"} {
			t.Run(fmt.Sprintf("%s/interpolateParams=%s", level, interpolate), func(t *testing.T) {
				t.Parallel()
				dsn := shopDSN(t, dbtest.Isolation(level), dbtest.Param("interpolateParams", interpolate))
				report := Run(t, shop(dsn, buy))
				if len(report.Statements) != 6 || report.FaultPoints != 8+4*11+11 {
					t.Errorf("%d statements and %d fault points:\n%s", len(report.Statements), report.FaultPoints, report.Statements)
				}
				if want := strings.ToUpper(strings.ReplaceAll(level.String(), " ", "-")); report.Isolation != want {
					t.Errorf("isolation %s, want %s", report.Isolation, want)
				}
				if report.Statements[1].Prepared != (interpolate == "false") {
					t.Errorf("prepared: %v with interpolateParams=%s", report.Statements[1].Prepared, interpolate)
				}
			})
		}
	}
}

// The twins are wrong. Each is what somebody wrote once.

// readThenWrite asks before it writes, and writes in autocommit.
func readThenWrite(ctx context.Context, db *sql.DB) error {
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM purchase WHERE buyer = 'ann'").Scan(&n); err != nil || n > 0 {
		return err
	}
	res, err := db.ExecContext(ctx, insertPurchase, "ann", "shoe")
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, insertAudit, id)
	return err
}

// splitInTwo commits the audit on its own.
func splitInTwo(ctx context.Context, db *sql.DB) error {
	var id int64
	err := inTx(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, insertRequest, "r-1"); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, insertPurchase, "ann", "shoe")
		if err != nil {
			return err
		}
		id, err = res.LastInsertId()
		return err
	})
	if number(err) == 1062 {
		return nil
	}
	if err != nil {
		return err
	}
	return inTx(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, insertAudit, id)
		return err
	})
}

// insertsAgain takes a COMMIT without an answer for one that failed.
func insertsAgain(ctx context.Context, db *sql.DB) error {
	buyOnce := func() error {
		return inTx(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, insertPurchase, "ann", "shoe")
			return err
		})
	}
	err := buyOnce()
	if errors.Is(err, mysql.ErrInvalidConn) {
		err = buyOnce()
	}
	return err
}

// goesOn repeats the statement that was told 1213: the transaction is gone, the rest runs in autocommit.
func goesOn(ctx context.Context, db *sql.DB) error {
	err := inTx(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, insertRequest, "r-1"); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, insertPurchase, "ann", "shoe")
		if number(err) == 1213 {
			res, err = tx.ExecContext(ctx, insertPurchase, "ann", "shoe")
		}
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, insertAudit, id)
		return err
	})
	if number(err) == 1062 {
		return nil
	}
	return err
}

// ignoresCommit takes every end for a good one.
func ignoresCommit(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := purchase(ctx, tx); err != nil {
		err = errors.Join(err, tx.Rollback())
		if number(err) == 1062 {
			return nil
		}
		return err
	}
	if err := tx.Commit(); number(err) == 0 && err != nil {
		return err
	}
	return nil // a refused COMMIT has rolled everything back
}

func TestWrongWorkflowsAreCaught(t *testing.T) {
	tests := []struct {
		name string
		call func(context.Context, *sql.DB) error
		once bool
		// a point that must be among those that fail, and what the message must say
		index int
		fault Fault
		says  []string
	}{
		{"read then write", readThenWrite, false, 2, CutAfter, []string{"INSERT INTO purchase", "table audit: 1 row without the fault, 0 rows with it"}},
		{"split in two", splitInTwo, false, 5, CutLost, []string{"of 7", "table audit"}},
		{"inserts again", insertsAgain, true, 3, CutAfter, []string{"COMMIT", "answer was lost", "table purchase: 2 rows without the fault, 3 rows with it"}},
		{"goes on after 1213", goesOn, false, 3, DeadlockBefore, []string{"table request: 1 row without the fault, 0 rows with it", "1213"}},
		{"ignores COMMIT", ignoresCommit, false, 6, RefusedCertification, []string{"COMMIT", "table purchase: 2 rows without the fault, 1 row with it"}},
	}
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", tt.name, level), func(t *testing.T) {
				t.Parallel()
				w := shop(shopDSN(t, dbtest.Isolation(level)), tt.call)
				w.Once = tt.once
				_, err := Explore(t.Context(), w)
				var failures *Failures
				if !errors.As(err, &failures) {
					t.Fatalf("not caught: %v", err)
				}
				message := ""
				for _, f := range failures.List {
					if f.Index == tt.index && f.Fault == tt.fault {
						message = f.String()
					}
				}
				if message == "" {
					t.Fatalf("not caught at statement %d, %s:\n%v", tt.index, tt.fault, err)
				}
				for _, want := range append(tt.says, `workflow "buy"`) {
					if !strings.Contains(message+err.Error(), want) {
						t.Errorf("the message lacks %q:\n%v", want, err)
					}
				}
				t.Log(err)
			})
		}
	}
}

// A recording stand-in: Run must fail its test, not only Explore return an error.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Fatal(args ...any) { r.failed = fmt.Sprint(args...) }

func TestRunFailsTheTest(t *testing.T) {
	r := &recorder{TB: t}
	Run(r, shop(shopDSN(t), readThenWrite))
	if !strings.Contains(r.failed, "fault point") {
		t.Errorf("Run did not fail: %q", r.failed)
	}
}

// TestTablesOfAnyWidthAreShown: the difference of a table that is wider than the one before it, or narrower.
func TestTablesOfAnyWidthAreShown(t *testing.T) {
	dsn := dbtest.DSN(t)
	mustExec(t, dbtest.OpenDSN(t, dsn), "CREATE TABLE a_narrow (x INT)", "CREATE TABLE b_wide (x INT, y INT, z INT)", "CREATE TABLE c_narrow (x INT)")
	_, err := Explore(t.Context(), Workflow{
		Name: "widths", DSN: dsn,
		Setup: func(ctx context.Context, db *sql.DB) error {
			for _, query := range []string{"DELETE FROM a_narrow", "DELETE FROM b_wide", "DELETE FROM c_narrow",
				"INSERT INTO a_narrow VALUES (1)", "INSERT INTO b_wide VALUES (1, 1, 1)", "INSERT INTO c_narrow VALUES (1)"} {
				if _, err := db.ExecContext(ctx, query); err != nil {
					return err
				}
			}
			return nil
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE b_wide SET y = y + 1")
			return err
		},
	})
	if err == nil || !strings.Contains(err.Error(), "-  1  2  1") {
		t.Errorf("the difference is not shown: %v", err)
	}
}

// TestEmpty: the tables are emptied before each run, in place of a Setup or before it.
func TestEmpty(t *testing.T) {
	dsn, before := shopDSN(t), 0
	w := shop(dsn, func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, insertPurchase, "ada", "shoe")
		return err
	})
	w.Once = true
	w.Empty, w.Setup = []string{"purchase", "request", "audit"}, nil
	for _, setup := range []func(context.Context, *sql.DB) error{nil, func(ctx context.Context, db *sql.DB) error {
		var rows int
		err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM purchase").Scan(&rows)
		before += rows
		return err
	}} {
		w.Setup = setup
		_, err := Explore(t.Context(), w)
		var failures *Failures // an INSERT without a key is not idempotent
		if !errors.As(err, &failures) {
			t.Fatal(err)
		}
	}
	if before != 0 {
		t.Errorf("Setup found %d rows", before)
	}
}

func TestWorkflowThatCannotBeExplored(t *testing.T) {
	calls := 0
	tests := []struct {
		name   string
		change func(*Workflow)
		says   string
	}{
		{"nothing given", func(w *Workflow) { *w = Workflow{} }, "lacks DSN and Setup and Call"},
		{"no schema", func(w *Workflow) { w.DSN = "root@tcp(127.0.0.1:1)/" }, "names no schema"},
		{"unknown name", func(w *Workflow) { w.Ignore = []string{"purchase.crated_at"} }, `"purchase.crated_at"`},
		{"not a column", func(w *Workflow) { w.Generated = []string{"audit"} }, "table.column"},
		{"a circle", func(w *Workflow) {
			w.Refs = map[string]string{"audit.purchase_id": "request.purchase_id", "request.purchase_id": "audit.purchase_id"}
		}, "in a circle"},
		{"undeclared reference", func(w *Workflow) { w.Refs = nil }, "belong into Refs"},
		{"not repeatable", func(w *Workflow) { w.Call = insertsAgain }, "made again, it changes something"},
		{"fails always", func(w *Workflow) { w.Call = func(context.Context, *sql.DB) error { return errors.New("no") } }, "no"},
		{"sends nothing", func(w *Workflow) { w.Call = func(context.Context, *sql.DB) error { return nil } }, "sent no statement"},
		{"other statements each time", func(w *Workflow) {
			w.Call = func(ctx context.Context, db *sql.DB) error {
				calls++
				_, err := db.ExecContext(ctx, fmt.Sprintf("SELECT %d", calls))
				return err
			}
		}, "differ at statement 1"},
		{"Setup is not the same", func(w *Workflow) {
			w.Setup = func(ctx context.Context, db *sql.DB) error {
				_, err := db.ExecContext(ctx, insertPurchase, "bob", "hat")
				return err
			}
		}, "not the same after each Setup"},
		{"nothing to empty", func(w *Workflow) { w.Empty = []string{"purchase", "nowhere"} }, "emptying the tables"},
		{"Check", func(w *Workflow) { w.Check = func(context.Context, *sql.DB) error { return errors.New("unbalanced") } }, "Check: unbalanced"},
	}
	dsn := shopDSN(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mustExec(t, dbtest.OpenDSN(t, dsn), "DELETE FROM request")
			w := shop(dsn, buy)
			tt.change(&w)
			_, err := Explore(t.Context(), w)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("want %q in: %v", tt.says, err)
			}
		})
	}
}

func TestAbandonedTransactionIsCaught(t *testing.T) {
	t.Parallel()
	var open *sql.Tx
	w := shop(shopDSN(t), func(_ context.Context, db *sql.DB) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if err := purchase(context.Background(), tx); err != nil {
			if number(err) == 1062 {
				return tx.Rollback()
			}
			open = tx // forgotten
			return err
		}
		return tx.Commit()
	})
	_, err := Explore(t.Context(), w)
	if open == nil {
		t.Fatal("no transaction was abandoned")
	}
	if err := open.Rollback(); err != nil {
		t.Logf("its session is gone, as it should be: %v", err)
	}
	var failures *Failures
	if !errors.As(err, &failures) || !strings.Contains(failures.List[len(failures.List)-1].Reason, "keeps a connection") {
		t.Fatalf("not caught: %v", err)
	}
}

// Setup's ids are followed: a row that leaves its table must arrive with its own id.
func TestRowsAreFollowedById(t *testing.T) {
	t.Parallel()
	dsn := shopDSN(t)
	mustExec(t, dbtest.OpenDSN(t, dsn), "CREATE TABLE purchase_archive LIKE purchase")
	move := func(columns string) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			return inTx(ctx, db, func(tx *sql.Tx) error {
				if _, err := tx.ExecContext(ctx, "INSERT INTO purchase_archive ("+columns+") SELECT "+columns+" FROM purchase"); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, "DELETE FROM purchase")
				return err
			})
		}
	}
	w := shop(dsn, move("id, buyer, item, created_at"))
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "DELETE FROM purchase_archive"); err != nil {
			return err
		}
		return emptyShop(ctx, db)
	}
	w.Refs["purchase_archive.id"] = "purchase.id"
	Run(t, w)

	ctx := t.Context()
	x := explorerOf(t, w)
	if err := x.learn(ctx); err != nil {
		t.Fatal(err)
	}
	start, err := x.setup(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := move("buyer, item, created_at")(ctx, x.plain); err != nil { // draws another id
		t.Fatal(err)
	}
	// The archive may draw the very id by chance: then there is nothing to see.
	if _, err := x.plain.ExecContext(ctx, "UPDATE purchase_archive SET id = id + 1000000"); err != nil {
		t.Fatal(err)
	}
	reason, rows, err := x.compare(ctx, start)
	if err != nil || reason == "" || !strings.Contains(rows, "table purchase_archive") {
		t.Errorf("another id was not noticed: %q %v\n%s", reason, err, rows)
	}
}

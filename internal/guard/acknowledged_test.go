package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/pool"
)

// guardedPools are a pool of Open's and a guarded one, each with one session, so that what one caller leaves in
// it the next one meets.
func guardedPools(t *testing.T) (dbs map[string]*sql.DB, plain *sql.DB) {
	t.Helper()
	plain, dsn := floortest.Accounts(t)
	opened, err := pool.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dbs = map[string]*sql.DB{"Open": opened, "Guard": sql.OpenDB(pool.Guard(floortest.Connector(t, dsn)))}
	for name, db := range dbs {
		db.SetMaxOpenConns(1)
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	return dbs, plain
}

// wantNoneOpen fails if a write of the pool's is not committed at once: if its session has a transaction open.
func wantNoneOpen(t *testing.T, db, plain *sql.DB) {
	t.Helper()
	balance := func() (seen int) {
		if err := plain.QueryRowContext(t.Context(), "SELECT balance FROM account WHERE id = 2").Scan(&seen); err != nil {
			t.Error(err)
		}
		return seen
	}
	before := balance()
	dbtest.Exec(t, db, "UPDATE account SET balance = balance + 1 WHERE id = 2")
	if seen := balance(); seen != before+1 {
		t.Errorf("the next write of the pool was acknowledged: it made %d of %d, and others see %d", before+1, before, seen)
	}
}

// TestSessionsGoBackClean: whatever a caller leaves in a session, the next one's acknowledged write is
// committed.
func TestSessionsGoBackClean(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbtest.Exec(t, plain, "CREATE PROCEDURE begins() BEGIN SET autocommit = 0; START TRANSACTION; END")
	texts := [][]string{
		{"START/**/TRANSACTION"}, {"START /*x*/ TRANSACTION"}, {"/*!50000 START TRANSACTION */"}, {"/*! SET autocommit = 0 */"}, {"/*!40101 SET autocommit = 0 */"},
		{"BEGIN", "SAVEPOINT s", "ROLLBACK /*x*/ TO SAVEPOINT s"}, {"BEGIN", "SAVEPOINT s", "ROLLBACK--\nTO s"}, {"SET @o = 0", "SET autocommit = @o"},
		{"--\nBEGIN"}, {"#\nBEGIN"}, {"BEGIN /* ; */"}, {"SET @a = 1, autocommit = 0"}, {"SET @@session.autocommit := OFF"}, {"SET @@autocommit = (SELECT 0)"},
		{"CALL begins()"}, {"SET @s = 'SET autocommit = 0'", "PREPARE s FROM @s", "EXECUTE s"}, {"BEGIN", "COMMIT AND CHAIN"}, {"BEGIN", "ROLLBACK AND CHAIN"}, {"COMMIT AND CHAIN"}, {"ROLLBACK AND CHAIN"},
		{"SET SESSION completion_type = 'CHAIN'", "BEGIN", "COMMIT"}, {"SET completion_type = 1", "BEGIN", "ROLLBACK"}, {"XA START 'x'"}, {"BEGIN", "SET autocommit = 1"}, {"SET autocommit = 0, autocommit = 1", "BEGIN"}, {"LOCK TABLES account WRITE"},
	}
	if dbtest.Server(t).Engine() == devdb.MariaDB {
		texts = append(texts, []string{"EXECUTE IMMEDIATE 'SET autocommit = 0'"}, []string{"/*M! START TRANSACTION */"}, []string{"SET STATEMENT lock_wait_timeout = 1 FOR BEGIN"})
	}
	for name, db := range dbs {
		t.Run(name+"/completion_type and a transaction of database/sql's", func(t *testing.T) {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, conn, "SET completion_type = 'CHAIN'")
			tx, err := conn.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, tx, "UPDATE account SET balance = balance + 1 WHERE id = 1")
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			_ = conn.Close() //nolint:errcheck // the session may be closed already
			wantNoneOpen(t, db, plain)
		})
		for _, c := range texts {
			ok := t.Run(name+"/"+strings.Join(c, "|"), func(t *testing.T) {
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range c {
					if _, err := conn.ExecContext(t.Context(), text); err != nil && mysqlerr.Number(err) != 1064 && mysqlerr.Number(err) != 1295 {
						t.Logf("%s: %v", text, err)
					}
				}
				_, _ = conn.ExecContext(t.Context(), "UPDATE account SET balance = balance + 1 WHERE id = 1") //nolint:errcheck // in what was left open, or not
				_ = conn.Close()                                                                              //nolint:errcheck // the session may be closed already
				wantNoneOpen(t, db, plain)
			})
			if !ok {
				return // a session that is left so may make the others wait for their locks
			}
		}
	}
}

// TestEndsTx: what would end a transaction of InTx is not run, and its function's error takes back all of it.
func TestEndsTx(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbs["plain"] = plain
	stop := errors.New("roll back")
	for name, db := range dbs {
		for _, text := range []string{
			"CREATE TABLE more (id INT)", "ALTER TABLE account COMMENT 'x'", "TRUNCATE TABLE account", "DROP TABLE account", "COMMIT", "/* x */ commit work", "ROLLBACK", "BEGIN",
			"START TRANSACTION", "SET autocommit = 1", "SET @a = 1, autocommit = 0", "LOCK TABLES account WRITE", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN",
			"FLUSH TABLES", "RENAME TABLE account TO a2", "ANALYZE TABLE account", "CREATE INDEX i ON account (balance)", "GRANT SELECT ON account TO x", "XA START 'x'",
		} {
			t.Run(name+"/"+text, func(t *testing.T) {
				dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
				runs := 0
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					runs++
					dbtest.Exec(t, tx, "UPDATE account SET balance = 1 WHERE id = 1")
					if _, err := tx.ExecContext(ctx, text); !errors.Is(err, onerow.ErrEndsTx) {
						t.Errorf("%v", err)
					}
					if sqlTx := tx.SQL(); sqlTx != nil && name != "plain" { // around the Tx, the session sees it
						if _, err := sqlTx.ExecContext(ctx, text); !errors.Is(err, onerow.ErrEndsTx) {
							t.Errorf("on the *sql.Tx: %v", err)
						}
					}
					if name != "plain" { // also when the session may read texts in another character set
						dbtest.Exec(t, tx, "SELECT 1 /*! */")
						if _, err := tx.ExecContext(ctx, text+" /* né */"); !errors.Is(err, onerow.ErrEndsTx) {
							t.Errorf("in an altered session: %v", err)
						}
					}
					dbtest.Exec(t, tx, "UPDATE account SET balance = 2 WHERE id = 2")
					return stop
				})
				if !errors.Is(err, stop) || runs != 1 {
					t.Errorf("%d runs, %v", runs, err)
				}
				floortest.WantTwo(t, plain, "0,0")
			})
		}
	}
}

// TestTxEnded: a procedure that commits inside of a transaction is found out before anything is acknowledged,
// and nothing is run behind it. One that does not is let be.
func TestTxEnded(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbs["plain"] = plain
	dbtest.Exec(t, plain, "CREATE PROCEDURE commits() COMMIT")
	dbtest.Exec(t, plain, "CREATE PROCEDURE again() BEGIN COMMIT; START TRANSACTION; END")
	dbtest.Exec(t, plain, "CREATE PROCEDURE creates() CREATE TABLE IF NOT EXISTS made (id INT)")
	dbtest.Exec(t, plain, "CREATE PROCEDURE writes() UPDATE account SET balance = balance + 10 WHERE id = 1")
	dbtest.Exec(t, plain, "CREATE PROCEDURE shows() SELECT balance FROM account")
	stop := errors.New("roll back")
	for name, db := range dbs {
		for _, c := range []struct {
			call  string
			ends  bool
			first int // balance of account 1 where the function fails, and where it does not
			then  int
		}{{"CALL commits()", true, 1, 1}, {"CALL again()", true, 1, 1}, {"CALL creates()", true, 1, 1}, {"CALL writes()", false, 0, 11}, {"CALL shows()", false, 0, 1}} {
			for _, fails := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/fails %v", name, c.call, fails), func(t *testing.T) {
					dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
					runs := 0
					err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
						runs++
						dbtest.Exec(t, tx, "UPDATE account SET balance = 1 WHERE id = 1")
						if _, err := tx.ExecContext(ctx, c.call); err != nil {
							return err
						}
						if fails {
							return stop
						}
						_, err := tx.ExecContext(ctx, "UPDATE account SET balance = 2 WHERE id = 2")
						if c.ends != errors.Is(err, onerow.ErrTxEnded) {
							t.Errorf("behind it: %v", err)
						}
						return nil // drops it
					})
					if errors.Is(err, onerow.ErrTxEnded) != c.ends || errors.Is(err, onerow.ErrOutcomeUnknown) || runs != 1 || fails != errors.Is(err, stop) {
						t.Errorf("%d runs, %v", runs, err)
					}
					want := fmt.Sprintf("%d,0", c.first)
					if !fails {
						second := 2
						if c.ends {
							second = 0
						}
						want = fmt.Sprintf("%d,%d", c.then, second)
					}
					floortest.WantTwo(t, plain, want)
					wantNoneOpen(t, db, plain)
				})
			}
		}
	}
}

// TestDDLInATxOfTheCallers: a server commits before DDL, also in a transaction that database/sql began. What
// follows is one again, as a migration that fails expects.
func TestDDLInATxOfTheCallers(t *testing.T) {
	dbs, plain := guardedPools(t)
	for name, db := range dbs {
		t.Run(name, func(t *testing.T) {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			for _, commits := range []bool{false, true} {
				tx, err := db.BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				dbtest.Exec(t, tx, "CREATE TABLE IF NOT EXISTS more_"+strings.ToLower(name)+" (id INT)")
				dbtest.Exec(t, tx, "UPDATE account SET balance = 5 WHERE id = 1")
				floortest.WantTwo(t, plain, "0,0")
				end := tx.Rollback
				if commits {
					end = tx.Commit
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				floortest.WantTwo(t, plain, map[bool]string{false: "0,0", true: "5,0"}[commits])
			}
			wantNoneOpen(t, db, plain)
		})
	}
}

// TestDDLInText: DDL ends a transaction that was begun as text, and what follows is in none, as on every server.
func TestDDLInText(t *testing.T) {
	dbs, plain := guardedPools(t)
	for name, db := range dbs {
		dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, conn, "BEGIN")
		dbtest.Exec(t, conn, "UPDATE account SET balance = 1 WHERE id = 1")
		dbtest.Exec(t, conn, "CREATE TABLE text_"+strings.ToLower(name)+" (id INT)")
		dbtest.Exec(t, conn, "UPDATE account SET balance = 2 WHERE id = 2")
		floortest.WantTwo(t, plain, "1,2")
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		wantNoneOpen(t, db, plain)
	}
}

// TestDDLThatFails: DDL that is refused may have committed before, or not. Either way nothing is left open, and
// what follows is taken back.
func TestDDLThatFails(t *testing.T) {
	dbs, plain := guardedPools(t)
	for name, db := range dbs {
		for text, first := range map[string]int{"CREATE TABLE account (id INT)": 4, "DROP TABLE nothing_there": 4, "CREATE TABLE": 0, "ALTER TABLE account ADD": 0} {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, tx, "UPDATE account SET balance = 4 WHERE id = 1")
			if _, err := tx.ExecContext(t.Context(), text); err == nil {
				t.Errorf("%s: %s was taken", name, text)
			}
			dbtest.Exec(t, tx, "UPDATE account SET balance = 5 WHERE id = 2")
			if err := tx.Rollback(); err != nil {
				t.Errorf("%s: %s: %v", name, text, err)
			}
			floortest.WantTwo(t, plain, fmt.Sprintf("%d,0", first))
			wantNoneOpen(t, db, plain)
		}
	}
}

// TestRowsOpen: a query inside of the rows of another one is said to be one, at once, and nothing is lost by it.
func TestRowsOpen(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbs["plain"] = plain
	for name, db := range dbs {
		t.Run(name, func(t *testing.T) {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			runs := 0
			err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				runs++
				rows, err := tx.QueryContext(ctx, "SELECT id FROM account")
				if err != nil {
					return err
				}
				rows.Next()
				var n int
				if err := onerow.QueryRow(ctx, tx, "SELECT 1", nil, &n); !errors.Is(err, onerow.ErrRowsOpen) {
					t.Errorf("a query: %v", err)
				}
				if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = 1"); !errors.Is(err, onerow.ErrRowsOpen) {
					t.Errorf("a statement: %v", err)
				}
				if name != "plain" {
					if _, err := tx.SQL().ExecContext(ctx, "UPDATE account SET balance = 1"); !errors.Is(err, onerow.ErrRowsOpen) {
						t.Errorf("on the *sql.Tx: %v", err)
					}
				}
				if err := errors.Join(rows.Close(), rows.Err()); err != nil {
					return err
				}
				_, err = tx.ExecContext(ctx, "UPDATE account SET balance = 3 WHERE id = 1")
				return err
			})
			if err != nil || runs != 1 {
				t.Errorf("%d runs, %v", runs, err)
			}
			floortest.WantTwo(t, plain, "3,0")
		})
	}
}

// TestQueryLastOfTheCallers: behind a query of the caller's the function may still fail, and what the query has
// written through a stored function is gone.
func TestQueryLastOfTheCallers(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbtest.Exec(t, plain, "CREATE FUNCTION pays() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN UPDATE account SET balance = 7 WHERE id = 1; RETURN 1; END")
	dbtest.Exec(t, plain, "CREATE VIEW paying AS SELECT pays() AS paid")
	stop := errors.New("roll back")
	for name, db := range dbs {
		for _, query := range []string{"SELECT pays()", "SELECT paid FROM paying"} {
			dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
			err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				var n int
				if err := packet.QueryLast(ctx, tx, query, nil, func(rows *sql.Rows) error { return rows.Scan(&n) }); err != nil || n != 1 {
					t.Errorf("%s: %s: %d, %v", name, query, n, err)
				}
				return stop
			})
			if !errors.Is(err, stop) {
				t.Errorf("%s: %s: %v", name, query, err)
			}
			floortest.WantTwo(t, plain, "0,0")
		}
	}
}

// TestDeadline: the caller has his answer when his deadline is over, whatever the statement travels with, and
// the session that still waits is killed on the server.
func TestDeadline(t *testing.T) {
	_, dsn := floortest.Accounts(t)
	plain := dbtest.OpenDSN(t, dsn)
	const write = "UPDATE account SET balance = balance + 1 WHERE id = 1"
	for name, c := range map[string]struct {
		call    func(ctx context.Context, tx *onerow.Tx) error
		unknown bool
	}{
		"with COMMIT": {func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, onerow.Stmt{Query: write})
		}, true},
		"with COMMIT, behind another": {func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Exec(t, tx, "SELECT 1")
			return packet.ExecLast(ctx, tx, onerow.Stmt{Query: write})
		}, true},
		"together": {func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecAll(ctx, tx, onerow.Stmt{Query: write}, onerow.Stmt{Query: write})
		}, false},
		"with a query": {func(ctx context.Context, tx *onerow.Tx) error {
			return packet.QueryAfter(ctx, tx, []onerow.Stmt{{Query: write}}, "SELECT 1", nil, func(*sql.Rows) error { return nil })
		}, false},
		"alone": {func(ctx context.Context, tx *onerow.Tx) error { _, err := tx.ExecContext(ctx, write); return err }, false},
	} {
		ok := t.Run(name, func(t *testing.T) {
			db, err := pool.Open(dsn + "&innodb_lock_wait_timeout=600") // longer than a test is patient: no wait ends by itself
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := db.PingContext(t.Context()); err != nil { // it is not the connecting that the deadline is for
				t.Fatal(err)
			}
			held, err := plain.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, held, write)
			const patience = time.Second // on a busy machine, too, all is sent before it is over
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			err = onerow.InTx(ctx, db, c.call)
			took := time.Since(began)
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, onerow.ErrOutcomeUnknown) != c.unknown {
				t.Errorf("%v", err)
			}
			if late := took - patience; late > 5*time.Second { // 100 ms are said; a busy machine may be late, but not until the lock is free
				t.Errorf("the answer came %s behind the deadline", late)
			}
			dbtest.Eventually(t, 10*time.Second, func() (bool, string) { // while the lock is held
				waits := dbtest.Scan[int](t, plain, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%UPDATE account SET balance = balance + 1%' AND ID <> CONNECTION_ID()")
				return waits == 0, fmt.Sprintf("%d sessions wait for the lock", waits)
			})
			if err := held.Rollback(); err != nil {
				t.Fatal(err)
			}
			floortest.WantTwo(t, plain, "0,0")
		})
		if !ok {
			return // each of the others would wait as long
		}
	}
}

// TestInterruptedPoisons: who drops the error of a statement that was killed does not commit the rest.
func TestInterruptedPoisons(t *testing.T) {
	dbs, plain := guardedPools(t)
	dbs["plain"] = plain
	for name, db := range dbs {
		for _, savepoint := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", savepoint), func(t *testing.T) {
				dbtest.Exec(t, plain, "UPDATE account SET balance = 0")
				held, err := dbs["plain"].BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				dbtest.Exec(t, held, "UPDATE account SET balance = 9 WHERE id = 2")
				runs := 0
				err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					runs++
					dbtest.Exec(t, tx, "UPDATE account SET balance = 1 WHERE id = 1")
					id := dbtest.Scan[int64](t, tx, "SELECT CONNECTION_ID()")
					write := func() error {
						_, err := tx.ExecContext(ctx, "UPDATE account SET balance = 2 WHERE id = 2")
						return err
					}
					if savepoint {
						write = func() error {
							return onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
								return tx.Savepoint(ctx, "s", func() error { _, err := tx.ExecContext(ctx, "UPDATE account SET balance = 2 WHERE id = 2"); return err })
							})
						}
					}
					ended := make(chan error, 1)
					go func() { ended <- write() }()
					dbtest.AwaitLock(t, plain)
					dbtest.Exec(t, plain, fmt.Sprintf("KILL QUERY %d", id))
					if err := <-ended; mysqlerr.Number(err) != 1317 {
						t.Errorf("the one that was killed: %v", err)
					}
					return nil // drops it
				})
				if mysqlerr.Number(err) != 1317 || runs != 1 {
					t.Errorf("%d runs, %v", runs, err)
				}
				if err := held.Rollback(); err != nil {
					t.Fatal(err)
				}
				floortest.WantTwo(t, plain, "0,0")
			})
		}
	}
}

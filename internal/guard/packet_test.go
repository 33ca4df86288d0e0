package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/guard"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/wire"
	"github.com/onerow/onerow/pool"
)

// packets counts what goes over the network "counted": one for each round trip.
var packets atomic.Int64

func init() { //nolint:gochecknoinits // the driver has one register
	mysql.RegisterDialContext("counted", func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		return countedConn{conn}, err
	})
}

type countedConn struct{ net.Conn }

func (c countedConn) Write(b []byte) (int, error) {
	packets.Add(1)
	return c.Conn.Write(b)
}

// openCounted is a pool of one session with a table of accounts, and a plain one beside it.
func openCounted(t *testing.T, params string) (db, plain *sql.DB) {
	t.Helper()
	dsn := dbtest.DSN(t)
	plain = dbtest.OpenDSN(t, dsn)
	dbtest.Exec(t, plain, "CREATE TABLE coin (id INT PRIMARY KEY, text VARCHAR(50) NOT NULL DEFAULT '') ENGINE=InnoDB")
	over := strings.Replace(dsn, "@tcp(", "@counted(", 1)
	if over == dsn {
		t.Fatalf("the server is at %s, which is no TCP port", dsn)
	}
	db, err := pool.Open(over + params)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, plain
}

func coins(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM coin").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func put(id int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO coin (id) VALUES (?)", id)
		return err
	}
}

func putLast(id int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		return packet.ExecLast(ctx, tx, onerow.Stmt{Query: "INSERT INTO coin (id, text) VALUES (?, ?)", Args: []any{id, "; -- '"}})
	}
}

func coin(id int) onerow.Stmt {
	return onerow.Stmt{Query: "INSERT INTO coin (id) VALUES (?)", Args: []any{id}, One: true}
}

func putAll(ids ...int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		var stmts []onerow.Stmt
		for _, id := range ids {
			stmts = append(stmts, coin(id))
		}
		return packet.ExecAll(ctx, tx, stmts...)
	}
}

func putAllLast(a, b int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error { return packet.ExecLast(ctx, tx, coin(a), coin(b)) }
}

// putAndLook is an error unless the query sees what the statement before it has put.
func putAndLook(id int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error { return seen(ctx, tx, id, coin(id)) }
}

func seen(ctx context.Context, tx *onerow.Tx, id int, stmts ...onerow.Stmt) error {
	n := 0
	err := packet.QueryAfter(ctx, tx, stmts, "SELECT id FROM coin WHERE id = ?", []any{id}, func(rows *sql.Rows) error { return rows.Scan(&n) })
	if err == nil && n != id {
		err = fmt.Errorf("of %d the query has seen %d", id, n)
	}
	return err
}

// refused is an error unless it is refused.
func refused(id int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		if err := put(id)(ctx, tx); mysqlerr.Number(err) != 1062 {
			return fmt.Errorf("a second coin %d: %w", id, err)
		}
		return nil
	}
}

// lookLast is an error unless a query that ends the transaction sees the coin.
func lookLast(id int) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		n := 0
		err := packet.QueryLast(wire.OwnQueries(ctx), tx, "SELECT id FROM coin WHERE id = ?", []any{id}, func(rows *sql.Rows) error { return rows.Scan(&n) })
		if err == nil && n != id {
			err = fmt.Errorf("of %d the query has seen %d", id, n)
		}
		return err
	}
}

func both(fns ...func(context.Context, *onerow.Tx) error) func(context.Context, *onerow.Tx) error {
	return func(ctx context.Context, tx *onerow.Tx) error {
		for _, fn := range fns {
			if err := fn(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestPackets: BEGIN goes with the first statement of a transaction of InTx, COMMIT with the last one; each
// does what it says, and nobody else's transaction is sent otherwise than it was.
func TestPackets(t *testing.T) {
	db, plain := openCounted(t, "")
	asks := int64(0) // whether the server is in a group
	if dbtest.Server(t).Engine() == devdb.MySQL {
		asks = 1
	}
	look := func(ctx context.Context, tx *onerow.Tx) error {
		var n int
		return onerow.QueryRow(ctx, tx, "SELECT id FROM coin WHERE id = ?", []any{1}, &n)
	}
	for _, c := range []struct {
		name  string
		fn    func(context.Context, *onerow.Tx) error
		takes int64
		coins int // more
	}{
		{"nothing", both(), 0, 0},
		{"one", put(1), 2, 1},
		{"two", both(put(2), put(3)), 3, 2},
		{"one, with COMMIT", putLast(4), 1, 1},
		{"two, the last with COMMIT", both(put(5), putLast(6)), 2, 2},
		{"a query", look, 2, 0},
		{"a query, and one with COMMIT", both(look, putLast(7)), 2, 1},
		{"one that was not the last", both(putLast(8), put(9)), 3, 2},
		{"two together", putAll(21, 22), 2, 2},
		{"two together with COMMIT", putAllLast(23, 24), 1, 2},
		{"two together behind another", both(put(25), putAll(26, 27)), 3, 3},
		{"two together with COMMIT behind another", both(put(28), putAllLast(29, 30)), 2, 3},
		{"two that were not the last", both(putAllLast(31, 32), putAllLast(33, 34)), 2, 4},
		{"two together, a part of another", func(ctx context.Context, tx *onerow.Tx) error { return onerow.InTx(ctx, tx, putAllLast(35, 36)) }, 2, 2},
		{"two of which one has many bytes", func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, coin(37), onerow.Stmt{Query: "INSERT INTO coin (id, text) VALUES (38, LEFT(?, 10))", Args: []any{strings.Repeat("x", 5_000)}})
		}, 3, 2},
		{"a part of another", func(ctx context.Context, tx *onerow.Tx) error { return onerow.InTx(ctx, tx, putLast(10)) }, 2, 1},
		{"a query with COMMIT", lookLast(1), 1, 0},
		{"one, and a query that stays without COMMIT", both(put(60), lookLast(60)), 3, 1},
		{"two queries with COMMIT", both(lookLast(1), lookLast(1)), 2, 0},
		{"a refused one, and a query with COMMIT", both(refused(1), lookLast(1)), 2, 0},
		{"a query with COMMIT that was not the last", both(lookLast(1), put(39)), 3, 1},
		{"a query with COMMIT, and one", both(lookLast(1), putLast(40)), 2, 1},
		{"a query with COMMIT, a part of another", func(ctx context.Context, tx *onerow.Tx) error { return onerow.InTx(ctx, tx, lookLast(1)) }, 2, 0},
		{"one and a query", putAndLook(41), 2, 1},
		{"one, one and a query, and one with COMMIT", both(put(42), putAndLook(43), putLast(44)), 3, 3},
		{"one that was not the last, one and a query", both(putLast(45), putAndLook(46)), 3, 2},
		{"one with a question mark, one and a query", func(ctx context.Context, tx *onerow.Tx) error {
			return seen(ctx, tx, 47, onerow.Stmt{Query: "INSERT INTO coin (id, text) VALUES (47, '?')", One: true}) // a driver would put an argument there
		}, 3, 1},
		{"a savepoint", func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, "SAVEPOINT a")
			return err
		}, 3 + asks, 0},
		{"one that is prepared", func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO coin (id, text) VALUES (11, ';')")
			return err
		}, 5, 1},
	} {
		before, at := coins(t, plain), packets.Load()
		if err := onerow.InTx(t.Context(), db, c.fn); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := packets.Load() - at; n != c.takes {
			t.Errorf("%s takes %d packets, want %d", c.name, n, c.takes)
		}
		if n := coins(t, plain) - before; n != c.coins {
			t.Errorf("%s has put %d coins, want %d", c.name, n, c.coins)
		}
	}
	at := packets.Load()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "INSERT INTO coin (id) VALUES (20)")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := packets.Load() - at; n != 3 {
		t.Errorf("a transaction of the caller's takes %d packets", n)
	}
}

// TestPacketsPrepared: what was prepared before a transaction runs inside it, behind BEGIN.
func TestPacketsPrepared(t *testing.T) {
	db, plain := openCounted(t, "")
	stmt, err := db.PrepareContext(t.Context(), "INSERT INTO coin (id) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stmt.Close() })
	undo := errors.New("undo")
	for _, first := range []bool{true, false} {
		err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			if !first {
				if err := putLast(1)(ctx, tx); err != nil {
					return err
				}
			}
			if _, err := tx.SQL().StmtContext(ctx, stmt).ExecContext(ctx, 2); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) || coins(t, plain) != 0 {
			t.Errorf("first %t: %v, %d coins", first, err, coins(t, plain))
		}
	}
}

// TestPacketsFail: an error inside a packet is the statement's; what was written before is gone, and the session
// goes on with nothing open.
func TestPacketsFail(t *testing.T) {
	db, plain := openCounted(t, "")
	dbtest.Exec(t, plain, "INSERT INTO coin (id) VALUES (1)")
	for name, fn := range map[string]func(context.Context, *onerow.Tx) error{
		"the first": put(1), "the last": both(put(2), putLast(1)), "the only one": putLast(1),
		"one before the last": both(put(2), put(1), putLast(3)),
		"one before a query":  putAndLook(1), "the second before a query": func(ctx context.Context, tx *onerow.Tx) error {
			return seen(ctx, tx, 2, coin(2), coin(1), coin(3))
		}, "the last, which was not": both(putLast(1), put(3)),
		"its text": func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, onerow.Stmt{Query: "INSERT INTO nowhere VALUES (1)"})
		},
	} {
		err := onerow.InTx(t.Context(), db, fn)
		want := uint16(1062)
		if name == "its text" {
			want = 1146
		}
		if mysqlerr.Number(err) != want || errors.Is(err, onerow.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		if n := coins(t, plain); n != 1 {
			t.Errorf("%s: there are %d coins", name, n)
		}
		if err := onerow.InTx(t.Context(), db, put(9)); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
		if n := coins(t, plain); n != 2 {
			t.Errorf("after %s there are %d coins", name, n)
		}
		dbtest.Exec(t, db, "DELETE FROM coin WHERE id = 9")
	}
}

// TestPacketsFailInAnyState: many errors that only statements have come in the same SQLSTATE as those of COMMIT, HY000. As
// long as the transaction is open COMMIT was not run, so the answer is the statement's, and the outcome known.
func TestPacketsFailInAnyState(t *testing.T) {
	db, plain := openCounted(t, "")
	for _, statement := range []string{
		"CREATE TABLE toll (id INT NOT NULL, n INT NOT NULL, CHECK (n < 5)) ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (100))",
		"CREATE VIEW gate AS SELECT id, n FROM toll WHERE n < 3 WITH CHECK OPTION",
		"CREATE TABLE sum_of (n INT NOT NULL) ENGINE=InnoDB",
		"CREATE TRIGGER refuses BEFORE INSERT ON sum_of FOR EACH ROW BEGIN IF NEW.n = 1 THEN SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = 'not today'; ELSE UPDATE sum_of SET n = 1; END IF; END",
	} {
		dbtest.Exec(t, plain, statement)
	}
	for statement, want := range map[string][]uint16{
		"INSERT INTO toll (id) VALUES (1)":         {1364},
		"INSERT INTO toll (id, n) VALUES (1, 9)":   {3819, 4025},
		"INSERT INTO toll (id, n) VALUES (101, 1)": {1526},
		"INSERT INTO gate (id, n) VALUES (1, 4)":   {1369},
		"INSERT INTO sum_of VALUES (1)":            {1644},
		"INSERT INTO sum_of VALUES (2)":            {1442},
	} {
		for name, fn := range map[string]func(context.Context, *onerow.Tx) error{
			"alone": func(ctx context.Context, tx *onerow.Tx) error {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: statement})
			},
			"behind another": func(ctx context.Context, tx *onerow.Tx) error {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: "INSERT INTO coin (id) VALUES (4)"}, onerow.Stmt{Query: statement})
			},
			"prepared": both(put(4), func(ctx context.Context, tx *onerow.Tx) error {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: statement + " /* ? */"})
			}),
		} {
			runs := 0
			err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				runs++
				return fn(ctx, tx)
			})
			if !slices.Contains(want, mysqlerr.Number(err)) || errors.Is(err, onerow.ErrOutcomeUnknown) || runs != 1 {
				t.Errorf("%s, %s: %v after %d runs", statement, name, err, runs)
			}
			if n := coins(t, plain); n != 0 {
				t.Errorf("%s, %s: there are %d coins", statement, name, n)
			}
		}
	}
	if open := db.Stats().OpenConnections; open != 1 {
		t.Errorf("%d sessions: each refusal cost one", open)
	}
}

// TestPacketsAnswer: what each of several statements says of ids and rows is heard, together and apart; the first
// that affects not one row is the last that is run.
func TestPacketsAnswer(t *testing.T) {
	together, plain := openCounted(t, "")
	apart, err := pool.Open(dbtest.DSN(t) + "&multiStatements=false")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := apart.Close(); err != nil {
			t.Error(err)
		}
	})
	const table = "CREATE TABLE answered (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB"
	dbtest.Exec(t, plain, table)
	dbtest.Exec(t, apart, table)
	connector, err := mysql.MySQLDriver{}.OpenConnector(dbtest.DSN(t) + "&multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	prepared := sql.OpenDB(guard.Packets(connector))
	t.Cleanup(func() {
		if err := prepared.Close(); err != nil {
			t.Error(err)
		}
	})
	dbtest.Exec(t, prepared, table)
	for name, db := range map[string]*sql.DB{"together": together, "apart": apart, "prepared": prepared} {
		for _, last := range []bool{false, true} {
			var first, second, third int64
			insert := func(id *int64) onerow.Stmt {
				return onerow.Stmt{Query: "INSERT INTO answered (n) VALUES (?)", Args: []any{7}, One: true, ID: id}
			}
			run := func(stmts ...onerow.Stmt) error {
				return onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					if last {
						return packet.ExecLast(ctx, tx, stmts...)
					}
					return packet.ExecAll(ctx, tx, stmts...)
				})
			}
			err := run(insert(&first), onerow.Stmt{Query: "UPDATE answered SET n = LAST_INSERT_ID(100 + LAST_INSERT_ID()) WHERE id = LAST_INSERT_ID()", One: true, ID: &second}, insert(&third))
			if err != nil || first == 0 || second != 100+first || third != first+1 {
				t.Errorf("%s, last %t: %d, %d, %d, %v", name, last, first, second, third, err)
			}
			none := onerow.Stmt{Query: "UPDATE answered SET n = 1 WHERE id = ?", Args: []any{-1}, One: true}
			many := onerow.Stmt{Query: "DELETE FROM answered", One: true}
			all := onerow.Stmt{Query: "UPDATE answered SET n = n + 1"}
			for _, stmts := range [][]onerow.Stmt{{none}, {many}, {insert(&first), none}, {none, insert(&first)}, {insert(&first), many, insert(&first)}} {
				before := sum(t, db)
				if err := run(stmts...); !errors.Is(err, onerow.ErrNotOneRow) || errors.Is(err, onerow.ErrOutcomeUnknown) {
					t.Errorf("%s, last %t, %d statements: %v", name, last, len(stmts), err)
				}
				if after := sum(t, db); after != before {
					t.Errorf("%s, last %t, %d statements: %s, was %s", name, last, len(stmts), after, before)
				}
			}
			if err := run(all, all); err != nil {
				t.Errorf("%s, last %t: %v", name, last, err)
			}
		}
		for _, stmts := range [][]onerow.Stmt{
			{{Query: "UPDATE answered SET n = 1 WHERE id = -1", One: true}},
			{{Query: "UPDATE answered SET n = n + 1"}, {Query: "DELETE FROM answered", One: true}, {Query: "UPDATE answered SET n = 0"}},
		} {
			before := sum(t, db)
			err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				return packet.QueryAfter(ctx, tx, stmts, "SELECT 1", nil, func(*sql.Rows) error { return errors.New("a row") })
			})
			if after := sum(t, db); !errors.Is(err, onerow.ErrNotOneRow) || after != before {
				t.Errorf("%s, %d statements before a query: %v, %s, was %s", name, len(stmts), err, after, before)
			}
		}
		if n := sum(t, db); n != "4 rows, 232 in all" {
			t.Errorf("%s: %s", name, n)
		}
	}
	// Behind a failure inside a transaction that goes on nothing was run.
	err = onerow.InTx(t.Context(), together, func(ctx context.Context, tx *onerow.Tx) error {
		err := packet.ExecAll(ctx, tx, onerow.Stmt{Query: "UPDATE answered SET n = 1 WHERE id = -1", One: true}, onerow.Stmt{Query: "DELETE FROM answered"})
		if !errors.Is(err, onerow.ErrNotOneRow) {
			t.Errorf("inside: %v", err)
		}
		return nil
	})
	if n := sum(t, together); err != nil || n == "0 rows, 0 in all" {
		t.Errorf("inside: %v, %s", err, n)
	}
}

func sum(t *testing.T, db *sql.DB) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT CONCAT(COUNT(*), ' rows, ', COALESCE(SUM(n), 0), ' in all') FROM answered").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPacketsLost: a session that is killed before its packet is another attempt for who may run again, and an
// unknown outcome for who may not, as where COMMIT is sent by itself.
func TestPacketsLost(t *testing.T) {
	db, plain := openCounted(t, "")
	killed := func(fn func(context.Context, *onerow.Tx) error) func(context.Context, *onerow.Tx) error {
		first := true
		return func(ctx context.Context, tx *onerow.Tx) error {
			if err := fn(ctx, tx); err != nil || !first {
				return err
			}
			first = false
			var id int64
			if err := onerow.QueryRow(ctx, tx, "SELECT CONNECTION_ID()", nil, &id); err != nil {
				return err
			}
			dbtest.Exec(t, plain, fmt.Sprintf("KILL %d", id))
			return nil
		}
	}
	if err := onerow.InTx(t.Context(), db, both(killed(put(1)), put(2))); err != nil || coins(t, plain) != 2 {
		t.Errorf("%v, %d coins", err, coins(t, plain))
	}
	if err := onerow.InTx(t.Context(), db, both(killed(put(3)), putLast(4))); err == nil || coins(t, plain) != 2 {
		t.Errorf("at COMMIT: %v, %d coins", err, coins(t, plain))
	}
	if err := onerow.InIdempotentTx(t.Context(), db, both(killed(put(3)), putLast(4))); err != nil || coins(t, plain) != 4 {
		t.Errorf("at COMMIT, again: %v, %d coins", err, coins(t, plain))
	}
}

// TestPacketsKilled: a session that is killed while a statement in the middle of a packet waits has committed
// nothing of it.
func TestPacketsKilled(t *testing.T) {
	db, plain := openCounted(t, "")
	dbtest.Exec(t, plain, "INSERT INTO coin (id) VALUES (100)")
	var id int64
	if err := db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	holder, err := plain.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, holder, "UPDATE coin SET text = 'held' WHERE id = 100")
	ended := make(chan error, 1)
	go func() {
		ended <- onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, coin(50), onerow.Stmt{Query: "UPDATE coin SET text = 'mine' WHERE id = 100"}, coin(51))
		})
	}()
	dbtest.AwaitLock(t, plain)
	dbtest.Exec(t, plain, fmt.Sprintf("KILL %d", id))
	if err := <-ended; err == nil {
		t.Error("it was killed, and says nothing")
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := coins(t, plain); n != 1 {
		t.Errorf("there are %d coins", n)
	}
}

// TestPacketsQueryLast: with the query the transaction is over, and its locks are gone; what fails in it, or while
// its rows are read, leaves nothing open.
func TestPacketsQueryLast(t *testing.T) {
	db, plain := openCounted(t, "")
	db.SetMaxOpenConns(1)
	dbtest.Exec(t, plain, "INSERT INTO coin (id) VALUES (1), (2)")
	free := func(what string) {
		t.Helper()
		if _, err := plain.ExecContext(t.Context(), "DELETE FROM coin WHERE id = 2"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		dbtest.Exec(t, plain, "INSERT INTO coin (id) VALUES (2)")
	}
	dbtest.Exec(t, plain, "SET SESSION innodb_lock_wait_timeout = 1")
	plain.SetMaxOpenConns(1)
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := both(refused(2), lookLast(2))(ctx, tx); err != nil {
			return err
		}
		free("behind the query") // else it waits for the share lock of what was refused
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	undo := errors.New("undo")
	err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := both(lookLast(1), put(3))(ctx, tx); err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) || coins(t, plain) != 2 {
		t.Errorf("what is written behind it is a transaction, too: %v, %d coins", err, coins(t, plain))
	}
	for query, want := range map[string]uint16{
		"SELECT id FROM nowhere": 1146, // before there are rows
		"SELECT id, (SELECT c.id FROM coin AS c WHERE c.id <> coin.id OR coin.id = 2) FROM coin ORDER BY id": 1242, // in the second
	} {
		err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := refused(2)(ctx, tx); err != nil {
				return err
			}
			return packet.QueryLast(wire.OwnQueries(ctx), tx, query, nil, func(*sql.Rows) error { return nil })
		})
		if mysqlerr.Number(err) != want {
			t.Errorf("%s: %v", query, err)
		}
		free(query)
		if err := onerow.InTx(t.Context(), db, both(put(3), lookLast(3))); err != nil {
			t.Errorf("after %s: %v", query, err)
		}
		dbtest.Exec(t, plain, "DELETE FROM coin WHERE id = 3")
	}
}

// TestPacketsInjection: a session that takes several statements takes them from nobody but the guard.
func TestPacketsInjection(t *testing.T) {
	db, plain := openCounted(t, "")
	ctx := t.Context()
	const evil = "INSERT INTO coin (id) VALUES (1); DELETE FROM coin"
	dbtest.Exec(t, plain, "INSERT INTO coin (id) VALUES (100)")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]onerow.DB{"a session": conn} {
		_, err := db.ExecContext(ctx, evil)
		if mysqlerr.Number(err) != 1064 {
			t.Errorf("%s: %v", name, err)
		}
		if rows, err := db.QueryContext(ctx, "SELECT 1; SELECT 2"); err == nil {
			t.Errorf("%s: a query: %v", name, rows.Close())
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO coin (id) VALUES (?); DELETE FROM coin", 5); mysqlerr.Number(err) != 1064 {
			t.Errorf("%s, with an argument: %v", name, err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(ctx context.Context, tx *onerow.Tx) error{
		"first": func(ctx context.Context, tx *onerow.Tx) error { _, err := tx.ExecContext(ctx, evil); return err },
		"last": func(ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, onerow.Stmt{Query: evil})
		},
	} {
		if err := onerow.InTx(ctx, db, call); mysqlerr.Number(err) != 1064 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, query := range []string{"CREATE PROCEDURE q() SELECT 1; DELETE FROM coin", "/* ; */ SELECT 1; DELETE FROM coin", "SELECT ';'; DELETE FROM coin"} {
		if _, err := db.ExecContext(ctx, query); mysqlerr.Number(err) != 1064 {
			t.Errorf("%s: %v", query, err)
		}
	}
	if n := coins(t, plain); n != 1 {
		t.Errorf("there are %d coins", n)
	}
	// What is one statement is one, whatever is in it.
	var text string
	if err := db.QueryRowContext(ctx, "SELECT 'a;b' AS x").Scan(&text); err != nil || text != "a;b" {
		t.Errorf("%q, %v", text, err)
	}
	dbtest.Exec(t, db, "CREATE TRIGGER t BEFORE INSERT ON coin FOR EACH ROW BEGIN SET NEW.text = 'x;'; SET @y = 1; END")
	dbtest.Exec(t, db, "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END")
	dbtest.Exec(t, db, "INSERT INTO coin (id) VALUES (7);")
	dbtest.Exec(t, db, "INSERT INTO coin (id) VALUES (8); -- done; really")
	dbtest.Exec(t, db, "INSERT INTO coin (id) /* a; b */ VALUES (9)")
	named, plain := openCounted(t, "&multiStatements=true")
	if _, err := named.ExecContext(ctx, "INSERT INTO coin (id) VALUES (1); INSERT INTO coin (id) VALUES (2)"); err != nil || coins(t, plain) != 2 {
		t.Errorf("where the name asks for it: %v, %d coins", err, coins(t, plain))
	}
}

package mysqlerr_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/mysqlerr"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// wantClass sees that the server has sent the number, and that it means the class.
func wantClass(t *testing.T, what string, err error, number uint16, class mysqlerr.Class) {
	t.Helper()
	var my *mysql.MySQLError
	if !errors.As(err, &my) || my.Number != number || mysqlerr.Classify(err) != class {
		t.Errorf("%s: %v is of class %d, want %d of class %d", what, err, mysqlerr.Classify(err), number, class)
	}
}

// TestOptions: what this server says of an option that is in the way, in several languages. Only where the
// option forbids writes does another server help.
func TestOptions(t *testing.T) {
	t.Parallel()
	server, err := devdb.Start(t.Context(), devdb.Options{Private: true, Args: []string{"--secure-file-priv=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	admin := dbtest.OpenDSN(t, server.DSN("app"))
	dbtest.Exec(t, admin, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, admin, "CREATE USER app@'%'")
	dbtest.Exec(t, admin, "GRANT ALL ON app.* TO app@'%'")
	dbtest.Exec(t, admin, "GRANT FILE ON *.* TO app@'%'")
	const insert = "INSERT INTO account VALUES (1, 0)"
	for _, language := range []string{"en_US", "de_DE", "ja_JP", "zh_CN"} {
		db := dbtest.OpenDSN(t, strings.Replace(server.DSN("app"), "root", "app", 1)+"&lc_messages='"+language+"'")
		for _, file := range []string{"SELECT 1 INTO OUTFILE '/nowhere/x'", "LOAD DATA INFILE '/nowhere/x' INTO TABLE account"} {
			_, err := db.ExecContext(t.Context(), file)
			wantClass(t, file, err, 1290, mysqlerr.Fatal)
		}
		dbtest.Exec(t, admin, "SET GLOBAL read_only = 1")
		_, err := db.ExecContext(t.Context(), insert)
		wantClass(t, language+", read_only", err, 1290, mysqlerr.NotHere)
		if server.Engine() == devdb.MySQL {
			dbtest.Exec(t, admin, "SET GLOBAL super_read_only = 1")
			_, err := admin.ExecContext(t.Context(), insert)
			wantClass(t, language+", super_read_only", err, 1290, mysqlerr.NotHere)
		}
		dbtest.Exec(t, admin, "SET GLOBAL read_only = 0")
	}
}

// TestInterrupted: what KILL QUERY and the limits of time make of statements that wait for a row, read many
// or sort. What the transaction wrote before is still there.
func TestInterrupted(t *testing.T) {
	const held = "UPDATE account SET balance = 5 WHERE id = 2"
	ctx := t.Context()
	db := dbtest.Open(t)
	dbtest.Exec(t, db, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO account VALUES (1, 0), (2, 0)")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the pool is closed as well
	id := dbtest.Scan[int64](t, conn, "SELECT CONNECTION_ID()")
	holder, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback() //nolint:errcheck // it ends the wait of what is left
	dbtest.Exec(t, holder, held)
	dbtest.Exec(t, conn, "BEGIN")
	dbtest.Exec(t, conn, "UPDATE account SET balance = 1 WHERE id = 1")
	still := func(what string) {
		t.Helper()
		if got := dbtest.Scan[int](t, conn, "SELECT balance FROM account WHERE id = 1"); got != 1 {
			t.Errorf("%s: the transaction's row is %d", what, got)
		}
	}
	for _, statement := range []string{held, "DELETE FROM account WHERE id = 2", "SELECT balance FROM account WHERE id = 2 FOR UPDATE",
		"INSERT INTO account VALUES (2, 0)", "UPDATE account SET balance = SLEEP(60) WHERE id = 1"} {
		wantClass(t, statement, killed(ctx, db, conn, id, statement), 1317, mysqlerr.Interrupted)
		still(statement)
	}

	number, limit, none := uint16(1969), "SET max_statement_time = 0.1", "SET max_statement_time = 0"
	limited := []string{held, "SELECT balance FROM account WHERE id = 2 FOR UPDATE", "SELECT SLEEP(60) FROM account"}
	if dbtest.Server(t).Engine() == devdb.MySQL {
		number, limit, none = 3024, "SET max_execution_time = 100", "SET max_execution_time = 0"
		limited = limited[1:] // it knows none for what writes
	}
	for _, statement := range limited {
		dbtest.Exec(t, conn, limit)
		_, err := conn.ExecContext(ctx, statement)
		wantClass(t, statement, err, number, mysqlerr.Interrupted)
		dbtest.Exec(t, conn, none)
		still(statement)
	}
	dbtest.Exec(t, conn, "ROLLBACK")
}

// killed is what a statement answers that KILL QUERY ends while it waits.
func killed(ctx context.Context, db *sql.DB, conn *sql.Conn, id int64, statement string) error {
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, statement)
		done <- err
	}()
	for { // MariaDB forgets a KILL QUERY that comes before the statement
		select {
		case err := <-done:
			return err
		case <-time.After(100 * time.Millisecond):
			if _, err := db.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", id)); err != nil {
				return err
			}
		}
	}
}

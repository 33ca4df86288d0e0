package crashtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/crashtest"
)

// Transfer moves an amount between two accounts, once for each request id.
func Transfer(ctx context.Context, db *sql.DB, request string, from, to, amount int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, statement := range []struct {
		query string
		args  []any
	}{
		{"INSERT INTO transfer (request_id, amount) VALUES (?, ?)", []any{request, amount}}, // decides
		{"UPDATE account SET balance = balance - ? WHERE id = ?", []any{amount, from}},
		{"UPDATE account SET balance = balance + ? WHERE id = ?", []any{amount, to}},
	} {
		if _, err := tx.ExecContext(ctx, statement.query, statement.args...); err != nil {
			err = errors.Join(err, tx.Rollback())
			if isDuplicate(err) {
				return nil // the transfer was made
			}
			return err
		}
	}
	return tx.Commit()
}

func isDuplicate(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && server.Number == 1062
}

func setup(ctx context.Context, db *sql.DB) error {
	for _, query := range []string{
		"DELETE FROM transfer", "DELETE FROM account",
		"INSERT INTO account (id, balance) VALUES (1, 100), (2, 0)",
	} {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// A transfer that is safe to call again: its request id is the first thing that it writes, in the same
// transaction. In a test call Run instead of Explore.
func Example() {
	dsn, drop := exampleSchema()
	defer drop()

	report, err := crashtest.Explore(context.Background(), crashtest.Workflow{
		Name:  "transfer",
		DSN:   dsn,
		Setup: setup,
		Call:  func(ctx context.Context, db *sql.DB) error { return Transfer(ctx, db, "request-1", 1, 2, 30) },
	})
	fmt.Print(report.Statements)
	fmt.Printf("%d fault points, %v\n", report.FaultPoints, err)
	// Output:
	//   1  session 1: START TRANSACTION
	//   2  session 1: INSERT INTO transfer (request_id, amount) VALUES (?, ?)
	//   3  session 1: UPDATE account SET balance = balance - ? WHERE id = ?
	//   4  session 1: UPDATE account SET balance = balance + ? WHERE id = ?
	//   5  session 1: COMMIT
	// 52 fault points, <nil>
}

// As a test: every failure of it, and every interleaving of one request that is sent twice.
func ExampleRun() {
	testTransfer := func(t *testing.T, dsn string) {
		transfer := crashtest.Workflow{
			DSN:     dsn, // a schema that nobody else uses meanwhile
			Setup:   setup,
			Call:    func(ctx context.Context, db *sql.DB) error { return Transfer(ctx, db, "request-1", 1, 2, 30) },
			Without: []crashtest.Fault{crashtest.RefusedCertification, crashtest.RefusedCommit}, // not on a cluster
		}
		crashtest.Run(t, transfer)
		crashtest.Interleave(t, crashtest.Race{Workflow: transfer, AsOnce: true})
	}
	fmt.Printf("%T\n", testTransfer)
}

// The same transfer without a request id, taken back where its answer is lost: the money moves twice.
func ExampleExplore_failing() {
	dsn, drop := exampleSchema()
	defer drop()

	_, err := crashtest.Explore(context.Background(), crashtest.Workflow{
		Name:  "move",
		DSN:   dsn,
		Setup: setup,
		Call: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE account SET balance = balance + 30 WHERE id = 2")
			return err
		},
		Once: true, // who got an answer does not ask again; who got none does
	})
	var failures *crashtest.Failures
	if errors.As(err, &failures) {
		fmt.Println(failures.List[0])
	}
	// Output:
	// fault point 3 of 10: statement 1 of 1, session 1: UPDATE account SET balance = balance + 30 WHERE id = 2: connection cut, executed but the answer was lost
	// call 1 answered: invalid connection
	// call 2 answered: nil
	// the tables differ from those of the run without faults (- without the fault, + with it):
	// table account: 2 rows without the fault, 2 rows with it
	//      id  balance
	//   -  2   30
	//   +  2   60
}

// Count holds a workflow to its number of round trips.
func ExampleCount() {
	dsn, drop := exampleSchema()
	defer drop()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		panic(err)
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		panic(err)
	}
	connector := crashtest.Wrap(inner)
	db := sql.OpenDB(connector)
	defer closeDB(db)

	log, err := crashtest.Count(connector, func() error { return Transfer(context.Background(), db, "request-2", 1, 2, 5) })
	fmt.Println(len(log), err)

	log, err = crashtest.Count(connector, func() error { return Transfer(context.Background(), db, "request-2", 1, 2, 5) })
	for _, s := range log {
		fmt.Println(s.Kind, s.Kind == "rollback")
	}
	fmt.Println(err)
	// Output:
	// 5 <nil>
	// begin false
	// exec false
	// rollback true
	// <nil>
}

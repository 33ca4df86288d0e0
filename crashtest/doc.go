// Package crashtest proves that a workflow survives a failure at every one of its statements. It is for your own tests: it knows
// nothing of this toolkit, only database/sql and go-sql-driver/mysql, and runs on a real MariaDB or MySQL.
//
// A workflow is a function that a caller may call again when it got no answer. Say what it is, and run it:
//
//	func TestBuy(t *testing.T) {
//		report := crashtest.Run(t, crashtest.Workflow{
//			DSN:   dsn, // a schema that nobody else uses meanwhile
//			Setup: func(ctx context.Context, db *sql.DB) error { … },  // DELETE FROM, INSERT: the state before the call
//			Call:  func(ctx context.Context, db *sql.DB) error { return Buy(ctx, db, "request-1", "ann", "shoe") },
//			Refs:  map[string]string{"audit.purchase_id": "purchase.id"},
//		})
//		if report.FaultPoints < 30 {
//			t.Errorf("only %d fault points", report.FaultPoints)
//		}
//	}
//
// # What Run does
//
//	learn     Setup, Call ─ twice: the same statements, the same tables; Call once more changes nothing
//	          │
//	          ▼ for each statement, for each Fault that can happen to it
//	fault     Setup ─ Call ┬─ nil ───────────────────────────▶ compare ─ Call again ─ compare
//	                       └─ error ─ Call again until nil ──▶ compare
//	                                  (MaxCalls, 3)
//
// The comparison is with the tables after the call without faults. What must differ between runs is taken out of it: values of
// auto-increment columns, and of columns that refer to them (foreign keys, Refs), count only by which rows they connect; DATETIME and
// TIMESTAMP columns only by NULL or not NULL; columns in Ignore not at all. Ids that were there after Setup are followed through the
// run: a row that moves to an archive must arrive with its own id. Tables in Sets are compared by their distinct rows, for
// audits that a retry may write twice.
//
// A failure names the workflow, the fault point, what each call answered, and the rows that differ:
//
//	crashtest: workflow "buy" does not survive 2 of 47 fault points
//	fault point 30 of 47: statement 4 of 5, session 1: COMMIT: connection cut, executed but the answer was lost
//	call 1 answered: invalid connection
//	call 2 answered: nil
//	the tables differ from those of the run without faults (- without the fault, + with it):
//	table audit: 1 row without the fault, 0 rows with it
//	     id  purchase_id  what    at
//	  -  #1  #2           bought  a time
//
// # The faults
//
//	                        BEGIN  statement  COMMIT  ROLLBACK   the call sees
//	cut, not sent             x        x        x        x       driver.ErrBadConn (outside a transaction database/sql sends it again)
//	cut, never arrived        x        x        x        x       mysql.ErrInvalidConn
//	cut, answer lost          x        x        x        x       mysql.ErrInvalidConn: executed, at COMMIT committed
//	killed before, after      x        x        x        x       what the driver makes of KILL CONNECTION
//	cancelled before          x        x        x        x       its context's error
//	cancelled during          x        x        x        x       its context's error: executed; COMMIT and ROLLBACK answer first
//	deadlock                           x        x                1213; in a transaction also after the statement's work
//	lock wait timeout                  x                         1205
//	refused at COMMIT                           x                3101, 1180 (clusters of several primaries)
//
// Injected errors leave the state that the server would: with 1213, 3101 and 1180 the session is really rolled back, with 1205 only the
// statement is undone, and a session that was cut or killed is waited for until the server has rolled it back, so that its
// locks are free when the retry comes. KILL needs no privilege: the sessions are the user's own. On MySQL the end of a session shows
// in performance_schema.threads only, so that must be on (it is by default) and readable.
//
// # What is guaranteed, and what is not
//
//   - Every execution that passes through database/sql is a fault point, BEGIN, COMMIT and ROLLBACK among them. A Prepare is none.
//   - The wrapped connector changes nothing: the server gets the same statements, each optional interface of the driver and
//     driver.ErrSkip are forwarded.
//   - Tables are equal exactly when they are equal up to renaming generated ids, where rows refer to each other as trees; in other shapes
//     some differences in who refers to whom may go unseen.
//   - One fault for each run: a fault in the retry is not tried. Callers do not run at the same time.
//   - A packet of several statements (multiStatements) is one execution: it fails before or after all of it. A transaction that
//     is begun inside such a packet or by SET autocommit=0 is not recognised, so a deadlock after a statement's work is not tried there.
//   - With an isolation level in sql.TxOptions the driver sends a SET before BEGIN, which is neither counted nor failed.
//   - A DATE or TIME column, and a time kept as a number, is compared by value: put it into Ignore.
//   - Servers with innodb_rollback_on_timeout=ON undo the whole transaction with 1205; that is not tried.
//
// A run costs a Setup, the calls, two reads of all tables (a round trip each) and, where a session dies, a new connection: some
// milliseconds. Keep Setup small.
//
// # Statement counts
//
// Wrap and Count are of use alone, for tests that hold a number of round trips:
//
//	connector := crashtest.Wrap(c)
//	db := sql.OpenDB(connector)
//	log, err := crashtest.Count(connector, func() error { return Buy(ctx, db, "request-1", "ann", "shoe") })
//	if len(log) != 5 {
//		t.Errorf("%d statements:\n%s", len(log), log)
//	}
package crashtest

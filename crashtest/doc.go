// Package crashtest proves that a workflow survives a failure at every one of its statements (Run), and that
// two or three copies of it may run at the same time, whatever the order of their statements (Interleave). It
// knows nothing of this toolkit, only database/sql and go-sql-driver/mysql, and runs on a real MariaDB or
// MySQL. A workflow is a function that a caller may call again when it got no answer:
//
//	func TestBuy(t *testing.T) {
//		crashtest.Run(t, crashtest.Workflow{
//			DSN:   dsn, // a schema that nobody else uses meanwhile
//			Setup: func(ctx context.Context, db *sql.DB) error { … },  // DELETE FROM, INSERT: the state before the call
//			Call:  func(ctx context.Context, db *sql.DB) error { return Buy(ctx, db, "request-1", "ann", "shoe") },
//			Refs:  map[string]string{"audit.purchase_id": "purchase.id"},
//		})
//	}
//
// # What Run does
//
//	learn     Setup, Call ─ twice: the same statements, the same tables; Call once more changes nothing
//	          ▼ for each statement, for each Fault that can happen to it
//	fault     Setup ─ Call ┬─ nil ───────────────────────────▶ compare ─ Call again ─ compare
//	                       └─ error ─ Call again until nil ──▶ compare      (3 calls in all)
//
// The tables are compared with those of the call without faults. What must differ is taken out:
// auto-increment columns, and those that refer to them (foreign keys, Refs), count only by which rows they
// connect; DATETIME and TIMESTAMP only by NULL or not; columns in Ignore not at all. Tables in Sets are
// compared by their distinct rows, for audits that a retry may write twice. An id that was there after Setup
// is followed: a row that moves to an archive must arrive with it.
//
// A failure names all that one needs:
//
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
//	cut inside                                  x                mysql.ErrInvalidConn: all of a packet but its COMMIT
//	killed before, after      x        x        x        x       what the driver makes of KILL CONNECTION
//	cancelled before          x        x        x        x       its context's error
//	cancelled during          x        x        x        x       its context's error: executed; COMMIT and ROLLBACK answer first
//	deadlock                           x        x                1213; in a transaction also after the statement's work
//	lock wait timeout                  x                         1205
//	refused at COMMIT                           x                3101, 1180 (clusters of several primaries)
//	stopped before            x        x        x        x       nothing, ever: another process makes the call again
//
// A process that stopped (Abandoned) leaves its connection open, with its locks, until the retry is seen to
// wait for it. A lease that it holds runs out by Expire. Injected errors leave the state that the server
// would: 1213, 3101 and 1180 really roll the session back, 1205 undoes the statement only, and a session that
// was cut or killed is waited for. KILL needs no privilege: the sessions are the user's own.
//
// # What is guaranteed, and what is not
//
//   - Every execution through database/sql is a fault point, BEGIN, COMMIT and ROLLBACK among them. A Prepare
//     is none, nor the SET that the driver sends for an isolation level in sql.TxOptions.
//   - The wrapped connector changes nothing: the server gets the same statements, driver.ErrSkip is
//     forwarded. It takes connections that have what go-sql-driver's have, and refuses others.
//   - Tables that are equal up to renaming generated ids count as equal. The reverse holds where rows refer
//     to each other as trees; else some differences in who refers to whom may go unseen. Rows are compared by
//     hashes of 64 bits.
//   - What a call answers beside its error is not compared: hold it in Check. No fault is tried in the retry.
//   - A packet of several statements is one execution: it fails before or after all of it, and right before
//     its COMMIT. It is recognised by BEGIN or START TRANSACTION as the first and COMMIT as the last; after
//     another beginning, as SET autocommit=0, a deadlock after a statement's work is not tried.
//   - A DATE, a TIME, and a time kept as a number, is compared by value: put it into Ignore. With
//     innodb_rollback_on_timeout=ON 1205 undoes the whole transaction; that is not tried.
//
// Run needs PROCESS, which shows who waits, unless Abandoned is left out (Without: []Fault{Abandoned});
// Interleave needs it always. On MySQL both need SELECT on performance_schema, which must be on. A run costs
// a Setup, the calls, two reads of all tables and, where a session dies, a connection: some milliseconds.
// Keep Setup small; Empty deletes what earlier runs left in one round trip. Wrap and Count are of use alone,
// for tests of round trips.
//
// # Races
//
//	report := crashtest.Interleave(t, crashtest.Race{Workflow: w})                  // two copies of w.Call
//	report := crashtest.Interleave(t, crashtest.Race{Workflow: w, AsOnce: true})    // one request, sent twice
//	report := crashtest.Interleave(t, crashtest.Race{Workflow: w, Calls: …})        // two or three calls, the same or others
//
// Each copy has connections of its own, and its statements wait for their turn: one goes to the server, and
// the next when it is known what became of it. So a schedule is a text, "AABBAB", and the same text is the
// same run. A copy that waits for a lock is left waiting, and goes on by itself when it is free. A deadlock
// is the server's own; the workflow's repeated statements are further steps. Then the tables, compared as Run
// does, and all answers together must be those of a serial execution, the copies one after the other in some
// order. AsOnce holds them against one call alone; Judge decides by itself.
//
// All schedules are run where there are fewer than 5,000 (two copies of 7 statements: 3,432), else all with
// at most two preemptions ([Race.Every], [Race.Preemptions]), and with [Race.Stops] those in which a process
// stops for good. A preemption is a switch away from a copy that could go on. Those with fewer come first:
//
//	schedule AABBBBAA (1 preemption); crashtest.Replay(ctx, race, "AABBBBAA") runs it again
//	  step  | A                                  | B
//	     2  | SELECT COUNT(*) FROM booking WHER… |
//	     4  |                                    | SELECT COUNT(*) FROM booking WHER…
//	     …   "waits": the server let a statement wait; "(4) goes on": statement 4 got its lock
//
// What to know of it:
//
//   - Of an answer only the text without its digits counts, of a server's error only its number. A race whose
//     copies send nothing, or all fail with an error that is no constraint's, is refused.
//   - Who waits is read from SHOW ENGINE INNODB STATUS, by session, never guessed from time (on MySQL also
//     from performance_schema; metadata locks and GET_LOCK from the sessions' states, looked at for 10 ms).
//     Others' work on the same tables disturbs.
//   - A copy between statements is waited for. After a second the others go on: a copy that waits for another
//     inside the process (a mutex, a channel) costs that second at each schedule. What copies share in memory
//     needs a lock that is not held over a statement.
//   - A copy that polls gets at most twice its usual number of statements and ten in a row. Several copies
//     that one COMMIT lets go run at once up to their next. Copies that wait for each other without a
//     deadlock fail.
//   - InnoDB may lock otherwise while deleted rows are not yet purged. A schedule that came out otherwise is
//     judged as what it was and run again, twice at most; else it counts as Unsteady.
//
// Open this package when a fault, a schedule or a report of the explorations changes.
package crashtest

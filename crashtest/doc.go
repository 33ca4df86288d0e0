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
// Run makes each [Fault] happen wherever it can: connections that are cut or killed before and after the
// server has worked, contexts that end, refusals of a statement and of COMMIT, and a process that stops for
// good. The server is left as the real one would leave it.
//
// # What is guaranteed, and what is not
//
//   - Every execution through database/sql is a fault point, BEGIN, COMMIT and ROLLBACK among them. A Prepare
//     is none, nor the SET that the driver sends for an isolation level in sql.TxOptions.
//   - The wrapped connector changes nothing: the server gets the same statements, driver.ErrSkip is
//     forwarded. It takes connections that have what go-sql-driver's have, and refuses others.
//   - Tables that are equal up to renaming generated ids count as equal. The reverse holds where rows refer
//     to each other as trees, up to hashes of 64 bits; in other shapes some differences in who refers to whom
//     may go unseen.
//   - What the call answers beside its error is not compared: keep it, and hold it in Check.
//   - One fault for each run: a fault in the retry is not tried. Callers do not run at the same time: that is
//     what Interleave is for.
//   - A packet of several statements (multiStatements) is one execution: it fails before or after all of it,
//     and, if it ends with COMMIT, right before that. It is recognised by BEGIN or START TRANSACTION as the
//     first and COMMIT as the last of them. A transaction that is begun otherwise, by SET autocommit=0 for
//     instance, is not recognised, so a deadlock after a statement's work is not tried there.
//   - A DATE or TIME column, and a time kept as a number, is compared by value: put it into Ignore.
//   - Servers with innodb_rollback_on_timeout=ON undo the whole transaction with 1205; that is not tried.
//
// Run needs the PROCESS privilege, which shows who waits for a lock, unless Abandoned is left out (Without:
// []Fault{Abandoned}); Interleave needs it always. On MySQL both need SELECT on performance_schema as well,
// which must be on, as by default. KILL needs no privilege: the sessions are the user's own.
//
// A run costs a Setup, the calls, two reads of all tables (a round trip each) and, where a session dies, a
// new connection: some milliseconds. Keep Setup small.
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
//	     5  |                                    | INSERT INTO booking (seat, who) V…
//	     6  |                                    | COMMIT
//	     7  | INSERT INTO booking (seat, who) V… |
//	     8  | COMMIT                             |
//	A was answered: nil
//	B was answered: nil
//	the tables are not those after the copies one after the other in any order; nearest: AB, answers nil, "the seat is taken" (- serial, + interleaved):
//	table booking: 1 row serially, 2 rows interleaved
//
// "waits" marks a statement that the server let wait, "(4) goes on" where statement 4 got its lock.
//
//   - Of an answer only the text without its digits counts, of a server's error only its number.
//   - A race whose copies send no statement, or all fail with an error of the server that is no constraint's,
//     is refused.
//   - Who waits, for a row, a metadata lock or GET_LOCK, is read from the server, by session, never guessed
//     from time. Other work on the server does not disturb, work on the same tables does.
//
// # A failure as data
//
// Failures, the error of Explore and ExploreRace, lists what fails. ShortestRace and ShortestFault return one
// of them as a Trace: each statement with its arguments, the rows or the error that came back, and who waited
// for whom until when, without ids and times. It is the same in each run, so it can be kept in a file and
// compared:
//
//	trace, _, err := crashtest.ShortestRace(ctx, race)  // errors.Is(err, crashtest.ErrSurvives): none fails
//
// Wrap and Count are of use alone, for tests that hold a number of round trips.
//
// Open this package when a fault, a schedule or a report of the explorations changes.
package crashtest

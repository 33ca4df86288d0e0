// Package txfuzz runs random transactions on guarded pools while sessions are killed and connections are cut,
// and holds the tables against what the callers were told:
//
//	go run -C proof ./soak transactions -minutes 2 -seed 7 -attacks all
//
// Clients share a pool of pool.Open and one of pool.Guard around a plain connector, both behind a proxy
// that cuts. They draw InTx, InIdempotentTx, transactions of their own by BeginTx with verbs that join them,
// and text on a *sql.Conn; in these inserts in many spellings, prepared and as text, ExecAll, ExecLast,
// QueryAfter, QueryLast, savepoints as text and of the Tx, nested InTx, Stmt.One that fails, duplicates,
// syntax errors, deadlocks, lock waits, panics, and errors that are dropped.
//
// # What is judged
//
//   - acknowledged: everything is there, with the values that were sent. Failed: nothing is. Unknown: all or
//     nothing.
//   - Each query of a transaction sees what it wrote before, and nothing else.
//   - The sum of the counters is that of the transactions that are there.
//   - After a transaction somebody else writes in autocommit on the pool, and another session sees it at
//     once: no session came back with a transaction open.
//   - A function that is run again does not meet its own row, unless it is InIdempotentTx's.
//   - An answer comes soon after a deadline (-late).
//   - At the end no transaction is open in the server, and neither a session nor a goroutine is left.
//
// # Attacks
//
// Attacks that broke a promise once are drawn besides, each by name (-attacks, a list; none; default
// all):
//
//	comments    statements end with comments of every kind, with semicolons and with a ? in a comment
//	arguments   statements that travel together have one argument too many and one too few
//	drops       a refusal, a killed query and a lost session are dropped, and the function returns nil
//	texts       transactions begin and go on in disguise: START/**/TRANSACTION, SET autocommit = @x
//	ends        DDL, COMMIT and CALL end the transaction in the middle
//	functions   a stored function writes in what looks like a query
//	nested      a statement is run while the rows of a query are open
//	outfile     INTO OUTFILE where it may not write: error 1290, which is not that the server is read only
//	deadlines   a row is locked for longer than the deadline, below each way to send a statement
package txfuzz

// Package onerow is the vocabulary of a toolkit for idempotent workflows on MySQL and MariaDB: one row wins.
// A unique index, a conditional update or a fencing token decides, so no distributed lock is needed.
//
// Package pool opens the database, and guards its sessions. The other packages:
//
//   - repo: rows in an active and an archive table; create, rename, archive,
//     activate, delete, with an undo window
//   - limit: refuses rows that are over the owner's limit
//   - quota: flags those of an owner's rows that are over the owner's limit
//   - cascade: everything below a deleted row goes, in the background
//   - idempotency: keys with a stored result; httpkey: the HTTP middleware
//   - flow: a flow owned by one request id, from its first message to its last
//   - ordering: messages that come late, twice and out of order
//   - serial: ranges of serial numbers without gaps
//   - schema: the tables, declared once as data; DDL and Verify come from there
//   - migrations: the toolkit's own tables
//   - oteltrace: spans of all of these for OpenTelemetry, see [Tracer]
//   - crashtest: fails a workflow at every statement, for your tests as well
//
// # What a transaction promises here
//
// [InTx] is the one way in which the toolkit runs a transaction. Given a pool it
// begins one of its own; given a transaction it joins it and leaves COMMIT to its
// owner. Query layers write in it too: a [Tx] has the methods that sqlc, gorm, ent and bun ask for, and
// [Tx.SQL] is for those that want a *sql.Tx. In a transaction of its own:
//
//	           ┌────────────── refused, or the connection was lost ──────────┐
//	           ▼                                                             │
//	BEGIN ─► first statement ─► … ─► last statement ─► COMMIT ─► committed   │
//	  └────────────┴───────────────────────┴──────────────┤                  │
//	                                                      ├─ refused ────────┘
//	                                                      └─ no answer ─► ErrOutcomeUnknown
//
// The rules are these:
//
//   - A transaction that the server refused (a deadlock, a snapshot conflict, a
//     cluster's certifier), or whose connection was lost before COMMIT was sent,
//     is run again from its first statement: at most 20 times, with jitter, until
//     the context ends. The function may therefore run more than once.
//   - InTx gives up at the third attempt that fails after waiting: by a lock wait timeout, or by a session
//     lost under a statement 0.2 seconds or more into the attempt, which may leave that session waiting in
//     the server. After 30 seconds nothing is retried, except once if the first attempt itself took that
//     long and was refused. So the default lock wait timeout of 50 seconds is waited for only once.
//   - A server or node that takes no writes or no sessions now (1047; 1290 for read_only; 1792, 1836, 3032;
//     1040, 1203) may say so at any statement, BEGIN and COMMIT too. The session is closed, and the
//     transaction run again in a new one, which leads to another server where the pool of pool.Open has
//     several hosts.
//   - Once COMMIT was sent and no answer came, the outcome is unknown. InTx says
//     so with [ErrOutcomeUnknown]; only [InIdempotentTx] runs it again, because there a
//     token of the call, inserted first under a unique key, tells the two apart. It stays unknown
//     until an attempt gets to an answer of the function's own: an error of a later attempt
//     that was not let in (1045), or met a server that does not write, comes with ErrOutcomeUnknown.
//   - A statement larger than the server's max_allowed_packet looks like a lost connection. InTx returns
//     [ErrTooLarge] for it: after reading that limit in another session or, where only escaping makes the
//     values too large, after losing a second connection.
//   - A function that returns [ErrMoved] is run again within the same bounds; in a joined transaction the
//     function alone, at most 10 times, however deep verbs are nested.
//   - Nothing else is retried in a joined transaction. [Retryable] says of the error
//     whether the owner may run the whole transaction again.
//   - After the server rolled a transaction back, or may have, later statements on its [Tx] fail with
//     [ErrTxPoisoned]; they would otherwise run in autocommit. After a lock wait timeout (1205; on MariaDB
//     also NOWAIT) it may have, since the Tx does not query innodb_rollback_on_timeout: roll back to a
//     savepoint, or return.
//   - A statement that was killed, or ran out of its time (1317, 1969, 3024), poisons its transaction too:
//     whoever drops that error would commit the rest.
//   - What would end the transaction (COMMIT, DDL) is not run: [ErrEndsTx]. Where a text does not show what
//     it does, CALL for one, a savepoint proves after it that the transaction is still the same one:
//     [ErrTxEnded] says that it is not, and what was written up to there may be committed.
//   - A statement that finds the rows of a query open is not sent: [ErrRowsOpen].
//   - A session whose ROLLBACK or COMMIT failed, or was left to database/sql because the context ended, may
//     have its transaction open: the next BEGIN in it would commit that. It is closed and never goes back to
//     the pool, whoever made the pool (*sql.DB, *sqlx.DB, or what else has their Conn; a *sql.Conn is closed
//     for its owner as well).
//
// On a pool of package pool the sessions themselves enforce the rules about lost transactions, open rows
// and failed sessions, for every transaction, the caller's own included: a session sees each error, even
// one that arrives with the rows, and after one that ends the transaction it accepts only ROLLBACK. There
// innodb_rollback_on_timeout is asked for, so a caller's own transaction may go on after a lock wait
// timeout if it is OFF. On another pool the Tx does what it can: statements that are sent on a *sql.Tx past
// the Tx are not guarded, and a failure that the server reports only while rows are read (Rows.Err) poisons
// the Tx only if it is returned from the function. Each verb that joins a *sql.Tx has a Tx of its own,
// which knows nothing of what an earlier verb met: roll back on its error. If the caller's handle has only
// BeginTx, the toolkit cannot close its sessions.
//
// # Round trips
//
// On a pool of pool.Open a transaction of [InTx] takes as many round trips as it has statements, and one for
// COMMIT: BEGIN travels with the first of them. The verbs of the toolkit send several of their statements in
// one round trip, the last ones with COMMIT; each says how many it takes. [Tx.Together] says whether the
// session is one of those. On any other pool, in a *sql.Tx of the caller's, and on a node of Galera each
// statement travels by itself: where another node's transaction aborts this one, Galera may run the rest of a
// packet outside of it, and answer that all was committed.
//
// # Settings
//
// There are settings of a session or a server with which none of this holds, such as autocommit=0 or a
// sql_select_limit. pool.Open refuses a data source name that has them, and sets in each session what a
// session may set, so that the server's defaults do not matter; pool.Check asks any pool, and the server
// behind it, and its error says what to change.
//
// # Keys
//
// The toolkit's own tables hold row ids, owners and other keys of any type in
// one canonical encoding, see [EncodeKey].
//
// Open this package when a transaction begins, runs again, is refused or ends in another way, or an error or
// a key is to mean something else.
package onerow

package pool

import (
	"database/sql/driver"

	"github.com/onerow/onerow/internal/guard"
)

// Guard wraps a connector so that a session whose transaction was lost sends nothing before ROLLBACK.
// [Open] and [NewConnector] do that already; it is for a connector of one's own, one that a tracing driver
// has wrapped perhaps:
//
//	db := sql.OpenDB(pool.Guard(connector))
//
// Its sessions and their statements must take contexts, as those of go-sql-driver/mysql and of what traces it
// do; others are refused when they are opened.
//
// It guards every transaction of the pool, those of [onerow.InTx] and the caller's own, of whatever query
// layer: begun with BeginTx, or on a *sql.Conn as text (BEGIN, START TRANSACTION, XA START, SET autocommit =
// 0).
//
//	BEGIN ─► open ─► an error that ends the transaction ─► lost ─► ROLLBACK ─► free
//	                                                        │         └─ fails: the session is closed
//	                                                        └─ anything else: ErrTxPoisoned, not sent
//
// What ends a transaction, whether a statement says so, the rows of a query, or closing them:
//
//   - the server rolled all of it back: a deadlock, a cluster's certifier, a snapshot conflict, a full lock
//     table, and a lock wait timeout where innodb_rollback_on_timeout is ON
//   - this server is not the one to write to: a Galera node that is not ready (1047), a server or transaction
//     that is read only (1290, 1792, 1836). Such a session is also not used again by the pool, so that the
//     next one may reach another server.
//   - the connection is lost
//   - somebody, or a limit of time, ended the statement (KILL QUERY, max_statement_time): who drops that
//     error would commit a part
//
// A lost transaction takes ROLLBACK only. Everything else fails with [onerow.ErrTxPoisoned], which wraps the
// first error, and is not sent; COMMIT fails in that way as well, and rolls back. A session is closed, which
// ends what is open on it, if ROLLBACK fails on it, or COMMIT in another way than by a conflict (1213, 3101),
// or if it comes back to the pool with what was begun as text and not ended.
//
// Guard reads each text for what it does to its session, comments, hints and sql_mode in mind. A text that is
// not understood for certain (CALL, PREPARE, EXECUTE, several statements, comments that the server executes)
// may have done anything: its session does not go back to the pool, and in a transaction a savepoint is set
// before it and released after it, two round trips, which proves that the transaction is still the same one;
// if it is not, the error is [onerow.ErrTxEnded]. In a transaction of [onerow.InTx] what would end it is not
// run: [onerow.ErrEndsTx]. In one of database/sql's what follows DDL, COMMIT as text, or a text that ended it
// otherwise, is one transaction again. The rows of a query have to be closed before the next statement:
// [onerow.ErrRowsOpen].
//
// When the context of a call ends under a statement or COMMIT, the call returns at once, and the session that
// waits on the server is killed over a new connection to the same host, within a second, by a goroutine for
// which the pool's Close waits; that it could not be killed is told to mysql.Config.Logger. This is on pools
// of [Open] only: who opens connections another way knows what its server calls them. Behind a proxy it works
// if the proxy answers CONNECTION_ID() and KILL as a server does.
//
// On a member of a MySQL replication group, of which [onerow.Tx.Savepoint] says what is wrong there, no
// SAVEPOINT is sent, whoever it comes from: the session remembers it. RELEASE forgets it, and ROLLBACK TO
// succeeds where nothing was written since; else it fails with [onerow.ErrNotUndone], and the transaction is
// lost. So nested transactions of a query layer work as long as they do not have to be undone. What a stored
// function or a trigger wrote is not seen, nor a SAVEPOINT in a stored procedure.
//
// Beside that savepoint it costs two round trips: the first lock wait timeout of a session that is followed
// by anything else than ROLLBACK asks for innodb_rollback_on_timeout, and on MySQL the first SAVEPOINT of a
// session asks whether the server is in a group.
func Guard(c driver.Connector) driver.Connector { return guard.New(c) }

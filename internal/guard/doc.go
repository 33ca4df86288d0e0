// Package guard watches sessions, so that one whose transaction was lost sends nothing before ROLLBACK,
// whoever began the transaction and whichever query layer is used. The comment of pool.Guard says what a
// program may rely on.
//
// A file for each question:
//
//   - connector: what is wrapped, and how
//   - session: what ends a transaction, and what may be sent then
//   - conn, stmt: the interfaces of a driver, forwarded
//   - text: what a text may do, and one that is not understood
//   - savepoint: savepoints where the server's are not safe
//   - packet, packet_query: statements that travel together, with BEGIN and COMMIT
//   - kept: queries that stay prepared
//   - leave: sessions whose caller has gone
//
// Statements of its own: those that pool.Guard names; BEGIN, COMMIT and ROLLBACK of a transaction of
// onerow.InTx, where BEGIN waits for the first statement and the last ones for COMMIT; and with COMMIT the
// proofs that one row was met.
//
// Open this package when a statement of the caller's own does something to a session that it should not.
package guard

// Package guard watches sessions, so that none goes on behind a transaction that is lost, whoever began it
// and whatever query layer sends. At pool.Guard stands what a program may rely on.
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
// Statements of its own: none, but a ROLLBACK or COMMIT that waited, and those that pool.Guard names.
//
// Open this package when a statement of the caller's own does something to a session that it should not.
package guard

// Package packet sends statements of a transaction together: those of [ExecAll] in one packet, those of
// [ExecLast] and the query of [QueryLast] with COMMIT, those of [QueryAfter] with the query after them. It
// is for the toolkit's own libraries.
//
//	n statements                            n + 1 round trips, with BEGIN and COMMIT
//	n statements, the last by ExecLast      n
//	n statements, all of them by ExecLast   1
//	n statements and a query by QueryLast   n + 1
//
// Only what is proved to be one statement, with as many placeholders as arguments and nothing after it,
// travels with others; all else travels alone, and so does all on a pool that is not one of pool.Open, in a
// *sql.Tx of the caller's, and on a node of Galera: onerow.Tx.Together says so. They are the same statements
// in the same order, and the server ends at the first that fails. As many answers are demanded as statements
// were sent, COMMIT's among them.
//
// What fails in a text that ends with COMMIT is that statement's error (wire.ErrLast, nothing was committed)
// where COMMIT never answers so (data, constraints, rights, syntax, a lock wait timeout) or the transaction
// is still open. A refusal is run again, and all else is onerow.ErrOutcomeUnknown, as at a COMMIT by itself.
//
// Open this package when two statements are to go together, or must not.
package packet

// Package keyadmin is for those who look after the keys of package idempotency: operators, who see what waits
// for a human and settle it by hand, and the jobs that count keys and remove old ones. A program that only
// claims keys does not link it.
//
//	waiting, err := keyadmin.List(ctx, db, keyadmin.ListOptions{Status: idempotency.Failed, Waiting: true})
//	ann, err := keyadmin.NewOperator(keys, "ann", "ticket 12: the bank says it was charged")
//	err = ann.Complete(ctx, db, waiting[0], receipt)
//
// # Guarantees
//
//   - An operator's verb changes a key only in the state that he has seen, and writes its audit row in the
//     same transaction; else it answers [ErrChanged] and has changed nothing.
//   - Actors and reasons are stored and read whole on a connection of any character set.
//   - A purge never touches a key in progress, and removes only what is expired by the database's clock.
//
// # Statements
//
// BEGIN and COMMIT count; a pool is given.
//
//	Operator's verbs    4, 5 when nothing is changed
//	List, Find, Audit, Measure   1
//	Purge, PurgeAudits  2 per 200 rows; 1 for each table in which nothing is old
//	ToPurge             2   AuditsToPurge 1
//
// Open this package when a key is listed, settled by hand, counted or purged in another way.
package keyadmin

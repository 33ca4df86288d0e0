// Package inspect looks for what a cascade would delete, or has missed, before anything is deleted.
//
//	e, err := inspect.DryRun(ctx, db, plan, "project", "42", 10_000, nil)
//
//	err = inspect.Orphans(ctx, db, plan, inspect.OrphanOptions{}, func(o inspect.Orphan) error { … })
//	done, err := inspect.EnqueueOrphans(ctx, db, plan, orphans)
//
//	seen, err := inspect.Sweep(ctx, db, plan, store, inspect.SweepOptions{},
//		func(f inspect.Finding) error { … })
//
// [DryRun] counts the rows that the cascade of a row would delete and detach. [Orphans] finds rows whose row
// above is not there, and [EnqueueOrphans] has them deleted. [Sweep] compares a store of assets with the rows
// that name them.
//
// # Guarantees
//
//   - Nothing of the plan's tables is locked or changed: EnqueueOrphans queues jobs for a worker, and Sweep
//     with Delete deletes objects of the store.
//   - Memory is bounded, and every statement reads along an index, as many entries as a limit or a page says:
//     a table without that index is refused. Two exceptions: a DryRun of all rows keeps the
//     keys of what it counts, and Sweep reads from end to end the tables in [Swept].Unindexed.
//   - A row that moves between its active and its archive table is seen in one of them: one statement asks
//     all of its tables whether it is there.
//   - Whether a missing row is missing still is asked again in the transaction that queues its cascade, and
//     whether an object has a row again before it is deleted.
//   - What a worker would refuse of a plan that does not fit the tables is refused here, in the same words.
//
// # Not guaranteed
//
//   - That a count is exact while others write: rows that come, go or move may be missed or counted twice.
//   - That a parent is safe which an application inserts after its children, see EnqueueOrphans.
//   - That an object is safe whose name is used again, or which only something outside the plan names, see
//     Sweep.
//
// Statements: see each function.
//
// Open this package when what would be deleted, or belongs to nothing, is to be found or told.
package inspect

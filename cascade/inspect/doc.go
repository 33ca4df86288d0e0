// Package inspect looks for what a cascade would delete, or has missed, before anything is deleted.
//
//	e, err := inspect.DryRun(ctx, db, plan, "project", "42", 10_000, nil)
//
//	err = inspect.Orphans(ctx, db, plan, inspect.OrphanOptions{}, func(o inspect.Orphan) error { … })
//	done, err := inspect.EnqueueOrphans(ctx, db, plan, orphans)
//
// [DryRun] counts the rows that the cascade of a row would delete and detach. [Orphans] finds rows whose row
// above is not there, and [EnqueueOrphans] has them deleted.
//
// # Guarantees
//
//   - Nothing of the plan's tables is locked or changed: EnqueueOrphans queues jobs for a worker.
//   - Memory is bounded, and every statement reads along an index, as many entries as a limit or a page says:
//     a table without that index is refused. But a DryRun of all rows keeps the keys of what
//     it counts.
//   - A row that moves between its active and its archive table is seen in one of them: one statement asks
//     all of its tables whether it is there.
//   - Whether a missing row is missing still is asked again in the transaction that queues its cascade.
//   - What a worker would refuse of a plan that does not fit the tables is refused here, in the same words.
//
// # Not guaranteed
//
//   - That a count is exact while others write: rows that come, go or move may be missed or counted twice.
//   - That a parent is safe which an application inserts after its children, see EnqueueOrphans.
//
// Statements: see each function.
//
// Open this package when what would be deleted, or belongs to nothing, is to be found or told.
package inspect

// Package cascade deletes everything below a row that was deleted, in the
// background and bottom-up: the worker that works the jobs of package cascade/queue.
//
//	w, err := cascade.NewWorker(db, plan, cascade.Config{})
//	err = w.Run(ctx)
//
// cmd/cascade-worker does that. Package repo queues the jobs of its resources: the user who deletes does not
// wait for the children. Package admin is for the people who watch over workers.
//
// # What a job does
//
// What hangs below what is a [schema.Plan]: resources that the toolkit made, and existing tables. Let D be
// the root row and every row that refers, over an edge that deletes, to a row of D. All of D is deleted,
// the root last. Rows outside of D that refer to a row of D over an edge that detaches get NULL there, or
// the time of the deletion where it marks them; both count as detached. Edges that keep are ignored, and
// every other row is untouched. Keys may be composite and of any type that has exact values; edges may be
// composite, conditional (polymorphic children), refer to other columns than the key, and lead from a table
// to itself; a row may be below several.
//
// Package internal/work has the picture of a job's passes and batches. A table that nothing hangs below,
// without assets and without a quota of an owner who stays, is a leaf: its rows are deleted by their parents'
// keys without being read, as are detached rows. A row that names an asset must not be deleted when its
// cascade is enqueued, but hidden in the archive, for the worker learns the asset's name from it; so must a
// root to whose other columns than the key something refers.
//
// Rows that refer to each other in a loop, over edges from a table to itself, are cut apart at a column that
// may be NULL. Rows that are below a third row and below each other may be, too; so a row that is left over
// may have lost such a reference. A loop without such a column fails the job; the error, and inspect.DryRun,
// name a row.
//
// # Guarantees
//
//   - What package queue guarantees: a row has at most one open job, and a cancel and a claim exclude each
//     other.
//   - A job takes its root row away only if its deletion hides it, or it is in the active table and older
//     than the deletion, or an operator had it queued ([queue.FromOperator]): ids are used again where
//     AUTO_INCREMENT has fallen back. Else it dies with [queue.ErrOtherDeletion]. It never has the id of a
//     finished job when it is worked, see [queue.Renumber].
//   - The first statement of every batch is the fence: it proves the lease token and renews the lease. A
//     worker whose job was claimed by another changes nothing any more, and learns it. A batch that ends many
//     jobs proves all of them, by a lock, or changes nothing; it deletes their rows, which is the fence.
//   - Counts are written in the transaction of the batch that deleted the rows: [queue.Job].DeletedRows is
//     exactly the number of rows below the root that were deleted, however often workers were killed. The
//     root's own row does not count. A row that is detached first and goes later counts as deleted only, and
//     so does the root; what leads from it to the root is looked at when it is detached, 100 levels up beyond
//     the walk.
//   - Bottom-up: a row goes after everything below it, so a run that dies halfway leaves the relationships
//     that the next one needs, and foreign keys allow every step.
//   - No child slips in below a dying parent, at any level, if a foreign key or the code that inserts a child
//     takes a share lock on the parent's row, as package repo does: parents are locked before they are
//     deleted, with the entries of unique keys that something refers to; what they have below is then
//     deleted, or looked for by a read that is newer than the lock, and parents that still have something
//     stay for the next round.
//   - Rows that move between their active and archive tables meanwhile are found: passes are repeated until,
//     with the root locked, one snapshot of all tables shows nothing below it.
//   - A statement that met no row proves nothing, for MariaDB answers a DELETE that KILL QUERY or
//     max_statement_time has ended before its first row with OK (11.8 an UPDATE, too): the batch looks again.
//   - Which row refers to which the database decides, by its types and collations.
//   - An asset is deleted before the row that names it, and only after a rehearsal, a transaction that is
//     rolled back, has shown that the row can go: a row that is parked keeps its asset, and so do those above
//     it. The fence is asked before each call, and the row goes only if it still names that asset.
//   - A batch that fails because of a row is halved until the row is found; it is parked with its error
//     ([queue.ListParked]) and the job goes on without it. It ends with [queue.Leftovers] when only parked
//     rows and what is above them are left. Errors that are not about rows, such as a missing table, park
//     nothing.
//   - A job that fails is tried again with growing pauses, and after Config.MaxFailures attempts kept as
//     dead, with its error, until [queue.Retry]. A refused transaction, a database that cannot be reached and
//     the server's own state ([queue.IsServerState]) are no failures: the job is due again later, with the
//     error and what to do stored with it. Where every job would meet the same, it is due again within two
//     seconds, the others are given back, and the worker pauses, 0.1 to 10 seconds, growing. Else only this
//     job rests, for a second and twice as long each time until it deletes something, up to 5 minutes. Pauses
//     are give or take a half.
//   - Batches adapt to the time that they take (Config.Target), also where the server ends them for it.
//   - A job is begun under the fingerprint of the plan and of its tables, and dies with an error before the
//     first batch after these were seen to have changed; the catalog is read again every ten seconds, less
//     often where that would take more than a hundredth of the time. Before a job is begun, a plan that does
//     not fit the tables is no failure of it: the worker reports that and pauses.
//   - A worker claims jobs for the resources of its plan only.
//   - A small job does not wait for the end of huge ones: where others are due, a job is worked for a turn
//     (Config.Turn), and due again behind them. It waits for a turn of each job that was due before it.
//   - Memory for rows is bounded: some ten thousand keys, however many rows there are. The stack is not.
//   - What the plan keeps ([schema.Plan].Trash) is copied and deleted by the same keys in the same
//     transaction, or not deleted; so is a row whose reference is cut. [recover.Rows] puts it back byte by
//     byte, parents first, each batch under the job's token, while others write. What is taken or has lost
//     its row above meanwhile stays in the trash, with the reason. A row comes back below what has come back,
//     or what its job never took, and not below a row that has taken such a key since; where copies of rows
//     above are gone from the trash, not below what may be one of those. A row that referred to nothing
//     before may do so again. What is not back is held against what was deleted, and told by table.
//   - What the plan's retention asks for is deleted only if it is due when its job begins: the look, under
//     the row's lock, commits with the job's first batch. [Worker.Run] queues it; see [Retainer].
//   - When the context of [Worker.Run] ends, the current batches are ended or rolled back, leases are given
//     back, and Run returns within two seconds.
//   - A job that is paused ([queue.PauseJob]) changes nothing after the batch under way; the jobs of a
//     resource that is paused (admin.Pause) go on for a second and a batch at most. Neither is a
//     failure. admin.Set changes load, target and parallel of workers as soon.
//   - While others send statements to the server, workers have a quarter of the time together, in batches
//     of about 3ms, but each of them has one a second; see Config.Load for who is felt.
//   - While admin.Pause is on or a throttle of Config.Throttles has a reason, workers claim nothing and keep
//     the leases of the jobs that they have begun.
//   - An unknown outcome of a batch (COMMIT sent, no answer) is harmless. It is run again: its fence waits
//     until the lost attempt has ended, and the rows that this one deleted were counted by it.
//
// # Not guaranteed
//
//   - That assets are deleted once: [Assets] is called again after a crash, by a worker that lost its lease
//     too, and where a batch is halved. It must be idempotent, and names of assets must never be used again.
//   - That a row keeps its asset if something comes to hold it, or moves it to another parent, between the
//     rehearsal and the batch: nothing is locked there. inspect.Sweep finds rows without their asset.
//   - That a job ends while others insert below its root without a pause. Hide the root first.
//   - On clusters of several primaries row locks do not reach the other nodes. The queue is safe there
//     (conditional updates decide), and so are rows that come by package repo, by a plan for a cluster
//     ([schema.Plan].Cluster), or by a foreign key. Another child that is inserted on another node while its
//     parent goes may be left below nothing; inspect.Orphans finds it. So may a row be left that is moved
//     away from below a root which an operator has queued, and which stays meanwhile, what was below it gone.
//   - A row that is given another parent while the job of the old one runs stays, but what is below it may
//     go. Package repo refuses to move rows out of a job whose root is one of its resources.
//   - Memory for depth: some 6 KB of stack for each level below the root, for each of Config.Parallel: 30 MB
//     for a chain of 10,000 rows that answer each other. One of more than about 100,000 may end the process,
//     for Go bounds a stack to 1 GB. Delete such chains from their end first, by jobs of their own.
//   - Order between jobs. Workers take what is due, the one that is due longest first, and for the rest more
//     or less so. [Worker.Drain] does not wait for jobs that are due later or that another worker is running.
//   - What triggers do, and columns that the server sets on update, when a row is detached, or set again.
//   - That a root comes back from the trash which the application has deleted by itself.
//   - A row whose foreign key refers to itself and may not be NULL: nobody can delete it while the key is
//     there; it is parked.
//
// # Indexes
//
// The columns of an edge need an index in each table of the child that begins with them,
// in any order, and for a resource's parent (parent, id); [live.Verify] checks that. The
// walk follows the index. Tables of nothing but keys are read less well by MySQL.
// Statistics of when a table was empty do no harm until the server starts again or closes the table: MySQL
// then takes it for empty, and a batch may lock all of it. Run ANALYZE TABLE where STATS_AUTO_RECALC is off.
//
// # Statements
//
// BEGIN and COMMIT count as statements here.
//
//	Retainer                                         see there; a job of it takes 5 more, 1 for all that go together
//	claim       1 when nothing is due, else 6, for Config.ClaimJobs jobs or more; 1 more per
//	            so many that are due but held by batches that wait for a lock
//	together    1, then a batch for up to 100 jobs of a resource that were claimed at once and have
//	            nothing below their roots but rows that go unread: BEGIN, proof, plans, 2 that move the
//	            jobs to the archive, COMMIT, up to 2 for counts, 1 for those that do not end, up to 3
//	            for each table of the root; where something is below, a look more, and 2 for each
//	            edge, 3 where there is more than a batch, or 1 for each root where rows are detached
//	fail, give back                                  1; 5 when the job dies
//	end of a turn                                    1, which looks whether others are due
//	governor    1 per second, and what throttles ask; 2 per second for what others do, 4 while they do
//	            something, none if Config.Load is set; 1 each 5 seconds for the worker's row, each
//	            second if it sends more than 20; 1 each 10 minutes, to tidy up, and 1 for each row that this finds
//	catalog     10 each 10 seconds, less often where they take longer than 100ms; 2 more at the first
//	            and each day, and when plan or tables have changed
//
// Another job takes 1 more at each attempt but the first, 1 more in its first batch, and its passes, see
// package internal/work. A tree that fits into a chunk goes in one batch. No count grows with the data but
// by the number of chunks and, in trees of one table, of levels: a chain takes 2 per row.
//
// Open this package when a claim is worked, given back or renewed in another way, a worker waits, or a
// retention queues.
package cascade

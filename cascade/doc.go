// Package cascade deletes everything below a row that was deleted, in the background and bottom-up: the
// worker that works the jobs of package cascade/queue.
//
//	w, err := cascade.NewWorker(db, plan, cascade.Config{})
//	err = w.Run(ctx)
//
// cmd/cascade-worker does that. Package repo queues the jobs, so users do not wait.
//
// # What a job does
//
// A [schema.Plan] says what hangs below what: resources that the toolkit made, and existing tables. Let D be
// the root row and every row that refers, over an edge that deletes, to a row of D. All of D is deleted, the
// root last. Rows outside of D that refer to it over an edge that detaches get NULL there, or the time of the
// deletion where it marks them; both count as detached. Every other row is untouched; the database decides
// which row refers to which. Keys may be composite, of any type with exact values; edges conditional
// (polymorphic children), to other columns than the key, and from a table to itself.
//
// A leaf is a table that nothing hangs below, without assets and without a quota of an owner who stays: its
// rows are deleted by their parents' keys, unread, as are detached rows. A root that names an asset, or to
// whose other columns than the key something refers, must be hidden in the archive when its cascade is
// enqueued, not deleted. Rows in a loop, over edges from a table to itself, are cut apart at a column that
// may be NULL; so a row that is left over may have lost a reference. A loop without such a column fails the
// job; the error, and inspect.DryRun, name a row.
//
// Between jobs [Worker.Run] queues the deletion of rows that are old enough, as [schema.Retention] says; the
// audit says [queue.FromDue].
//
// # Guarantees
//
//   - A row has at most one open job, and a cancel and a claim exclude each other: see package queue.
//   - A job takes its root row away only if its deletion hides it, or it is in the active table and older
//     than the deletion, or an operator had it queued ([queue.FromOperator]), for ids can be reused where
//     AUTO_INCREMENT has fallen back. Otherwise the job dies with [queue.ErrOtherDeletion]. A job that is
//     being worked never shares its id with a finished one, see [queue.Deletion].After.
//   - The first statement of every batch is the fence: it proves the lease token and renews the lease. A
//     worker whose job was claimed by another changes nothing any more, and learns it. A batch that ends many
//     jobs proves all of them, by a lock, or changes nothing; it deletes their rows, which is the fence.
//   - Counts are written in the transaction of the batch that deleted the rows: [queue.Job].DeletedRows is
//     exactly the number of rows below the root that were deleted, however often workers were killed. The
//     root's own row is not counted. A row that is detached and deleted later counts only as deleted, if
//     its way to the root is at most 100 levels longer than the walk.
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
//   - An asset is deleted before the row that names it, and only if the row can go, see [Assets].
//   - A batch that fails because of a row is halved until the row is found; it is parked with its error
//     ([queue.ListParked]) and the job goes on. It ends with [queue.Leftovers] when only parked rows, what is
//     above them and what was not reached below them are left. Errors that are not about rows park nothing.
//   - A job that fails is tried again with growing pauses, and after Config.MaxFailures kept as dead until
//     [queue.Retry].
//   - A job dies before the first batch after its plan or tables were seen to have changed. The catalog is
//     read every ten seconds, less often where that would take more than a hundredth of the time. A plan
//     that does not fit the tables begins no job: the worker reports that and pauses.
//   - A worker claims jobs for the resources of its plan only. Where others are due, a job is worked for a
//     turn (Config.Turn) and due again after them, so a small job does not wait for the end of huge ones.
//   - What the plan keeps ([schema.Plan].Trash), and a row whose reference is cut, is copied and deleted by
//     the same keys in one transaction, or stays. Package recover brings it back.
//   - When its context ends, [Worker.Run] gives back what it holds and returns within two seconds.
//   - A paused job ([queue.PauseJob]) changes nothing after the batch under way; the jobs of a paused
//     resource (admin.Pause) go on for a second and a batch at most. Neither is a failure.
//   - While others use the server, workers give way, see Config.Load. While admin.Pause is on or a throttle
//     of Config has a reason, they claim nothing and keep their leases.
//   - An unknown outcome of a batch (COMMIT sent, no answer) is harmless: the next fence waits until the lost
//     attempt has ended, and what that one deleted was counted by it.
//
// # Not guaranteed
//
//   - That assets are deleted once, see [Assets].
//   - That a job ends while others insert below its root. Hide the root first.
//   - On clusters of several primaries row locks do not reach other nodes. The queue is safe there, and rows
//     that come by package repo with [schema.Plan].Cluster, or by a foreign key. Another child inserted on
//     another node while its parent goes may be left below nothing (inspect.Orphans finds it), and so may a
//     row that moves away from below a root which an operator has queued.
//   - A row that another program gives another parent while the job of the old one runs stays, but what is
//     below it may go.
//   - Memory for depth: keys in memory are bounded, but each level takes 6 KB of stack. A chain of more than
//     about 100,000 rows may end the process, at Go's bound of 1 GB: delete it from its end first.
//   - Order between jobs: the one due longest first, more or less.
//   - What triggers do, and columns that the server sets on update, when a row is detached. A row whose NOT
//     NULL foreign key refers to itself is parked: nobody can delete it.
//
// # Indexes
//
// The columns of an edge need an index in each table of the child that begins with them, in any order, for a
// resource's parent (parent, id); [live.Verify] checks that. MySQL may take a table for empty by old
// statistics, and a batch then lock all of it: run ANALYZE TABLE where STATS_AUTO_RECALC is off.
//
// # Statements
//
// BEGIN and COMMIT count. No count grows with the data except by chunks and, in trees of one table, levels.
//
//	retention   1 a second that finds it has to wait; 2 per page of 500 rows, 5 more where rows are queued; a job
//	            of it takes 5 more, 1 for all that go together
//	claim       1 when nothing is due, else 6, for Config.ClaimJobs jobs or more; 1 more for each such group
//	            whose jobs are due but all held by other transactions
//	together    1, then a batch for up to 100 jobs of a resource that were claimed at once and have nothing below but
//	            rows that go unread: BEGIN, proof, plans, 2 that move the jobs to the archive, COMMIT, up to 2 for
//	            counts, 1 for those that do not end, up to 3 for each table of the root; else a look more, and 2 for
//	            each edge, 3 where there is more than a batch, or 1 for each root where rows are detached
//	fail, give back   1; 5 when the job dies; 1 more if another worker has the failed job by then
//	end of a turn     2; 1 where the worker itself keeps others waiting, or has a slot too many
//	governor    1 per second, and what throttles ask; 2 per second for what others do, 4 while they do something, none
//	            if Config.Load is set; 1 each 5 seconds for the worker's row, each second if it sends more than 20;
//	            1 each 10 minutes, to tidy up, and 1 for each row that this finds
//	catalog     10 each 10 seconds, less often where they take over 100ms; 2 more at the first, each day and each change
//
// Another job takes 1 more at each attempt except the first, 1 more in its first batch, and its passes, see
// package internal/work. A tree that fits into a chunk goes in one batch; a chain takes 2 per row.
//
// Open this package when a claim is worked, given back or renewed in another way, a worker waits, or a
// retention queues.
package cascade

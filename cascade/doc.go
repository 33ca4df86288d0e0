// Package cascade deletes everything below a row that was deleted, in the
// background and bottom-up: a queue of jobs in the same database, and the worker
// that works them. A delete commits the audit ([Log]), the job ([Enqueue]) and
// the row's own removal in one transaction; the user does not wait for the
// children.
//
// # The states of a job
//
//	            Enqueue                     Enqueue, no grace period
//	               │                                  │
//	               ▼        grace period ends         ▼    claim: token+1
//	           scheduled ───────────────────────► ready ◄──────────────┐
//	               │                               │  ▲                │
//	        Cancel │                         claim │  │ failed, backoff│ Retry, RetryParked
//	               │                               ▼  │ or given back  │
//	               │                              running ◄─┐ lease ended: claimed
//	               │           nothing is left   │ │ │ └────┘ by another, token+1
//	               │              ┌──────────────┘ │ └───────────────┐
//	               │              │     all but parked rows and      │ failed MaxFailures times,
//	               │              │     what is above them is gone   │ or the schema drifted, or
//	- - - - - - - -│- - - - - - - │- - - - - - - - │- - - - - - - - -│ too many rows are parked
//	 archive       ▼              ▼                ▼                 ▼
//	           cancelled        done ◄──────── leftovers           dead
//	                                SkipParked
//
// A scheduled job is held by [Hold] when its deletion was cancelled and the row could not come
// back. It stays held past its grace period, until one of these:
//
//	scheduled ── Hold ──► held ──┬─ Cancel ───────────────────► cancelled
//	    ▲                        ├─ Enqueue, the earlier time ─► scheduled, or ready
//	    └────────────────────────┴─ Retry, its own time ──────► scheduled, or ready
//
// Open jobs live in onerow_job, where the unique key one_open (resource, id)
// decides that a row has one; finished ones in onerow_job_archive. A job keeps its
// id, its counts (onerow_job_count, onerow_job_detached) and its token counter when it
// moves. Leftovers and dead jobs can be retried.
//
// Finished jobs are kept until [PurgeJobs] removes those that are done or cancelled and old enough, with
// their counts and skipped rows; dead ones and leftovers stay. Audits are kept until [PurgeDeletions], as
// long as their row has any job. cascade-worker does both, after 400 days. Of a row that has no job any more
// nothing is known but that it is gone: Find does not find it, and its deletion cannot be undone.
//
// One column says when a worker may take a job, due_at: the end of the grace
// period, the next attempt, or the end of the running worker's lease; of a held job that
// is a thousand years away. All times are the database's clock.
//
// # What a job does
//
// What hangs below what is a [schema.Plan]: resources that the toolkit made, tables that
// somebody else designed. Let D be the root row and every row that refers, over an edge
// that deletes, to a row of D. All of D is deleted, the root last. Rows outside of D that
// refer to a row of D over an edge that detaches get NULL there. Edges that keep are
// ignored, and every other row is untouched. Keys may be composite and of any type that
// has exact values; edges may be composite, conditional (polymorphic children), refer to
// other columns than the key, and lead from a table to itself; a row may be below several.
//
//	              walk: depth-first, a chunk of rows at a time, along the index of the edge
//	               │
//	rows with ─────┤ children, assets or a quota: read, and collected in post-order
//	               │
//	               ▼ a chunk is full, or the walk has ended
//	rehearsal      the batch below, with ROLLBACK; then the assets of the rows that went there.
//	               Only where rows name assets
//	               ▼
//	batch          BEGIN; fence; lock all its rows; detach and delete what is unread below
//	               them; look for anything else below; delete those that have nothing; COMMIT
//
// A table that nothing hangs below, without assets and without a quota of somebody who
// survives it, is a leaf: its rows are deleted by their parents' keys without being read, as
// are detached rows. A row that names an asset must not be deleted when its cascade is
// enqueued; it is hidden in the archive, for the worker learns the asset's name from it. So
// must a root to whose other columns something refers: of a root that is gone only the key
// is known.
//
// Rows that refer to each other in a loop, over edges from a table to itself, are cut apart
// at a column that may be NULL. This also takes rows apart that are below a third row and
// below each other, if rounds of a batch do not get them into order; so a row that is left over
// may have lost such a reference. A loop without a column that may be NULL fails the job with
// [ErrLoop], which names a row.
//
// # Guarantees
//
//   - A row has at most one open job, however often and by whomever it is enqueued. A deletion during
//     the grace period of an earlier one takes the earlier of the two times.
//   - Cancel and the claim of a job exclude each other: one conditional update wins.
//   - A job takes its root row away only if its deletion hides it, or it is in the active
//     table and older than the deletion, or an operator had it queued ([FromOperator]).
//     Else it dies with [ErrOtherDeletion], and has deleted nothing if it was so when it began: ids
//     are used again where AUTO_INCREMENT has fallen back.
//   - A job never has the id of a finished one when it is worked, see [Renumber].
//   - The first statement of every batch is the fence: it proves the lease token,
//     renews the lease and grows a sequence number. A worker whose job was claimed
//     by another changes nothing any more, and learns it ([ErrLeaseLost]).
//   - Counts are written in the transaction of the batch that deleted the rows, so
//     [Job].DeletedRows is exactly the number of rows that were deleted below the
//     root, however often workers were killed. The root's own row does not count. A
//     row that is detached and then deleted counts as both.
//   - Bottom-up: a row goes after everything below it, the root row last of all, so
//     a run that dies halfway leaves the relationships that the next run needs, and
//     foreign keys allow every step.
//   - No child slips in below a dying parent, at any level, if a foreign key or whoever
//     inserts a child takes a share lock on the parent's row in the insert's transaction,
//     as package repo does: parents, with the entries of other unique keys that
//     something refers to, are locked before they are deleted, what they
//     have below is then deleted or looked for by a read that is newer than the
//     lock, and parents that still have something stay for the next round.
//   - Rows that move between their active and archive tables meanwhile are found:
//     passes are repeated until, with the root locked, one snapshot of all tables
//     shows nothing below it.
//   - A statement that the server ends without saying so proves nothing: MariaDB answers a DELETE
//     that KILL QUERY or max_statement_time has met before its first row with OK and no row, 11.8
//     an UPDATE too. Where no row was met, the batch looks once more before a parent goes.
//   - Which row refers to which the database decides, by its types and collations.
//   - An external asset is deleted before the row that names it, and the row only
//     if it still names that asset. It is deleted only after a rehearsal, a transaction that
//     is rolled back, has shown that the row can go: so a row that is parked keeps its
//     asset, and so do rows above parked ones. Before each call the fence is asked.
//   - A batch that fails because of a row is halved until the row is found; the row is
//     parked with its error ([ListParked]) and the job goes on without it. It ends with
//     [Leftovers] when only parked rows and what is above them are left. Errors that are
//     not about rows, such as a missing table, park nothing.
//   - A job that fails is tried again with growing pauses, and after Config.MaxFailures attempts kept as
//     dead, with its error, until [Retry]. That the database refused a transaction or could not be reached
//     does not count as a failure of the job, nor against a row; nor does the state that the server is in
//     ([ErrServerState]: no connections, a full disk, read-only, a statement that was killed or took too
//     long, binlog_format=STATEMENT). Such a job is due again later, with the error and what to do stored
//     with it. Where every job would meet the same (connections, read-only, binlog_format) that is within two
//     seconds, the others are given back, and the worker pauses for 0.1 to 10 seconds, longer each time, give
//     or take a half. Else only this job rests, for a second and twice as long each time until it deletes
//     something, up to 5 minutes, give or take a half, as each worker has counted since it began; the worker
//     pauses if all jobs that it has claimed meet such a state. Where the statement took too long its batches
//     become smaller, unless Config.Target is negative.
//   - A job is begun under the fingerprint of the plan and of its tables. It dies, with
//     [ErrDrift], before the first batch after these were seen to have changed; the catalog
//     is read again every ten seconds, or less often where that would take more than a hundredth
//     of the time. Before it is begun a plan that does not fit the tables
//     is no failure of the job: the worker reports that and pauses.
//   - A worker claims jobs for the resources of its plan only; others are left to workers that
//     have them.
//   - Memory for rows is bounded: some thousands of keys, however many rows there are and
//     however deep their trees. The stack is not: see below.
//   - When the context of [Worker.Run] ends, the current batches are ended or rolled
//     back, leases are given back, and Run returns within two seconds.
//   - While [Pause] is on or a throttle of Config.Throttles has a reason, workers claim
//     nothing and keep the leases of the jobs that they have begun.
//
// # Not guaranteed
//
//   - That assets are deleted once: Assets.Delete is called again after a crash, by
//     a worker that lost its lease too, and where a batch is halved. It must be idempotent,
//     and the names of assets must never be used again.
//   - Between the rehearsal and the batch nothing is locked. A row that comes to be held just
//     then, by a child that is inserted and cannot be deleted, or by a reference from outside of
//     the plan, is parked, or stays above a parked one, without its asset. So is a row that
//     somebody moves away from its parent then. Rows without their asset [Sweep] finds.
//   - That a job ends while others insert below its root without a pause: what they insert is
//     deleted, until a pass finds nothing. Rows with assets take longest. Hide the root first.
//   - On clusters of several primaries row locks do not reach the other nodes. The
//     queue is safe there (conditional updates decide); a child that is inserted on
//     another node while its parent goes may be left below nothing; [Orphans] finds it.
//   - A row that is given another parent while the job of the old one runs: what is
//     below it may go.
//   - Memory for depth. The walk takes about 6 KB of stack for each level that it is below the
//     root: 30 MB for a chain of 10,000 rows that answer each other and 230 MB for 40,000, for
//     each of Config.Parallel; one of more than some 100,000 may end the process, for Go bounds
//     a stack to 1 GB. Such chains are deleted from their end first, by jobs of their own.
//   - Order between jobs. Workers take what is due, oldest first, more or less.
//   - [Worker.Drain] does not wait for jobs that are due later or that another worker
//     is running.
//   - What triggers do, and columns that the server sets on update, when a row is detached.
//   - A row whose foreign key refers to itself and may not be NULL cannot be deleted by
//     anybody while the key is there; it is parked.
//
// An unknown outcome of a batch (COMMIT sent, no answer) is harmless. The batch is
// run again: its fence waits until the lost attempt has ended, it deletes what is
// still there, and the rows that the lost attempt deleted were counted by it.
//
// # Indexes
//
// The columns of an edge need an index in each table of the child that begins with them,
// in any order, and for a resource's parent (parent, id); [schema.Verify] checks that. The
// walk follows the index. Tables of nothing but keys are read less well by MySQL.
//
// # Statements
//
// BEGIN and COMMIT count as statements here.
//
//	Log         1
//	Enqueue     1; 2 when a job is open already      on a pool +2
//	EnqueueMany 2 per 500                            on a pool +2
//	Cancel      3; 2 when it is too late             on a pool +2
//	Hold        1                                    on a pool +2
//	Retry       4; 3 when it is neither dead nor has leftovers   on a pool +2
//	Find, Get                                        1
//	List                                             2
//	PurgeJobs   9 per 200, 1 more where rows were skipped; 1 per 200 that stay
//	PurgeDeletions 2 per 200; 1 per 200 that stay
//	claim       1 when nothing is due, else 4, for up to Config.ClaimJobs jobs; 1 more per
//	            so many that are due but held by batches that wait for a lock
//	fail, give back                                  1; 5 when the job dies
//	governor    1 per second, and what throttles ask; 1 each 5 seconds for the worker's row;
//	            1 each 10 minutes, to tidy up, and 1 for each row that this finds
//	catalog     9 each 10 seconds, less often where they take longer than 100ms
//
// A job takes 2 more at each attempt but the first, 1 more in its first batch, and, per
// pass (one pass unless rows move, appear, are in a loop or poisonous):
//
//	the root's row is looked for                     1
//	each non-leaf table and edge, per chunk of       1 and 1 more per full chunk of rows
//	parents, while Lease/3 has not passed
//	each batch of what was found                     as below; where it has rows with assets
//	                                                 twice, first rolled back, and then 1
//	                                                 per 100 assets
//	the last batch                                   the same, and 3 for the root: look for
//	                                                 anything below, copy the job, delete it;
//	                                                 +2 where the root row is still there, +1
//	                                                 per pass where no deletion hides it, +1
//	                                                 with a quota, +1 per index of columns
//	                                                 other than the key
//
//	batch:   BEGIN, fence, per table and edge: lock the rows, and 1 per index of columns other
//	         than the key that something refers to; where the rows are of several
//	         levels: look for others below, 1 per table; per group of rows, which is a chunk
//	         of one table: 1 per leaf table and 1 per detached table below, look for others
//	         below (1, only where there can be any and the first look has found some,
//	         or where a leaf or detached table has answered with no row), delete the rows;
//	         counts (1, and 1 where rows were detached), COMMIT
//	leaves:  where a group has more than a batch of these, batches take as many of its rows as
//	         have about a batch of them; below a row that has more, BEGIN, fence, 1 per leaf or
//	         detached table, counts, COMMIT
//	cut:     BEGIN, fence, 1, COMMIT per chunk with rows of a loop, after a pass that met one
//	poison:  about 2 × log2 of the batch's rows batches to find a row, and BEGIN, fence, park,
//	         COMMIT; whose table is then read instead of being deleted unread
//
// A tree that fits into a chunk goes in one batch. None of these grows with the data but by
// the number of chunks and, in self-trees, of levels: a chain takes 2 per row.
package cascade

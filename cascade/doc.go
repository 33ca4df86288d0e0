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
//	        Cancel │                         claim │  │ failed, backoff│ Retry
//	               │                               ▼  │ or given back  │
//	               │                              running ◄─┐ lease ended: claimed
//	               │                     root row   │ │ └───┘ by another, token+1
//	- - - - - - - -│- - - - - - - - - - - - is gone│- │ failed MaxFailures times
//	 archive       ▼                               ▼  ▼                │
//	           cancelled                         done dead ────────────┘
//
// Open jobs live in onerow_job, where the unique key one_open (resource, id)
// decides that a row has one; finished ones in onerow_job_archive. A job keeps its
// id, its counts (onerow_job_count) and its token counter when it moves.
//
// One column says when a worker may take a job, due_at: the end of the grace
// period, the next attempt, or the end of the running worker's lease. All times
// are the database's clock.
//
// # Guarantees
//
//   - A row has at most one open job, whoever enqueues how often. A deletion during
//     the grace period of an earlier one takes the earlier of the two times.
//   - Cancel and the claim of a job exclude each other: one conditional update wins.
//   - The first statement of every batch is the fence: it proves the lease token,
//     renews the lease and grows a sequence number. A worker whose job was claimed
//     by another changes nothing any more, and learns it ([ErrLeaseLost]).
//   - Counts are written in the transaction of the batch that deleted the rows, so
//     [Job].DeletedRows is exactly the number of rows that were deleted below the
//     root, however often workers were killed. The root's own row does not count.
//   - Bottom-up: a row goes after everything below it, the root row last of all, so
//     a run that dies halfway leaves the relationships that the next run needs.
//   - No child slips in below a dying parent, at any level, if whoever inserts a
//     child takes a share lock on the parent's row in the insert's transaction, as
//     package repo does: parents are locked before they are deleted, what they
//     have below is then deleted or looked for by a read that is newer than the
//     lock, and parents that still have something stay for the next round.
//   - Rows that move between their active and archive tables meanwhile are found:
//     passes are repeated until, with the root locked, one snapshot of all tables
//     shows nothing below it.
//   - An external asset is deleted before the row that names it, and the row only
//     if it still names that asset.
//   - A job that fails is tried again with growing pauses, and after
//     Config.MaxFailures attempts kept as dead, with its error, until [Retry].
//     That the database refused a transaction or could not be reached does not
//     count as a failure of the job.
//   - When the context of [Worker.Run] ends, the current batch is ended or rolled
//     back, leases are given back, and Run returns within two seconds.
//
// # Not guaranteed
//
//   - That assets are deleted once: Assets.Delete is called again after a crash, by
//     a worker that lost its lease too. It must be idempotent, and the names of assets
//     must never be used again.
//   - On clusters of several primaries row locks do not reach the other nodes. The
//     queue is safe there (conditional updates decide); a child that is inserted on
//     another node while its parent goes may be left below nothing.
//   - A row that is given another parent while the job of the old one runs: what is
//     below it may go.
//   - Order between jobs. Workers take what is due, oldest first, more or less.
//   - [Worker.Drain] does not wait for jobs that are due later or that another worker
//     is running.
//   - Cycles, trees of one table, polymorphic children: a [schema.Plan] cannot
//     declare them, every resource has at most one parent.
//
// An unknown outcome of a batch (COMMIT sent, no answer) is harmless. The batch is
// run again: its fence waits until the lost attempt has ended, it deletes what is
// still there, and the rows that the lost attempt deleted were counted by it.
//
// # The plan
//
// What hangs below what is a [schema.Plan]. The parent's column needs an index
// (parent, id) in each table, which [schema.Verify] checks. A resource without
// children, without assets and without a quota of somebody who survives it is a
// leaf: it is deleted by its parent's id, without being read. A row that names an
// asset must not be deleted when its cascade is enqueued; it is hidden in the
// archive, for the worker learns the asset's name from it.
//
// # Statements
//
// BEGIN and COMMIT count as statements here.
//
//	Log         1
//	Enqueue     1; 2 when a job is open already      on a pool +2
//	Cancel      3; 2 when it is too late             on a pool +2
//	Retry       4; 2 when the job is not dead        on a pool +2
//	Find, Get                                        1
//	List                                             2
//	claim       1 when nothing is due, else 3, for up to Config.ClaimJobs jobs
//	fail, give back                                  1; 5 when the job dies
//
// A job takes, per pass (one pass unless rows move or appear meanwhile):
//
//	the root's row is looked for                     1
//	each non-leaf child table, per chunk of parents  1 and 1 more per full chunk of rows
//	each chunk of rows found that way                the batch below; its assets first, with
//	                                                 1 per 100 of them but the first
//	the last batch                                   6, +1 per leaf table, +2 where the root row
//	                                                 is still there, +1 with a quota
//
//	batch of a chunk:  BEGIN, fence, lock the rows, delete their leaf children (1 per leaf
//	                   table), look for others below (1, only where there can be any),
//	                   delete the rows, counts, COMMIT
//	batch of leaves:   BEGIN, fence, 1 per leaf table, counts, COMMIT; only where a chunk
//	                   has more than Config.Batch leaves
//
// None of these grows with the data; memory is one chunk of ids per level.
package cascade

// Package queue makes all writes to the tables of jobs, deletions and actions: whoever deletes a row logs
// the deletion and queues a job in the same transaction; an operator cancels, holds, pauses or retries the
// job; a worker (package cascade) claims it, renews its lease and ends it.
//
//	// in the transaction that removes or hides the row
//	d := queue.Deletion{Resource: "project", ResourceID: "42", From: "active", Grace: 15 * time.Second}
//	d.ID, err = queue.Log(ctx, tx, d)
//	job, err := queue.Enqueue(ctx, tx, d)
//
// Package repo does that for its resources.
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
// [PauseJob] takes an open job that is not held from the workers. It is paused until [ResumeJob], and then
// scheduled, or ready if it has begun; before it has begun it can be cancelled and held as a scheduled one.
//
// [HoldJob] holds a job that has begun, too, or is dead or has leftovers: repo.CancelJob then cancels it.
//
// A job whose rows come back from the trash, see recover.Rows, is held, too, from wherever it was. At the
// end it is restored, a final state as cancelled is; it may be restored again.
//
// Open jobs live in onerow_job, where the unique key one_open (resource, id) decides that a row has one;
// finished ones in onerow_job_archive. A job keeps its id, its counts (onerow_job_count, onerow_job_detached)
// and its token counter when it moves. Leftovers and dead jobs can be retried.
//
// Finished jobs are kept until [PurgeJobs] removes those that are done, cancelled or restored, and old
// enough, with their counts and skipped rows; dead ones and leftovers stay. Audits are kept until
// [PurgeDeletions], as long as their row has any job. cascade-worker does both, after 400 days. Once a row
// has no job left, the toolkit knows only that the row is gone: Find returns nothing, and the deletion cannot
// be undone.
//
// One column says when a worker may take a job, due_at: the end of the grace
// period, the next attempt, or the end of the running worker's lease; of a held job that
// is a thousand years away. All times are the database's clock.
//
// # Guarantees
//
//   - A row has at most one open job, however often and by whomever it is enqueued. A deletion during the
//     grace period of an earlier one takes the earlier of the two times.
//   - Cancel and the claim of a job exclude each other: one conditional update wins.
//   - Whoever has claimed a job writes under the token of that claim, see [Claimed]: it changes nothing any
//     more once the job was claimed by another, paused or held.
//   - A job never has the id of a finished one when it is worked, see [Deletion].After.
//   - What an actor does is noted in the transaction that does it, see [WithActor].
//   - All may be called again after any error, also after [onerow.ErrOutcomeUnknown]: it is done once, except
//     for what Log and EnqueueMany log.
//
// # Not guaranteed
//
//   - Order between jobs. Those that are due longest are claimed first, more or less.
//   - What becomes of the rows: the queue knows their keys, not their tables.
//
// # Statements
//
// BEGIN and COMMIT count as statements here: on a pool each verb that writes is a transaction of its own, 2
// more, except for Log without an actor. With an actor it sends 1 more if it changes anything. SkipParked and
// RetryParked send the first before their transaction, and more when the job moves meanwhile.
//
//	Log                 1
//	Enqueue             1; 2 when a job is open already
//	EnqueueMany         2 per 500
//	Cancel              3; 2 when it is too late
//	Hold                1
//	HoldJob             5; 8 where it has ended
//	Retry               4; 3 when it is neither dead nor has leftovers
//	PauseJob, ResumeJob 2
//	PutFirst            up to 5
//	SkipParked          4; 5 where the job has ended
//	RetryParked         4; 6 where the job has ended
//	Find, Get           1
//	List                2; 1 if there is none
//	PurgeJobs           9 per 200, 1 more where rows were skipped; 1 per 200 that stay
//	PurgeDeletions      2 per 200; 1 per 200 that stay
//	Due                 1
//	Take                5, and 1 more for as many jobs as it takes that others hold
//	Note, and the verbs of Claimed and Claim: see there
//
// Open this package when a job, a deletion or an action is written or read: nobody else writes their tables.
// Parked rows are written by the engine, too.
package queue

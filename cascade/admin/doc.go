// Package admin does what a person does about the queue and its workers: it pauses them, tells them how fast
// to go, shows figures, finds a job, reports what became of a deletion, and shows and empties the trash.
//
//	err := admin.Pause(ctx, db, "", "migration")        // all workers of the database
//	err = admin.Pause(ctx, db, "project", "…")          // the jobs of one resource
//	err = admin.Set(ctx, db, admin.Settings{Load: 0.2}) // how workers work that run already
//
//	stats, err := admin.ReadStats(ctx, db)
//	jobs, err := admin.Search(ctx, db, "project 42", 20)
//	report, err := admin.ReadReport(ctx, db, 0, jobs[0].ID)
//
// No worker needs any of it: workers read what is written here, each second. What changes a job lies in
// package queue, which alone writes jobs: PauseJob, Retry, RetryParked, SkipParked, PutFirst, PurgeJobs.
// recover.Rows brings rows back. The commands of package command and the buttons of package page are these.
//
// # Guarantees
//
//   - A verb may be called again after any error. What [Pause] and [Set] write is obeyed by
//     all workers of the database, by those too that are started later, until it is taken back.
//   - Pausing, resuming and expiring are noted in the transaction that does it if the context has an actor,
//     see [queue.WithActor].
//   - [PurgeTrash] removes only what has expired or come back. An asset goes before the last copy of its row;
//     a row whose asset cannot be deleted stays, with the reason.
//   - Reads lock nothing. [Search] reads a window of the newest entries and what indexes lead to, however
//     many there are; [ReadStats] counts each open job, each parked row and
//     what has ended in the last minute.
//
// # Not guaranteed
//
//   - That a worker stops at once: it does within a second and the rest of its batch.
//   - That a report is of one snapshot: it is several statements.
//   - That [Search] finds an old job by its owner or by who has acted, see there.
//
// # Statements
//
// BEGIN and COMMIT count as statements here.
//
//	Pause, Resume                                 1; 4 with an actor on a pool
//	Paused, PausedResources, ReadSettings, Workers, ReadStats   1
//	Set                                           up to 3
//	Search                                        2; 1 when nothing is found
//	ReadReport                                    7; 8 for a job's
//	ListTrash, TrashOf, ReadTrashSize             1
//	ExpireTrash                                   1; 4 with an actor on a pool
//	PurgeTrash                                    see there
//
// Open this package when an operator is to see or change something of all workers or of the queue as a whole.
package admin

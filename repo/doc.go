// Package repo holds the rows that an owner sees - projects, screens, comments - in an active and an archive
// table, as values of the caller's own struct. Each verb may be called twice, in parallel, late, or again
// after a crash at any statement; the tables end as if it had been called once. (Two calls of Create are one
// by their name, their request id or an id that the application made; a row without any of these is new each
// time.)
//
//	projects, err := repo.New[Project](plan, "project")
//	res, err := projects.Create(ctx, db, Project{UserID: 7, Name: "Email Campaign"}, repo.RequestID(id))
//
//	              Create                     Delete
//	                │            ┌─────────────────────────────► gone
//	                ▼            │   Delete with Grace             ▲
//	          ┌── active ────────┴──────────► hidden ──────────────┤ the grace period
//	Archive   │     ▲   ▲                       │  │               │ ends
//	          ▼     │   └─── CancelDelete ──────┘  │               │
//	      archived ─┘ Activate (perhaps renamed)   │               │
//	          ▲ │  └───────── Delete ──────────────┼───────────────┘
//	          │ └──────────── Delete with Grace ───┤
//	          └────────────── CancelDelete ────────┘
//
// # What is guaranteed
//
//   - A row is in exactly one of its two tables at every commit, and keeps its id, even the id 0, which
//     AUTO_INCREMENT would otherwise replace.
//   - Names of active rows are unique per owner, in every spelling that has the same name key. The unique
//     index decides, never a read before the write.
//   - A request id makes one row, until [PurgeRequests] deletes its record. A deploy may add fields to T,
//     reorder them or change their Go types: a retry stays one while the values are the same and new fields
//     are zero.
//   - An id that the application made also makes one row, without such a record. One that was deleted is
//     [ErrGone] as long as the audit of its deletion is kept (queue.PurgeDeletions); a row that went with the
//     row above it leaves no audit.
//   - [Of.Create] and its repeats answer with the row as [Of.Get] reads it.
//   - A row is of the tenant of the row above it, where both have the plan's tenant column.
//   - Updates of one row wait for each other; each that returns nil was applied once.
//   - A value that another row holds in a unique index of the application's own is [ErrConflict] after one
//     try, with the index, its columns and that row. The server's error text is never parsed.
//   - The deletion of a row, its audit entry, its cascade job and its quota mark commit together.
//   - No child is made below a row whose deletion has been committed, and none is archived or activated
//     below one: these verbs lock the parent's row first. Further parents ([schema.Resource].Parents) are
//     locked by Create and by an Update that changes the reference. The other verbs change no reference,
//     and a row that they move below one that is being deleted is deleted with it: a worker takes a row
//     only when one snapshot of all tables shows nothing below it.
//   - [Of.Move] takes everything below the row along. It never moves a row out of, or into, a tree whose
//     deletion has been committed or queued, however far up: no worker deletes what has moved away.
//   - A time is the same moment in sessions of every time zone, in a DATETIME (as UTC) and in a TIMESTAMP. A
//     TIMESTAMP column needs a field of a time type, and no list can be ordered by it.
//   - Each verb works on a pool, in a transaction of its own that is run again when the server refuses it,
//     and inside a caller's transaction, which it joins. There every verb except Get, Find and List acts on
//     what is committed now, however old the transaction's snapshot is. After an error that is not
//     [onerow.Retryable] nothing has been written, except a hold (see below): what was written is taken
//     back to a savepoint (see [onerow.Tx.Savepoint] for a MySQL replication group).
//   - With [Of.OwnedBy] a row of another owner is not found and not written, by the condition of each
//     statement.
//   - A row that does not change appears exactly once in the pages of a list, while others come and go;
//     each page is one snapshot. A list that no declared index serves is refused.
//   - An id that two rows have is [ErrIDReused] to every verb that moves or deletes, and to a Create with the
//     request id that made one of them; neither is touched.
//   - A deletion that was cancelled and whose row cannot come back is held, see [Of.CancelDelete].
//
// # Not guaranteed
//
//   - After a COMMIT without an answer all verbs except a Create with a request id or an id of the
//     application's return [onerow.ErrOutcomeUnknown]. Call again: a Create may then meet its own row as
//     [ErrNameTaken], an Update may apply its change twice.
//   - If its row was moved to another owner since, a repeat of the Create answers [ErrGone], or [ErrConflict]
//     where the application made the id.
//   - A row can be moved out of a running job that began at one of [schema.Plan].Tables, or by something else
//     than this package; the job may still delete what is below it.
//   - Where no row is seen to have what a unique index refused - an index on a prefix or an expression, that
//     of another table which a trigger writes to - the verb is tried three times and does not know the index.
//   - A field with a Scan or Value method of its own gets and gives what the driver's settings make of it;
//     only times that Value returns are made UTC.
//   - The audit of deletions logs intents: a delete called again after a COMMIT that failed logs twice.
//   - In a caller's transaction a Rename or Update that writes a column by which the quota is ordered is
//     not undone if its quota mark fails. The flag "over quota" follows later, see package quota; package
//     limit refuses.
//   - A row whose values for order or filter change between two pages may appear twice, or not at all.
//   - Where a collation takes several spellings for one id, all verbs find the row by any of them, and its
//     job and audit have the row's; of a row that is gone only that spelling is known.
//   - When the job of a deletion has been purged (queue.PurgeJobs), a Delete of its row is a success without
//     a job, and a CancelDelete is [onerow.ErrNotFound] instead of [ErrTooLate].
//   - On a cluster of several primaries row locks do not reach the other nodes. There the plan has to say
//     [schema.Plan].Cluster: whoever locks a parent writes its guard instead, so rows below one parent are
//     made one after the other, and from two nodes they collide and run again. In a caller's transaction on
//     Group Replication a verb that fails after that write poisons it, see [onerow.Tx.Savepoint].
//
// # Statements
//
// On a pool, BEGIN and COMMIT included; one more each for a child, for each further parent that a Create or
// an Update writes, for each limit that a verb takes from or gives to (see package limit for a refusal), and
// without a quota one less for each mark that is written. None of these grows with the data:
//
//	Create          4, 5 if the row is read back; 2 more with a request id;
//	                1 more where the application makes the ids; 6 where a unique index refuses it
//	Get, Find       1
//	List            1, by name too; 2 on MariaDB where its index has another name, unless it is just by the id
//	Rename          4; of an archived row 6, where the plan lets it be edited
//	Update          5; 4 more for each try that somebody else was faster; of an archived row 6
//	Archive         7, 5 where the row is archived already
//	Activate        7, 12 if the name is taken between two of them, 7 where another unique index refuses it
//	Move            7 to another owner, 12 if the name is taken there; 6 of an archived row, where the
//	                plan lets it be edited; 3 where it is already. Below another parent 2 more for each
//	                level above it (1 where both are below the same row), and 1 to ask for jobs; in a plan
//	                for a cluster 1 more for each row above that is not a root
//	Delete          7, of an archived row too; 8 of an active one with a grace period
//	CancelDelete    11; as a Delete, of a row that is gone 1 more with [Of.OwnedBy], 2 if its job is dead
//
// On a pool of pool.Open BEGIN travels with the first statement, what a verb writes with the look at the row
// that follows, and the quota's mark with COMMIT: Archive and Activate are 3 round trips. Create is one
// packet where nothing has to be looked at in between: no parent, no limit, nothing to read back, ids made by
// the database; then a request id costs one statement more, not two. If the name refuses it, one statement
// more says whose that is; else the statements above follow in another transaction and find out why.
//
// In a caller's transaction there is no BEGIN and no COMMIT, but a SAVEPOINT for Archive, Activate, Move,
// Delete, CancelDelete, and for Create with a request id or a quota; on MySQL one statement more before it on
// a pool that pool.Open did not make, see onerow.Tx.Savepoint.
//
// Open this package when a verb of the application's rows changes: each statement stands above what sends it.
package repo

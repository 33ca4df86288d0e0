// Package repo holds the rows that an owner sees - projects, screens, comments - in an active and an archive
// table, as values of the caller's own struct. Each verb may be called twice, in parallel, late, or again
// after a crash at any statement; the tables end as if it had been called once. Two calls of Create are one
// by their name, their request id or an id that the application made; without any of these each makes a row.
// For Update see below. Ids are integers that AUTO_INCREMENT gives ([New]), or what the application makes:
// UUIDs, ULIDs, text ([NewOf]). Owners are of any of these types, alone or below a tenant.
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
//   - A row is in exactly one of its two tables at every commit, and keeps its id.
//   - Names of active rows are unique per owner, in every spelling of one name key, by the unique index.
//   - A request id makes one row, until [PurgeRequests]. A deploy may add fields to T, reorder or retype
//     them: a retry is still a retry, if the values are the same and new fields are zero.
//   - An id that the application made makes one row, without such a record: a repeat is answered with the row
//     that has the id, whatever the repeat says of it but its owner. A deleted id is [ErrGone] as long as its
//     audit is kept (queue.PurgeDeletions); a row that went with the row above it leaves no audit.
//   - Create and its repeats answer with the row as [Of.Get] reads it. It is read back after the INSERT if T
//     has fields that the database fills in, or a column may store something else than was sent: DECIMAL,
//     FLOAT, JSON, ENUM, a DATETIME of fewer digits, a CHAR that is not filled, a value that does not fit, a
//     field with methods of its own. Integers, bool, DOUBLE, DATETIME(6), texts and bytes that fit are not.
//   - A row is of the tenant of the row above it, where both have the plan's tenant column.
//   - Updates of one row wait for each other; each that returns nil was applied once.
//   - What another row has in a unique index of the application's own is [ErrConflict] after one try, with
//     the index, its columns and that row; the text of the error is never read.
//   - The deletion of a row, its audit, its cascade job and its quota mark commit together.
//   - No child is made, archived or activated below a row whose deletion has been committed: these verbs lock
//     the parent's row first. Of further parents ([schema.Resource].Parents) Create does, and an Update that
//     changes the reference; the others change none, and what is below a row that goes, goes with it.
//   - A time is the same moment in sessions of every time zone, in a DATETIME (as UTC) and in a TIMESTAMP,
//     which needs a field of a time type and orders no list.
//   - Each verb works on a pool, in a transaction of its own that is run again when the server refuses it,
//     and joins a caller's. There it answers by what is committed now, however old the snapshot is. An error
//     that is not [onerow.Retryable] has written nothing, a hold apart: it is taken back to a savepoint
//     ([onerow.ErrNotUndone] in a MySQL replication group, see [onerow.Tx.Savepoint]). Get, Find and List
//     read as the caller's transaction does.
//   - With [Of.OwnedBy] a row of another owner is not found and not written, by each statement's condition.
//   - A row that stays as it is comes exactly once in the pages of a list, though others come and go; a page
//     is of one moment. A list that no declared index serves is refused.
//   - A row that [Of.Move] takes to another owner or parent takes all below it along; it leaves no deletion
//     that was committed or queued, however far above, and comes below none.
//   - An id that two rows have, because AUTO_INCREMENT fell back, is [ErrIDReused] to every verb that moves
//     or deletes, and to a Create with the request id that made one of them; neither row is touched.
//   - A deletion that was cancelled and whose row cannot come back for good is held, see [Of.CancelDelete].
//
// # What is not
//
//   - After a COMMIT without an answer all verbs but a Create with a request id or an id of the application's
//     return [onerow.ErrOutcomeUnknown]. Call again: a Create may then meet its own row as [ErrNameTaken], an
//     Update may apply its change twice.
//   - If its row was moved to another owner since, a repeat of the Create answers [ErrGone], or [ErrConflict]
//     where the application made the id.
//   - A row that moves, or whose parent's column others write, leaves a running job that began at one of
//     [schema.Plan].Tables, but what is below it may still be deleted.
//   - Where no row is seen to have what a unique index refused (a prefix, an expression, a trigger's table)
//     the verb is tried three times and does not know the index.
//   - A Create that does not read its row back does not see what a trigger made of a value. With a field for
//     the version it is read back. A field with a Scan or Value method gets and gives what the driver's
//     settings make of it; only times that Value returns are made UTC.
//   - A delete that is called again after an unanswered COMMIT that failed is logged twice.
//   - Rename and Update where the quota is ordered by what they write are not taken back in a caller's
//     transaction when their mark fails. The flag "over quota" follows later, see package quota; package
//     limit refuses.
//   - A row whose values change between two pages of a list by them may come twice, or not.
//   - Where a collation takes several spellings for one id, verbs find the row by any; its job and audit have
//     the row's.
//   - Once its job is purged (queue.PurgeJobs), a Delete of a row that is gone succeeds without a job, a
//     CancelDelete is [onerow.ErrNotFound].
//   - On a cluster of several primaries the plan has to say [schema.Plan].Cluster: who locks a parent writes
//     its guard, so rows below one parent are made one after the other. In a caller's transaction on Group
//     Replication a verb that fails behind that write poisons it.
//
// # Statements
//
// On a pool, BEGIN and COMMIT included; one more each for a child (its parent is locked), for each further
// parent that a Create or an Update writes, and without a quota one less for each mark. None grows with the
// data.
//
//	Create          4, 5 if the row is read back; 2 more with a request id; 1 more where the application
//	                makes the ids; 6 where a unique index refuses it
//	Get, Find       1
//	List            1, by name too; 2 on MariaDB where its index has another name, unless it is just by the id
//	Rename          4; of an archived row 6, where the plan lets it be edited
//	Update          5; 4 more for each try that somebody else was faster; of an archived row 6
//	Archive         7, 5 where the row is archived already
//	Activate        7, 12 if the name is taken between two of them, 7 where another unique index refuses it
//	Move            7 to another owner, 12 if the name is taken there; 6 of an archived row, 3 where it is
//	                already. Below another parent 2 more for each level above it (1 where both are below the
//	                same row), and 1 to ask for jobs; with Cluster 1 more for each row above that is not a root
//	Delete          7; 8 of an active row with a grace period
//	CancelDelete    11
//
// One more for each limit that a verb takes from or gives to, and the statements of a refusal, see package
// limit. With an owner ([Of.OwnedBy]) one more for a Delete or CancelDelete of a row that is gone, two if its
// job is dead.
//
// On a pool of pool.Open BEGIN travels with the first statement, what a verb writes with the look that
// follows, the quota's mark with COMMIT: Archive and Activate are 3 round trips. Create is one packet without
// parent, limit, reading back and ids of the application's; then a request id costs one statement more, not
// two. If the name refuses it, one more says whose that is; else another transaction finds out why.
//
// In a caller's transaction there is no BEGIN and no COMMIT, but a SAVEPOINT for Archive, Activate, Move,
// Delete, CancelDelete, and for Create with a request id or a quota; on MySQL one statement more before it on
// a pool that pool.Open did not make.
//
// Open this package when a verb of the application's rows changes: each statement stands above what sends it.
package repo

// Package adopt makes a resource of a table that has rows, defaults, foreign keys and other writers:
//
//	a, err := adopt.Prepare(ctx, db, plan, "ticket")   // what is missing, step by step; changes nothing
//	files := adopt.Files(a, 7)                         // 00007_adopt_ticket_add_title_key.sql, …, for goose
//	report, err := adopt.Backfill(ctx, db, plan, "ticket", adopt.Options{})
//	                                                   // keys of names, computed in Go, when the files before it have run
//	                                                   // then the other files
//
//	expand                           backfill                           contract
//	columns that may be NULL,   ──►  keys, in batches by the       ──►  foreign keys, times, NOT NULL,
//	the archive, the indexes         primary key, while others write    which refuses rows without keys
//
// # What is guaranteed
//
//   - The files run no step twice, fail without having changed anything, and lead back: each has one
//     statement of DDL, behind a condition on the catalog.
//   - No row is lost, no time moves, and types, defaults, collations and comments of the application's
//     columns stay, except for times that the plan needs as DATETIME(6): a TIMESTAMP keeps its moment.
//   - A row's key is written only where its name is, byte by byte, the one of which the key was computed: a
//     rename of somebody else's is never overwritten, and is seen by the next pass.
//   - The unique index decides who has a name. The row with the lower id keeps it; another one is left
//     without a key and listed, or renamed to "Name (Copy 1)" where [Options] says so.
//   - What was done is seen in the rows: Backfill may be killed at any statement and begun again, beside
//     itself too.
//   - A name that cannot have a key is listed, and ends nothing.
//
// # Not guaranteed
//
//   - A writer that changes a name and not its key leaves the old key behind, with which the row goes on to
//     hold the old name. Backfill finds it by comparing; the last file cannot, for keys are made in Go. So
//     that writer stops, or sets the key to NULL with the name, before the last Backfill.
//   - That a time that nobody knows is true: where created_at or updated_at was NULL, Backfill writes its own
//     time.
//
// # Statements
//
//	Prepare   those of live.Verify, and 1 for each of the two tables
//	Backfill  those of Prepare, and its pages: once to write, once to see that nothing is behind, once more
//	          while others write
//	a page    1 for each 500 rows, by the primary key; 1 for each 100 rows that are behind; 1 for each column of
//	          times in which a row of the page is NULL. Where a name is taken, 1 for each of those 100 rows and
//	          up to 5 for one whose name is taken; with copies 2 more for each name that is tried.
//
// Open this package when a table with rows is to become a resource in another way.
package adopt

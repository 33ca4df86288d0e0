// Package featurefuzz meets, with deletions, a trash, restores and verbs, what schemas of others have and the
// toolkit's own tests have little of:
//
//	go run -C proof ./soak features -minutes 2 -seed 7
//
// Each round draws a small tree of tables with some of these, fills it, and drops it at the end:
//
//	triggers     that write a log, count, touch or delete rows beside, refuse; accepted or not
//	texts        keys, references and values in any character set and collation that the server has
//	constraints  CHECK, also one that rows break, unique keys with NULLs, foreign keys that cascade or set NULL
//	columns      generated ones over keys, as references and in keys, 300 of them, rows as wide as can be
//	names        of 64 characters, quotes, keywords and spaces in them
//	storage      ROW_FORMAT=COMPRESSED and others, partitions, 1,500 other tables in the schema, versioned tables
//	values       JSON, FLOAT, DOUBLE, BIT, GEOMETRY, BLOB, ENUM, SET, TIMESTAMP and others, at their ends
//	views        on each table, and one that the plan takes for a table
//
// Some rounds have a resource at the top, which verbs archive, activate, rename, update, hide and take back.
// A worker deletes some of the roots, on a pool of a drawn sql_mode, time zone and character set, and a
// restore brings them back; the sessions of both are killed now and then.
//
// # What is judged
//
//   - What was deleted is gone, what was cut refers to nothing; what a trigger has refused to delete stays,
//     and all above it. Every other row of every table, view, log and count is as it was, by the bytes of
//     each column.
//   - After the restore everything is as it was before the deletion, but for the columns that an accepted
//     trigger writes. Rows that a trigger or a CHECK refuses stay in the trash, with all below them, and are
//     told; when it refuses no longer, the next restore brings them back.
//   - A trigger that is accepted has run once for each row that went or came back, whatever was killed.
//   - What the toolkit refuses it refuses by an error of plan, trash tables or Verify that it names, and
//     nothing has changed; what must be refused is. A statement of its own that the server refuses is a
//     finding.
//   - At the end no session, transaction or goroutine is left.
//
// The report counts the rounds of each feature, those that worked, and the refusals with their errors. A run
// in which some feature has not worked once, or what must be refused was not met, fails: it has shown nothing
// of it.
//
// # What it cannot show
//
//   - Features that hide each other: some exclude others (partitions have no foreign keys), and a round has
//     few.
//   - Large tables, other writers while rows go and come back: see brokenfuzz and restorefuzz.
//
// Open this package when a feature of a schema is to be met by deletions.
package featurefuzz

// Package adoptfuzz makes a resource of a table that others write, alter and kill servers of, again and
// again:
//
//	go run -C proof ./soak adopt -minutes 10 -seed 7 -engine mariadb
//
// Each round has a database of its own, a table that somebody else has designed, with foreign keys in and out
// and names that collide or can have no key, and one of three versions of the plan that it is to have in the
// end. An operator runs cascade-worker adopt, goose's files and the backfill, as docs/ADOPTING.md says:
//
//	files before ─► backfill, in trouble ─► backfill ─► other files ─► verify ─► deletions
//	   └─── writers that know nothing ───┘    └─ writers that know ─┘              └─ programs of two plans
//
// Drawn are, from the seed: inserts, renames, changes and deletions of rows, the old way, in another time
// zone; backfills with and without --copies, one or two at once, also with another version of the plan, one
// that declares one more column or takes names for those of files; SIGKILL for these commands and for the
// server; KILL and KILL QUERY for sessions; connections that end within a statement, an answer, or at a
// COMMIT; and what somebody else does to the table meanwhile: columns, indexes and triggers that no plan has,
// the other plan's column, with and without the archive, types, collations and ids that change, the table or
// the name's column under another name for a moment, an index, a column or the archive of the adoption that
// is dropped, keys that are wrong or gone.
//
// # What is judged
//
// Each writer knows what it was told, and so what each row may be. In the end:
//
//   - Each row is there once, with its id, owner and values; its name is the one that its writer has last
//     given it, or a copy of that where a backfill was told to make them, which the version shows.
//   - Keys are those of the names in the last plan, and no two of an owner are the same.
//   - created_at and updated_at are the moments that they were, and nobody's backfill has moved one.
//   - What is below a row is what was there.
//   - A writer that knows nothing is refused nothing but what the alterations explain; one that knows only
//     waits for locks.
//   - A command ends with 0 or 1, and with no error of the server that wrong statements or lost races give.
//     When no more trouble comes, the backfill ends, the files run, verify finds nothing, and one more
//     backfill has nothing to write.
//   - Of the rows that programs of two plans delete then, with workers of both, none is left, nor a note
//     below one; a watch has lost its reference; each job has counted just that; all else is as it was. A new
//     row gets an id that no other had.
//
// # What it cannot show
//
//   - That a row which a writer renamed twice at once is right: each row has one writer.
//   - What a program of an older plan does to a column that it does not know, when it archives: it only
//     deletes.
//   - A lost unique index one_name, or a lost version, for nothing that adopt promises mends what was done
//     meanwhile.
//   - The same run again: the seed decides what is drawn, the machine decides when.
//
// Open this package when the adoption of a table gets another step, or a round finds something.
package adoptfuzz

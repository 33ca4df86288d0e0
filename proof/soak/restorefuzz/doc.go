// Package restorefuzz deletes one row of a random schema with a trash, has others change what they may
// change, brings back what the trash has, and holds every row of every table against what was there before:
//
//	go run -C proof ./soak restores -seeds 1000 -first 1
//
// The schemas, their rows and the references between these, as pointers, are those of package schematest:
// keys of all types, people's own among them, edges with and without foreign keys, that delete, detach and
// mark, loops, archives, references to one of several tables. A seed decides everything, so that one that
// fails is repeated alone.
//
// Drawn are, between the deletion and the restore: strangers' rows that take a key, or another unique value,
// of a row that was deleted, also whole branches of them; steps of the trash that expire, are purged, lose
// rows or all of them; tables that the plan does not keep, or does not keep any more; rows above that
// somebody deletes; references that somebody sets anew; columns that are dropped, added and widened. Some
// deletions are stopped in the middle, and so are some restores, with a purge before the next call. At the
// end the strangers go and it is restored once more.
//
// # What is judged
//
// A row is told from others by a number of its own, whatever its key is.
//
//   - A row that is back is the one that was deleted, byte for byte, in its table, as far as there are still
//     the columns; references that were cut may still be.
//   - A reference that is back leads to the row to which it led, never to a stranger's, nor to nothing.
//   - Whatever is not of the deletion is as it was before the restore.
//   - A row is back whose copy is there, whose key and values are free and whose rows above are back or were
//     never deleted; but for those of a table of which copies are lost, for nobody knows any more which keys
//     these had.
//   - What the job has deleted of a table is what is back and what is told as missing, with a reason; rows
//     whose time is over are told as such; the report counts what is back; the job is restored; the root is
//     told as missing if it is. References are counted where all copies are there: of rows that lose one and
//     go later the job counts none.
//   - The dry run told the number that was tried, and nothing as missing that came back; what has expired it
//     told.
package restorefuzz

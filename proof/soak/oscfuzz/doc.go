// Package oscfuzz alters tables online while the cascade deletes, the trash gives back and a backfill fills:
//
//	go run -C proof ./soak osc -minutes 2 -engine mariadb
//
// Clients make small trees (projects, tickets, notes, links that stay), change texts, archive and activate,
// delete and bring back; half of the tickets are written as the programs of before do, without a key, and the
// backfill fills these. Two workers delete in batches of five rows. Meanwhile one family of tables after the
// other, that is a table, its archive and their trash tables, gets a column, loses one or is rebuilt:
//
//	pt         by pt-online-schema-change itself; some are killed in the middle, what they leave stays for
//	           up to 14 seconds, longer than a worker believes the catalog, and is then cleaned up
//	triggers   by a script: triggers and chunks fill the copy, the cut-over is that of gh-ost
//	copy       by a script: chunks, and what has changed since is copied under the lock of the cut-over, where
//	           gh-ost reads the binary log
//
// A cut-over is two sessions: a table that is in the way, LOCK TABLES … WRITE, a RENAME that waits, UNLOCK.
// In some the session of the locks dies before or after the RENAME waits, the RENAME is ended, or the lock
// lasts longer than the others wait for it; then it is tried again. A third of the changes are made as
// docs/OPERATIONS.md says, with a pause and a restart of the workers; the others without the pause.
//
// # What is judged
//
//   - A client is told of nothing but what the server refused. A restore may fail while a table is altered,
//     for it does not go by triggers that nobody has accepted; called again afterwards it succeeds. It never
//     tells that there is no such job.
//   - A tree that is back is read at once: each row is there once, in its table, with the last text.
//   - At the end, drained: no row is lost or there twice, what was deleted is gone, with the counts that are
//     its, and links to it are cut. Then all comes back (a part of it, if there are many), and all tables
//     are read again.
//   - A job dies of drift alone, where triggers came or went while it was at work. It is retried, as an
//     operator does, and ends.
//   - While triggers are left on a table of the plan, verify says so. After the change it is clean; at the
//     end the keys are made NOT NULL, and it is clean without exception.
//   - All keys are filled, each with that of its title. New columns have their default everywhere.
//
// # What it cannot show
//
//   - gh-ost itself: it reads the binary log of a server of its own kind, which the private one has not.
//   - A tool that sets AUTO_INCREMENT back, which verify names: these keep it.
//   - Tables with foreign keys, which gh-ost refuses and pt-online-schema-change moves by an option.
//   - Changes to keys, references and assets: jobs that have begun die then, as docs/OPERATIONS.md says.
//
// Open this package when a way of altering tables online, or what is asked of it, changes.
package oscfuzz

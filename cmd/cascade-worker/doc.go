// Command cascade-worker deletes what hangs below deleted rows, as package cascade
// does, for an application in any language: the plan comes from a YAML file.
//
//	export ONEROW_DSN='app:password@tcp(db.example:3306)/shop' ONEROW_PLAN=plan.yaml
//	cascade-worker migrate up           # the toolkit's tables
//	cascade-worker discover --root shop # a plan from the foreign keys of existing tables
//	cascade-worker verify               # does the database have what the plan relies on?
//	cascade-worker plan project 42      # what would go with project 42?
//	cascade-worker run --http :9090     # the daemon, with metrics and a page for the operator
//	cascade-worker enqueue project 42   # delete project 42 and everything below it
//	cascade-worker jobs
//
// docs/OPERATIONS.md says how to run it, question by question, and the least rights of each command.
//
// # What is promised
//
//   - SIGTERM or SIGINT: run ends its batch, gives its lease back and exits with 0
//     within two seconds. SIGKILL at any time loses nothing: another worker goes on
//     where the last batch was committed, and the counts stay exact. Any number of
//     workers may run at once.
//   - Wrong input gets one line on stderr and the exit code 2, a failure one line and
//     the exit code 1. Only verify, adopt, serials gaps and orphans --check print more: a line per
//     difference or finding, on stdout.
//   - The password of the DSN is never printed, neither in errors nor in logs, not
//     even when the DSN cannot be parsed or was typed in the wrong place.
//   - run and drain refuse to start on a database that lacks what the plan relies on.
//   - Results go to stdout; logs, progress and errors to stderr.
//
// # Not guaranteed
//
//   - That the command line hides the DSN from other users of the machine: ps shows
//     it. ONEROW_DSN does not have that weakness.
//   - That a first migration and a running worker of an older version go together.
//   - Assets in other places than folders: only file:// is linked in. A program of a
//     few lines around command.Main serves any other bucket.
//
// # The DSN
//
// In the form of go-sql-driver, user:password@tcp(host:3306)/database?param=value, where a password stands as
// it is. A URL is refused. Sessions run at READ COMMITTED unless the DSN
// sets transaction_isolation or tx_isolation. What would do harm is refused: READ
// UNCOMMITTED, autocommit=0, and interpolateParams=true with a character set such as gbk.
//
// # Statements
//
// Each command but ddl sends 1 statement per connection, to set it up
// and, except for verify, 1 or 2 to see which of the toolkit's tables are there. After that:
//
//	run, drain     live.Verify once, then what package cascade documents; drain 2 more
//	               statements, at its begin and its end, and 4 where jobs are left
//	run --http     a few per second while somebody looks at the page or asks for metrics
//	discover       discover.Plan
//	adopt          adopt.Prepare; --backfill what package adopt documents
//	verify         live.Verify and live.VerifyPrivileges
//	plan, orphans  what package cascade documents; plan needs no tables of the toolkit
//	enqueue        the catalog, 1 to look for the row, 2 to log and queue (1 more when a job
//	               is open); --where and --query: 1 to read the rows, and per 500 of them
//	               1 to look for them (not for --where of a table; 1 more for each that the
//	               row spells otherwise) and 2 to log and queue
//	cancel         5 to hold the job, 8 if it has ended; what undo sends; 1
//	undo           repo.Restore: 1, what CancelDelete documents, 1; then 1 of the job, 1 of the trash
//	               where the job had begun, and of a table's row the catalog and 1 to look for it
//	jobs           1 per 1000 jobs
//	retry          4; parked retry and skip up to 6; pause, resume 1 or 2;
//	               workers 4; set up to 3
//	purge          per 200 rows what the packages document that own the tables
//	keys           list 1 per 1000 keys and kind; show 2; release, complete, expire 4
//	serials        list 1 per 1000 series; gaps 1, and 1 more when nothing is found
//	migrate        what package migrations documents; status nothing more
//
// Open this package when the binary is to bring something of its own, as a kind of store of assets.
package main

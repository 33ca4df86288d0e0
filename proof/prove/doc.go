// Prove tells an operator which promises of onerow hold on a server of his own: a cloud's, a cluster's, one
// with settings that nobody remembers.
//
//	onerow-prove -dsn 'user:password@tcp(db.example:3306)/'
//	onerow-prove -grants -dsn …     the GRANT statements that it needs, and nothing else
//	onerow-prove -list              what is tried, and which row of docs/GUARANTEES.md it is of
//
// It is a binary of each release, and in a clone go run -C proof ./prove.
//
// It tries promises by what the server does. A setting alone convicts nobody: pool.Check says what it thinks
// of the settings, and the other checks hold it to account.
//
//	            ┌─ plain sessions: database/sql and the driver, set up by the DSN and the server alone
//	a database ─┤
//	of its own  └─ pool.Open: what the toolkit itself relies on
//
// Each check is of one row of docs/GUARANTEES.md, in its words, and says which sessions it was tried with. A
// promise that falls with plain sessions and holds with pool.Open has its cure in its name. Facts are no
// promises: what a server does that code by hand has to know.
//
// # What it leaves behind
//
// It makes a database onerow_prove_ with eight random digits and a table in it that says so, and works
// nowhere else. At the end, also after SIGINT or SIGTERM, it drops the database, if that table is still
// there. After a SIGKILL the database stays. The next run names it and says when it was begun, and whether a
// run is still at work in it; -drop NAME drops it. One without the mark is named too, and is never dropped.
//
// # Exit codes
//
//	0  all that was tried holds
//	1  some promise does not hold
//	2  it could not run, or a check could not be tried that should have been
//
// go run adds a line of its own and always exits with 1; go build -C proof -o prove ./prove makes a program.
//
// # What it cannot show
//
//   - That a promise holds: it tries for a minute, or ten. A stale read that happens once an hour is not met.
//   - What a crash of the machine takes, a failover, or a replica that is promoted.
//   - Anything of a proxy's that depends on the load, or on which node it leads to.
//   - Whether others who share the server do what the toolkit forbids.
//
// Open this package when a server is to be judged in another way.
package main

// Soak lets the toolkit work under chaos for some minutes and then holds the tables against what its users
// were told.
//
//	go run -C proof ./soak -minutes 10 -engine mariadb
//	go run -C proof ./soak cluster -kind galera    the same on several servers; or group, semisync, async
//	go run -C proof ./soak size | kill | trash     what hangs below one root, in millions: see package tree
//	go run -C proof ./soak transactions            random transactions under kills and cuts: see package txfuzz
//	go run -C proof ./soak limits                  every verb below limits, under kills and cuts: see limitfuzz
//	go run -C proof ./soak pool                    a thousand callers share three connections: see poolfuzz
//	go run -C proof ./soak edges                   where number types end: see edgefuzz
//	go run -C proof ./soak broken                  verbs, worker and restores on a server that is not well: see brokenfuzz
//	go run -C proof ./soak restores                random trees deleted and brought back: see restorefuzz
//	go run -C proof ./soak web                     the examples and the operator's page, attacked: see webfuzz
//	go run -C proof ./soak retention               rows get old while the clock changes: see retentionfuzz
//	go run -C proof ./soak features                what schemas of others have, deleted and brought back: see featurefuzz
//	go run -C proof ./soak osc                     tables are altered online beside deletions and restores: see oscfuzz
//	go run -C proof ./soak adopt                   a table is adopted under kills and ALTERs: see adoptfuzz
//
// It starts a private server with durable settings, and processes of its own program: two of web clients, two
// of workers (the cascade and the quota's sweep), each behind a proxy of its own. The clients create, rename,
// update, archive, activate and delete projects under names that collide, with and without a grace period,
// take deletions back, hang screens and comments below projects while these die, delete folders and bring
// them back from the trash, change limits, use idempotency keys in one commit and in two steps with leases,
// claim serial numbers in business transactions and deliver messages twice and out of order. One web process
// works at READ COMMITTED, the other at REPEATABLE READ.
//
// Meanwhile, drawn from the seed:
//
//   - processes of clients and of workers get SIGKILL and are replaced
//   - the server gets SIGKILL and starts again on its data
//   - connections are cut, closed to new ones, delayed, held, reset, sliced, and ended within
//     an answer, in each direction, and ended at a COMMIT, before or after it (toxiproxy)
//
// Each client journals what it is about to do, and what it was told, see package journal. The last acts are a
// SIGKILL for each worker and for the server. Then the queue is drained, claims whose lease has ended are
// taken over, marks are settled, and package check reads every table:
//
//	                 killed, cut, delayed                   drained
//	clients ─► proxies ─► server ◄─ proxies ◄─ workers        │
//	   │                    │                                 ▼
//	journals ───────────► tables ─────────────────────────► check ─► a table of zeros, or a list and exit code 1
//
// # Several servers
//
// The load of cluster is the same, with a pool of pool.Open that knows all servers in each of six
// processes, and so is the check; then the tables of all servers must have the same checksums. What happens
// to servers, one at a time, in turn, each undone before the next:
//
//	            kill                              pause               cut
//	galera      SIGKILL, joins again              SIGSTOP, SIGCONT    gmcast.isolate=1, 0
//	group       SIGKILL, joins again              SIGSTOP, SIGCONT    stopped until it is expelled, joins again
//	semisync    the primary: the replica that     SIGSTOP, SIGCONT    the replicas do not reach the primary; half
//	            has most is promoted; or a replica                     of the time it is killed meanwhile
//
// A semi-synchronous primary is also handed over (hand): it becomes read only in the midst of what it does, a
// replica that has all of it is promoted, and the old primary goes on as a replica.
//
// A node that is killed takes nothing with it that others do not have, so that answers which tell of
// another's work count as given. async is a control: what it prints was acknowledged, and lost.
//
// The exit codes are 0: nothing is broken; 1: something is, and it is listed; 2: the soak itself failed.
// After 1 and 2 the last line says why, and how to repeat it (go run adds a line of its own and always exits
// with 1). SIGINT ends the chaos early, and the check is still made; a second one ends everything.
//
// # What it cannot show
//
//   - A crash of the machine or of its disk: the processes die, what they wrote to the kernel does not.
//   - That nothing is broken: it draws, and most of what it draws is harmless. The interleavings of a
//     workflow are enumerated by package crashtest; the soak finds what nobody thought of enumerating.
//   - The same run again: the seed decides what is drawn, the machine decides when. A finding is kept as
//     data: the folder with the server's data and the journals is left when something is broken.
//   - An answer that tells of another's work (a replay) and was given within a second of the server's death:
//     InnoDB shows a commit before its log is on the disk unless a binary log is, and the private server has
//     none. Of 15 kills 10 or 11 took a row that a reader had seen; none took what its writer had been told.
//     Such answers count as unknown.
//   - Two servers that are lost at once, and links between members of Group Replication that fail while the
//     members run: they listen where they are called, so nothing can be put between them.
//   - The last state of a row on which calls overlapped, as far as several were right; see package check.
//   - What is not under load: flows, messages that are held, assets, operators' verbs.
package main

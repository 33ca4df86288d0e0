// Package migrations holds the toolkit's own tables, onerow_*, as numbered goose
// migrations, embedded. They are applied
//
//   - from Go: [Up], or [New] for everything that goose can do (an application's: [Apply], [New]),
//   - by the worker's command line: cascade-worker migrate up,
//   - by the plain goose tool, from the folder ddl:
//     goose -dir migrations/ddl -table onerow_goose_version mysql "user:password@tcp(host:3306)/database" up
//     (without an installation: go run github.com/pressly/goose/v3/cmd/goose@v3.28.0 …)
//
// The three may be mixed. What was applied is remembered in a table of its own,
// [TableName], so an application's goose migrations, in goose_db_version, live
// beside them and number as they like. [New] applies those with the same promises.
//
// # What is promised
//
// DDL commits by itself on both engines: there is no transaction around a migration, so one that is cut off
// leaves some of its tables and no version row. Therefore every statement may run twice (IF NOT EXISTS, IF
// EXISTS, a unique key on the version), and calling [Up] again completes what is missing:
//
//	no tables ─▶ version table ─▶ version 0 ─▶ tables of n ─▶ version n ─▶ … ─▶ all applied
//	   ▲              cut off anywhere: the next Up goes on                         │
//	   └─────────────────────────────── Down ───────────────────────────────────────┘
//
// In words:
//
//   - Up and Down may be called twice, and Up from any number of processes at
//     once, on any nodes of a cluster. GET_LOCK, taken on the session that runs
//     the statements, makes them take turns. It only saves work: without it (a
//     Galera node refuses GET_LOCK, and it does not reach other nodes) the result
//     is the same; whom the cluster refuses runs again (1213, 3101).
//   - Neither parseTime nor multiStatements is needed. One connection of the pool is
//     used at a time.
//   - [Status] only reads.
//
// Not promised, on Group Replication: a migration of an application's that alters
// a table, from two members at once. Each would send its ALTER to the others, and
// there the second one fails, which takes the member out of its group.
//
// Not promised: Down beside a running application or beside Up; and a Down after
// an Up that was cut off removes only what is recorded as applied (call Up first).
//
// Up sends 3 statements when there is nothing to do. It needs the rights SELECT, INSERT and CREATE on the
// database, Down SELECT, DELETE and DROP.
//
// Open this package when migrations are applied or checked in another way.
package migrations

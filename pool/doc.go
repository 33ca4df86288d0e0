// Package pool opens a database so that what onerow promises of a transaction holds for every transaction of
// its pool, the caller's own too, of whatever query layer.
//
//	db, err := pool.Open("app:secret@tcp(db1:3306,db2:3306)/app")
//	…
//	err = pool.Check(ctx, db)
//
// [Open] takes a data source name and [NewConnector] a configuration that was made in Go; [Guard] is for a
// connector of one's own, which is guarded and not set up. [Check] asks any pool, and the server behind it,
// for the settings with which a promise cannot hold.
//
// Guaranteed: each session has the settings that Open names; once a transaction is lost, nothing more is
// written before it is rolled back; a session that may still have a transaction open never returns to the
// pool. With several hosts a new session leads to the first that takes writes and is with the majority of its
// cluster.
//
// Not guaranteed: that a host answers ([ErrNoHost] if none does), nor anything for statements that are sent
// past database/sql. It moves no session home to a host that is back: SetConnMaxLifetime does.
//
// Statements: one for each new connection, two where a server does not understand the first; one more with
// several hosts; and those that Guard names.
//
// Open this package when a program opens its database: DSN, connector, settings.
package pool

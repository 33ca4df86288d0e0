// Command projects is the example application: users with plans, their projects,
// the screens of a project with files, comments on screens. It shows the whole way
// through the toolkit on a real server.
//
//	projects [-addr 127.0.0.1:8080] [-dsn DSN] [-data .data]
//
// make demo starts it on a server of its own. Without -dsn it uses the database in ONEROW_DSN. When
// it serves requests it prints "listening on http://…" on standard output; everything else goes to standard
// error. SIGTERM and Ctrl-C stop it cleanly, a second Ctrl-C at once.
//
// It has no accounts with passwords: anybody who reaches its address may do everything.
// It is an example, and listens on the loopback interface.
package main

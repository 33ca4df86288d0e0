// Package command is the command line of the cascade, for a main of your own: with the plan in Go, which the
// application has anyway, and with the place of your assets.
//
//	func main() { os.Exit(command.Main(&shop.Plan, command.Options{OpenAssets: openBucket})) }
//
// cmd/cascade-worker is such a main, without a plan: its users name a file. The commands, their flags, exit
// codes and JSON are the same in both, and documented there.
//
// # What is promised
//
//   - [Main] does what cmd/cascade-worker promises: it ends cleanly on SIGTERM and SIGINT, exits with 2 for
//     wrong input and with 1 for a failure, each with one line on standard error, and never prints a
//     password.
//   - With a plan of the program's own no file is read, and --plan is refused. discover --plan still extends
//     a file.
//
// # Not guaranteed
//
//   - That the program may do something else beside it: Main takes the process's arguments, streams and
//     signals.
//   - That help and errors know the program by another name: to them it is cascade-worker.
//
// # Rooms
//
// cli.go lists the commands and where each is; help.txt is what they say with --help. All of them get what
// internal/shell has: the database and the plan (connect.go), the job that is named, who acts, and why
// nothing was done (job.go), and how to print (print.go). None but run and drain knows another room.
//
// # Statements
//
// Those that cmd/cascade-worker documents.
//
// Open this package when a user wants the command line in a program of his own, or the text of --help changes
// (help.txt).
package command

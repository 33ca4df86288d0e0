// Reports lets the library meet twenty faults that others have reported in public of other tools for the same
// jobs:
//
//	go run -C proof ./reports                     all of them, on the server that is found
//	go run -C proof ./reports -engine mysql       on MySQL; or mariadb
//	go run -C proof ./reports -only zones,names   those whose names contain one of these
//	go run -C proof ./reports -list               names, addresses and what was met there; no server
//
// Each report is one function. It sets the scene of the report with real statements on a fresh database of a
// private server, calls the library where the other tool was called, and asks the tables:
//
//	report ─► fresh database ─► the same calls, with the library ─► tables ─┬─ nil ──► holds
//	              │                                                         └─ error ► FALLS, exit code 1
//	              └─ by hand, where that is cheap: the server shows the fault
//
// Where a line ends with "by hand", the fault was first tried on this server without the library, so that the
// scene is known to be one. A report can hold in a part only; then its line says "but", and what does not.
//
// The exit codes are 0: all hold; 1: one falls, or the run itself failed (go run adds a line of its own).
//
// # What it cannot show
//
//   - That the library is free of what was reported: a scene is one way to the fault, not each way.
//   - What the other tools do today. Nothing of them is run, and many of the reports are mended there.
//   - Races that need luck: the scenes with several callers are run once. The interleavings of a verb are
//     enumerated by package crashtest.
//
// Open this package when somebody reports a fault of another tool, and asks whether the library has it.
package main

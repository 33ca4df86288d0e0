// Package journal is what a client of the soak remembers of its calls: what it was about to do, written
// before the call, and what it was told, written after it. A line is one write(2) to a file, so it survives a
// SIGKILL of its process; nothing is flushed to the disk, for the machine does not crash here.
//
//	Begin ─► (the call) ─► End            OK, Refused, Failed, Unknown
//	   └──── killed: no second line ────► Unknown
//
// Times are those of the machine's clock, the same for all processes of a run. A clock that is set back
// during a run makes the check say less or, at worst, wrong things.
package journal

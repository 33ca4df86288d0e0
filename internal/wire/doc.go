// Package wire is all that a transaction of onerow's and a guarded session of internal/guard say to each
// other: what a context carries down to the session, the errors that come back up, the savepoint that the
// session sees to, and statements that travel together. Neither of the two imports the other. What is said
// travels in a context, or in a type, so that no text of a caller's can pretend to be it, except for the
// text of [AskGroup], which any session understands. It sends nothing.
//
// Open this package when onerow and its guarded sessions have something new to tell each other.
package wire

// Session is a guarded session, as a transaction finds it below its *sql.Conn.
type Session interface {
	// TakesPackets says whether several statements may be sent to it in one packet.
	TakesPackets() bool
}

// Answer is what a server said, if it was asked.
type Answer int8

// The answers.
const (
	NotAsked Answer = iota
	No
	Yes
)

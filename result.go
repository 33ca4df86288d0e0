package onerow

// Result is the answer of every verb that writes.
type Result[T any] struct {
	// Row is the row as it is after the call.
	Row T
	// Changed says whether this call wrote anything. Archiving what is archived is a no-op.
	Changed bool
	// Replayed says that a call with the same request id did the work earlier and
	// that Row is what it made, as it is now.
	Replayed bool
}

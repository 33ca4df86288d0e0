// Package answers makes sentinel errors that carry what the client of an HTTP API is told: onerow.Answer
// finds it. Statuses are numbers here, so that no package links net/http for them.
//
// Open this package when an error of the toolkit gets an answer.
package answers

// internal is the text of a status 500, which tells nothing of its cause.
const internal = "internal error"

// sentinel is an error with its answer.
type sentinel struct {
	status        int
	text, message string
}

// New makes an error with a status and a text for the client; message is the error's own text.
func New(status int, text, message string) error { return &sentinel{status, text, message} }

// Fault makes an error that answers 500 even where it wraps one that has an answer.
func Fault(message string) error { return New(500, internal, message) }

// Error returns the message.
func (s *sentinel) Error() string { return s.message }

// Answer returns the status and the text for the client.
func (s *sentinel) Answer() (status int, text string) { return s.status, s.text }

// Default is the answer of an error that carries none.
func Default() (status int, text string) { return 500, internal }

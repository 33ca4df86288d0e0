package idempotency

import (
	"time"

	"github.com/onerow/onerow"
)

// How says where a result came from.
type How string

// The three ways to get a result.
const (
	// Fresh: this call did the work.
	Fresh How = "fresh"
	// Replayed: an earlier call did it, and had ended when this one came.
	Replayed How = "replayed"
	// ReplayedAfterWaiting: another call did it while this one waited at the key.
	ReplayedAfterWaiting How = "replayed after waiting"
)

// Outcome is a result and how it came about. Row is the result; Changed is true
// where it is Fresh, Replayed where it is not.
type Outcome[T any] struct {
	onerow.Result[T]
	How How
}

func outcome[T any](v T, how How) Outcome[T] {
	fresh := how == Fresh
	return Outcome[T]{Result: onerow.Result[T]{Row: v, Changed: fresh, Replayed: !fresh}, How: how}
}

// Status is the state of a key.
type Status string

// The states of a key, see the package documentation. An expired one keeps its
// state until it is claimed anew or purged.
const (
	InProgress Status = "in_progress"
	Completed  Status = "complete"
	Failed     Status = "error"
	Released   Status = "released"
)

// Claim is what Begin gives the one caller that acquired the key. It is plain data,
// so that it can be sent along with the work.
type Claim struct {
	Key Key `json:"key"`
	// Token is the fencing token. Give it to systems outside: they refuse what comes
	// with a smaller one than they have seen.
	Token int64 `json:"token"`
	// TakenOver: an earlier holder's lease had ended. It may have done part of the
	// work, or all of it, and it may still be running.
	TakenOver bool `json:"taken_over"`
}

// Entry is a key as List and Find show it. Times are the database's, in UTC; the zero time where
// there is none.
type Entry struct {
	Key    Key    `json:"key"`
	Status Status `json:"status"`
	Token  int64  `json:"token"`
	// Attention: the error waits for a human.
	Attention bool `json:"attention"`
	// Overdue: in progress for longer than was expected.
	Overdue bool `json:"overdue"`
	// Expired: as if it were absent.
	Expired bool `json:"expired"`
	// Holder is who has the key or had it last.
	Holder             string        `json:"holder"`
	Since              time.Time     `json:"since"` // the holder's claim
	Age                time.Duration `json:"age"`   // since then, in nanoseconds
	ExpectedCompletion time.Time     `json:"expected_completion"`
	LeaseUntil         time.Time     `json:"lease_until"`
	CompletedAt        time.Time     `json:"completed_at"`
	ExpiresAt          time.Time     `json:"expires_at"`
	Error              string        `json:"error,omitempty"`
}

// Seen is the state of a key that an operator has seen and decides about.
type Seen struct {
	Key    Key
	Token  int64
	Status Status
}

// Seen is the entry as an operator's verb takes it.
func (e Entry) Seen() Seen { return Seen{e.Key, e.Token, e.Status} }

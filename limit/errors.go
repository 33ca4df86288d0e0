package limit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/recount"
)

var (
	// ErrLimit means: what was wanted does not fit below the owner's maximum, and nothing was written. It is
	// an [*Error].
	ErrLimit = answers.New(422, "the limit is reached", "limit: reached")
	// ErrUnknown means: the plan declares no limit of that name.
	ErrUnknown = errors.New("limit: the plan has no such limit")
	// ErrAmount means: an amount is negative, or larger than [MaxAmount]; or what an owner has, by other
	// hands, sums up to more than three times as much.
	ErrAmount = answers.New(400, "not a valid amount", "limit: not an amount")
	// ErrFollow means: [Rule.Take] was called in a transaction of its own outside of [Follow], and there is
	// too little room, or it is not known.
	ErrFollow = errors.New("limit: run what takes room in limit.Follow, which looks for more")
	// ErrOtherReservation means: a reservation of that key holds another amount.
	ErrOtherReservation = answers.New(409, "the reservation is for another amount", "limit: the reservation is for another amount")
)

// MaxAmount is the largest amount of one row, and the largest maximum. An owner without a maximum has twice
// as much.
const MaxAmount int64 = 1 << 60

// Error says which limit refused what: errors.Is(err, [ErrLimit]).
type Error struct {
	// Limit is its name in the plan, Owner whose it is, encoded as by onerow.EncodeKey.
	Limit, Owner string
	// Wanted does not fit: Used of Max is in use.
	Wanted, Used, Max int64
	// Hidden of what is in use are rows whose deletion can be undone or is being worked off, Reserved what
	// reservations hold.
	Hidden, Reserved int64
}

func (e *Error) Error() string {
	var kept []string
	if e.Hidden > 0 {
		kept = append(kept, fmt.Sprintf("%d by rows that a deletion hides until it ends", e.Hidden))
	}
	if e.Reserved > 0 {
		kept = append(kept, fmt.Sprintf("%d by reservations", e.Reserved))
	}
	text := fmt.Sprintf("limit %q of owner %s reached: %d of %d in use, %d more wanted", e.Limit, e.Owner, e.Used, e.Max, e.Wanted)
	if len(kept) > 0 {
		text += " (" + strings.Join(kept, ", ") + ")"
	}
	return text
}

// Unwrap returns [ErrLimit].
func (e *Error) Unwrap() error { return ErrLimit }

// short ends a transaction of a verb's own whose owner has too little room, or has not been counted: see
// [Follow].
type short struct {
	rule   *Rule
	owner  recount.Owner
	amount int64
}

func (e *short) Error() string {
	return fmt.Sprintf("%v (%d of %q for owner %s)", ErrFollow, e.amount, e.rule.name, e.owner.Key)
}

func (e *short) Unwrap() error { return ErrFollow }

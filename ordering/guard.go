package ordering

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/exactjson"
)

// Guard applies the messages of streams in their order. S is the consumer's state, stored as JSON: the
// function and the caller get it as it is stored. Safe for concurrent use.
type Guard[S any] struct {
	// Consumer is whose contexts these are, 1 to 64 bytes: two consumers of the same
	// stream do not know each other.
	Consumer string
	// Hold parks a message that comes before its turn until the gap before it closes. Without it (mode
	// Reject) what is newer applies, numbers may be left out, and what is not newer is refused.
	Hold bool
	// Keep keeps a row for each applied message, so that a duplicate can be told from a
	// late message; see [Forget]. With Hold it is not needed for that.
	Keep bool
	// First is the first sequence of a stream, and of each epoch; for Hold.
	First int64
	// MaxHeld is how many messages of a stream can be parked. Default 10,000.
	MaxHeld int64
}

// Message is what Apply is given.
type Message struct {
	// Stream is what the sequence belongs to, 1 to 255 bytes.
	Stream string
	// Epoch grows when the sender starts its sequence anew; see the package documentation.
	Epoch int64
	// Sequence is the message's number in its epoch.
	Sequence int64
	// Payload is what the function gets. With [Guard.Hold] it is what is parked, at most 16 MB.
	Payload []byte
}

// Func applies a message: it changes the state and writes through tx, by upserts or otherwise. An error rolls
// all of it back. It may be called again for the same message after a rollback, never after a COMMIT.
type Func[S any] func(ctx context.Context, tx *onerow.Tx, m Message, state *S) error

// Outcome says what became of a message.
type Outcome string

// The outcomes. The last three are refusals: nothing was written and the message can be dropped.
const (
	// Applied: the function ran and its transaction committed.
	Applied Outcome = "applied"
	// Held: it came early and is parked; [Guard.Hold].
	Held Outcome = "held"
	// Duplicate: this message was applied before.
	Duplicate Outcome = "duplicate"
	// Late: a newer one was applied before, and this one never.
	Late Outcome = "late"
	// Stale: Duplicate or Late, which is not known.
	Stale Outcome = "stale"
)

// Context is how far a consumer is with a stream.
type Context[S any] struct {
	// Epoch and Last are those of the last message that was applied. With [Guard.Hold], before the
	// first, Last is one less than [Guard.First].
	Epoch, Last int64
	// State is the consumer's own.
	State S
	// Held is how many messages are parked.
	Held int64
}

// Result is the answer of [Guard.Apply]. Row is the context after the call; Changed says that a message was
// applied or parked; Replayed that the message had been parked before.
type Result[S any] struct {
	onerow.Result[Context[S]]
	// Outcome is what became of the message that was given.
	Outcome Outcome
	// Released is how many parked messages were applied.
	Released int
}

const (
	maxConsumer = 64
	maxStream   = 255
	maxBlob     = 1<<24 - 1
	maxHeld     = 10_000
	batch       = 500
)

func (g Guard[S]) check() error {
	switch {
	case g.Consumer == "" || len(g.Consumer) > maxConsumer:
		return fmt.Errorf("%w: the name of a consumer has %d bytes, 1 to %d fit", ErrInvalidArgument, len(g.Consumer), maxConsumer)
	case g.First == math.MinInt64:
		return fmt.Errorf("%w: consumer %q: a stream cannot start at %d", ErrInvalidArgument, g.Consumer, g.First)
	}
	return nil
}

func (g Guard[S]) checkMessage(m Message) error {
	switch {
	case m.Stream == "" || len(m.Stream) > maxStream:
		return fmt.Errorf("%w: the name of a stream has %d bytes, 1 to %d fit", ErrInvalidArgument, len(m.Stream), maxStream)
	case len(m.Payload) > maxBlob && (g.Keep || g.Hold):
		return fmt.Errorf("%w: message %d of stream %q has %d bytes, %d can be kept", ErrInvalidArgument, m.Sequence, m.Stream, len(m.Payload), maxBlob)
	case m.Sequence == math.MinInt64 || m.Sequence == math.MaxInt64:
		return fmt.Errorf("%w: a message of stream %q has the sequence %d", ErrInvalidArgument, m.Stream, m.Sequence)
	}
	return nil
}

// encodeState returns the state as it is stored, and as the next message will find it.
func encodeState[S any](stream string, state S) (raw []byte, next S, err error) {
	raw, err = exactjson.RoundTrip(state, &next)
	switch {
	case err != nil:
		return nil, next, errtext.Errorf("%w %q cannot be stored: %w", ErrState, stream, err)
	case len(raw) > maxBlob:
		return nil, next, fmt.Errorf("%w %q has %d bytes as JSON, %d fit", ErrState, stream, len(raw), maxBlob)
	}
	return raw, next, nil
}

func decodeState(stream string, raw []byte, state any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, state); err != nil {
		return errtext.Errorf("%w %q is not what this consumer stores: %w", ErrState, stream, err)
	}
	return nil
}

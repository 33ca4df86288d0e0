package carts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/flow/sqs"
)

// Question is the body of a message of the queue "prices".
type Question struct {
	// Step comes back with the answer.
	Step  string   `json:"step"`
	Items []string `json:"items"`
}

// The outcomes of a message beside flow's Admitted, Redelivered and Done.
const (
	Waits      flow.Outcome = "waits"      // another request owns the cart; sent again
	Superseded flow.Outcome = "superseded" // dropped
)

// Taken says what became of a message.
type Taken struct {
	Outcome flow.Outcome
	Run     flow.Run
	// Retry is how often the message was sent again, before this call.
	Retry int
	// Next is the message that was sent again, due after Delay.
	Next  string
	Delay time.Duration
	// Step is what the run waits for; Question the message that asks, Asked whether this call sent it.
	Step, Question string
	Asked          bool
}

const stepPrices = "prices"

// Take works a message of the queue "carts", whose body is the name of the cart's flow. An error means:
// deliver it again. [sqs.ErrExhausted] is one: the message was sent again as often as is allowed.
func Take(ctx context.Context, db onerow.DB, m store.Message) (Taken, error) {
	raw, err := m.JSON()
	if err != nil {
		return Taken{}, err
	}
	e, err := sqs.Open(raw)
	if err != nil {
		return Taken{}, err
	}
	taken := Taken{Run: flow.Run{Flow: e.Body, RequestID: e.RequestID}, Retry: e.Retry}
	cart, err := cartOf(taken.Run)
	if err != nil {
		return Taken{}, err
	}
	res, err := flow.Claim(ctx, db, taken.Run)
	switch {
	case errors.Is(err, flow.ErrOwned):
		taken.Outcome = Waits
		return again(ctx, db, e, taken)
	case errors.Is(err, flow.ErrSuperseded):
		taken.Outcome = Superseded
		return taken, nil
	case err != nil:
		return taken, err
	}
	taken.Outcome = res.Outcome
	if res.Outcome == flow.Done {
		return taken, nil
	}
	return ask(ctx, db, cart, taken)
}

// again sends the message again: a new message, which keeps the request id. Its own id is derived from the
// retry, so that a redelivery of this one sends it once.
func again(ctx context.Context, db onerow.DB, e sqs.Message, taken Taken) (Taken, error) {
	out, err := e.Resend(sqs.Backoff{})
	if err != nil {
		return taken, err
	}
	taken.Next, taken.Delay = out.DeduplicationID, out.Delay
	_, err = store.Send(ctx, db, store.Message{ID: taken.Next, Queue: store.QueueCarts, Body: out.Body, Attributes: out.Attributes, Delay: out.Delay})
	return taken, err
}

// ask notes the step and sends the question, in one commit. The items are read behind the proof: who changes
// them supersedes this run first.
func ask(ctx context.Context, db onerow.DB, cart int64, taken Taken) (Taken, error) {
	taken.Question = flow.MessageID(taken.Run.RequestID, stepPrices)
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		step, err := flow.Await(ctx, tx, taken.Run, stepPrices, nil)
		if err != nil {
			return err
		}
		c, err := store.CartByID(ctx, tx, cart)
		if err != nil {
			return err
		}
		body, err := json.Marshal(Question{Step: step.ID, Items: c.Items})
		if err != nil {
			return err
		}
		taken.Step = step.ID
		taken.Asked, err = store.Send(ctx, tx, store.Message{ID: taken.Question, Queue: store.QueuePrices, Body: string(body)})
		return err
	})
	switch {
	case errors.Is(err, flow.ErrSuperseded):
		taken.Outcome, err = Superseded, nil
	case errors.Is(err, flow.ErrFinished): // its answer came meanwhile
		taken.Outcome, err = flow.Done, nil
	}
	return taken, err
}

// Answered takes the price service's answer, the total in cents: the cart, the mail to the customer and the
// end of the flow commit together. An answer to a run that was superseded, or has finished, is flow.ErrLost
// and changes nothing.
func Answered(ctx context.Context, db onerow.DB, step string, total int64) (s flow.Step, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if s, err = flow.Answer(ctx, tx, step, strconv.AppendInt(nil, total, 10)); err != nil {
			return err
		}
		id, err := cartOf(s.Run)
		if err != nil {
			return err
		}
		if err := store.ValidateCart(ctx, tx, id, total, s.Run.RequestID); err != nil {
			return err
		}
		mail := store.Message{ID: flow.MessageID(s.Run.RequestID, "validated"), Queue: store.QueueMail, Body: fmt.Sprintf("cart %d costs %d cents", id, total)}
		if _, err := store.Send(ctx, tx, mail); err != nil {
			return err
		}
		_, err = flow.Finish(ctx, tx, s.Run)
		return err
	})
	return s, err
}

package carts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/flow/sqs"
)

// Task is the body of a message of the queue "carts".
type Task struct {
	Cart int64 `json:"cart"`
}

// Question is the body of a message of the queue "prices".
type Question struct {
	// Step comes back with the answer.
	Step  string   `json:"step"`
	Items []string `json:"items"`
}

// Prices is the price service's answer.
type Prices struct {
	Total int64 `json:"total"` // cents
}

// Validator works the messages.
type Validator struct {
	DB onerow.DB
	// Backoff is how a message waits for the owner to finish.
	Backoff sqs.Backoff
}

// The outcomes of a message beside flow's Admitted, Redelivered and Done.
const (
	Waits      flow.Outcome = "waits"      // another request owns the cart; sent again
	Superseded flow.Outcome = "superseded" // dropped
	Parked     flow.Outcome = "parked"     // sent again as often as is allowed; for a human
	Gone       flow.Outcome = "gone"       // there is no such cart; finished
)

// Taken says what became of a message.
type Taken struct {
	Outcome flow.Outcome
	Run     flow.Run
	// Retry is how often the message was sent again, before this call.
	Retry int
	// Owner is who owns the cart, for Waits.
	Owner string
	// Next is the message that was sent again, due after Delay.
	Next  string
	Delay time.Duration
	// Step is what the run waits for; Question the message that asks, Asked whether this call sent it.
	Step, Question string
	Asked          bool
}

const (
	flowPrefix = "cart/" // and the cart's id
	stepPrices = "prices"
)

// Take works a message of the queue "carts". An error means: deliver it again.
func (v *Validator) Take(ctx context.Context, raw []byte) (Taken, error) {
	e, err := sqs.Open(raw)
	if err != nil {
		return Taken{}, err
	}
	var t Task
	if err := json.Unmarshal([]byte(e.Body), &t); err != nil {
		return Taken{}, fmt.Errorf("carts: message %q is no task: %w", e.MessageID, err)
	}
	taken := Taken{Run: runOf(t.Cart, e.RequestID), Retry: e.Retry}
	res, err := flow.Claim(ctx, v.DB, taken.Run)
	var owned *flow.OwnedError
	switch {
	case errors.As(err, &owned):
		taken.Outcome, taken.Owner = Waits, owned.Owner
		return v.again(ctx, e, taken)
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
	return v.ask(ctx, t.Cart, taken)
}

// again sends the message again: a new message, which keeps the request id. Its own id is derived from the
// retry, so that a redelivery of this one sends it once.
func (v *Validator) again(ctx context.Context, e sqs.Message, taken Taken) (Taken, error) {
	out, err := e.Resend(v.Backoff)
	if errors.Is(err, sqs.ErrExhausted) {
		taken.Outcome = Parked
		return taken, nil
	}
	if err != nil {
		return taken, err
	}
	taken.Next, taken.Delay = out.DeduplicationID, out.Delay
	_, err = store.Send(ctx, v.DB, store.Message{ID: taken.Next, Queue: store.QueueCarts, Body: out.Body, Attributes: out.Attributes, Delay: out.Delay})
	return taken, err
}

// ask notes the step and sends the question, in one commit. The items are read behind the proof: who changes
// them supersedes this run first.
func (v *Validator) ask(ctx context.Context, cart int64, taken Taken) (Taken, error) {
	taken.Question = flow.MessageID(taken.Run.RequestID, stepPrices)
	gone := false
	err := onerow.InTx(ctx, v.DB, func(ctx context.Context, tx *onerow.Tx) error {
		step, err := flow.Await(ctx, tx, taken.Run, stepPrices, nil)
		if err != nil {
			return err
		}
		c, err := store.CartByID(ctx, tx, cart)
		if gone = errors.Is(err, store.ErrNotFound); gone {
			_, err = flow.Finish(ctx, tx, taken.Run)
		}
		if err != nil || gone {
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
	case gone:
		taken.Outcome = Gone
	}
	return taken, err
}

// Answered takes the price service's answer: the cart, the mail to the customer and the end of the flow
// commit together. An answer to a run that was superseded, or has finished, is flow.ErrLost and changes
// nothing.
func (v *Validator) Answered(ctx context.Context, step string, p Prices) (flow.Step, error) {
	answer, err := json.Marshal(p)
	if err != nil {
		return flow.Step{}, err
	}
	var s flow.Step
	err = onerow.InTx(ctx, v.DB, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if s, err = flow.Answer(ctx, tx, step, answer); err != nil {
			return err
		}
		id, err := strconv.ParseInt(strings.TrimPrefix(s.Run.Flow, flowPrefix), 10, 64)
		if err != nil {
			return fmt.Errorf("carts: %q is no cart's flow: %w", s.Run.Flow, err)
		}
		if err := store.ValidateCart(ctx, tx, id, p.Total, s.Run.RequestID); err != nil {
			return err
		}
		mail := store.Message{ID: flow.MessageID(s.Run.RequestID, "validated"), Queue: store.QueueMail, Body: fmt.Sprintf("cart %d costs %d cents", id, p.Total)}
		if _, err := store.Send(ctx, tx, mail); err != nil {
			return err
		}
		_, err = flow.Finish(ctx, tx, s.Run)
		return err
	})
	return s, err
}

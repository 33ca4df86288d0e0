package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

// validation follows the cart of oneCommit through the queue. The story delivers the messages itself,
// twice and out of order, as queues do.
func (t *teller) validation(ctx context.Context) error {
	t.title("7. A cart is validated by one request at a time, and waits for the price service")
	first, err := t.lastCartMessage(ctx)
	if err != nil {
		return err
	}
	asked, err := t.take(ctx, "the cart's message m1: the cart's own commit made it the owner", first, flow.Redelivered)
	if err != nil {
		return err
	}
	again, err := t.take(ctx, "m1 redelivered, as after a crash: all of it again", first, flow.Redelivered)
	if err != nil {
		return err
	}
	t.step("    the question has the same id %s…, and is not sent twice", again.Question[:12])
	if !asked.Asked || again.Asked || asked.Question != again.Question || asked.Step != again.Step {
		return wrong("%+v and %+v", asked, again)
	}

	wait, err := t.nightlyCheck(ctx)
	if err != nil {
		return err
	}
	if err := t.changedCart(ctx, first, asked); err != nil {
		return err
	}
	checked, err := t.take(ctx, "the nightly check's second retry: its turn now", wait, flow.Admitted)
	if err != nil {
		return err
	}
	return t.priced(ctx, "the price service answers it", checked, nil)
}

// nightlyCheck sends another request for the cart, which waits, and returns its message.
func (t *teller) nightlyCheck(ctx context.Context) (wait string, err error) {
	other := "nightly-check"
	if err := t.sendTask(ctx, other, carts.Task{Cart: t.cart}); err != nil {
		return "", err
	}
	wait = other
	for range 2 { // 5 and 10 seconds later, if a queue delivered it
		w, err := t.take(ctx, "the nightly check's message: another request has the cart", wait, carts.Waits)
		if err != nil {
			return "", err
		}
		if w.Run.RequestID != other {
			return "", wrong("the request id became %q", w.Run.RequestID)
		}
		t.step("    sent again as %s…, due in %s, retry %d, its request id is still %s", w.Next[:12], w.Delay, w.Retry+1, w.Run.RequestID)
		wait = w.Next
	}
	return wait, nil
}

// changedCart changes the cart while the first message's question is open.
func (t *teller) changedCart(ctx context.Context, first string, asked carts.Taken) error {
	a, err := t.send(ctx, http.MethodPut, fmt.Sprintf("/carts/%d", t.cart), "I", `{"items":["shoe","sock","hat"]}`, "")
	if err != nil || a.status != http.StatusOK {
		return errors.Join(err, wrong("the cart's change: %d %s", a.status, a.body))
	}
	t.step("the customer puts a hat into the cart; m2 supersedes m1 in that commit")
	second, err := t.lastCartMessage(ctx)
	if err != nil {
		return err
	}
	if err := t.priced(ctx, "the price service answers m1's question, before m2 comes: stale", asked, flow.ErrSuperseded); err != nil {
		return err
	}
	changed, err := t.take(ctx, "m2 asks anew", second, flow.Redelivered)
	if err != nil {
		return err
	}
	if err := t.priced(ctx, "it answers m2's question: the cart is valid, the flow ends", changed, nil); err != nil {
		return err
	}
	if err := t.priced(ctx, "the same answer again: the flow has finished", changed, flow.ErrFinished); err != nil {
		return err
	}
	if _, err := t.take(ctx, "m2 redelivered late: dropped", second, flow.Done); err != nil {
		return err
	}
	_, err = t.take(ctx, "m1 redelivered late: dropped", first, carts.Superseded)
	return err
}

// lastCartMessage is the message that the shop sent last.
func (t *teller) lastCartMessage(ctx context.Context) (id string, err error) {
	due, err := store.Due(ctx, t.DB, store.QueueCarts, 1)
	if err == nil && len(due) == 0 {
		err = wrong("the shop sent no message")
	}
	if err != nil {
		return "", err
	}
	return due[0].ID, store.Delivered(ctx, t.DB, due[0].ID)
}

// sendTask sends a message that the story delivers by its id.
func (t *teller) sendTask(ctx context.Context, id string, task carts.Task) error {
	body, err := json.Marshal(task)
	if err != nil {
		return err
	}
	if _, err = store.Send(ctx, t.DB, store.Message{ID: id, Queue: store.QueueCarts, Body: string(body)}); err != nil {
		return err
	}
	return store.Delivered(ctx, t.DB, id)
}

// take delivers a message.
func (t *teller) take(ctx context.Context, what, id string, want flow.Outcome) (carts.Taken, error) {
	m, err := store.MessageByID(ctx, t.DB, id)
	if err != nil {
		return carts.Taken{}, err
	}
	raw, err := m.JSON()
	if err != nil {
		return carts.Taken{}, err
	}
	taken, err := t.Carts.Take(ctx, raw)
	if err != nil {
		return taken, err
	}
	t.step("%-62s %s", what, taken.Outcome)
	if taken.Outcome != want {
		return taken, wrong("%s: %s, not %s", what, taken.Outcome, want)
	}
	return taken, store.Delivered(ctx, t.DB, id)
}

// priced lets the price service answer the question of a run.
func (t *teller) priced(ctx context.Context, what string, asked carts.Taken, want error) error {
	m, err := store.MessageByID(ctx, t.DB, asked.Question)
	if err != nil {
		return err
	}
	var q carts.Question
	if err := json.Unmarshal([]byte(m.Body), &q); err != nil {
		return err
	}
	_, err = t.Carts.Answered(ctx, q.Step, carts.Price(q.Items))
	if !errors.Is(err, want) {
		return fmt.Errorf("%w: %s: %w", ErrStory, what, err)
	}
	said := "written"
	if err != nil {
		said = err.Error()
	}
	t.step("%-62s %s", what, said)
	return store.Delivered(ctx, t.DB, asked.Question)
}

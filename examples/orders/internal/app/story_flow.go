package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

// validation follows the cart of oneCommit through the queue. The story delivers the messages itself,
// twice and out of order, as queues do.
func (t *teller) validation() {
	t.title("7. A cart is validated by one request at a time, and waits for the price service")
	first := t.lastCartMessage()
	asked := t.take("the cart's message m1: the cart's own commit made it the owner", first, flow.Redelivered)
	again := t.take("m1 redelivered, as after a crash: all of it again", first, flow.Redelivered)
	t.step("    the question has the same id %.12s…, and is not sent twice", again.Question)
	t.must(asked.Asked && !again.Asked && asked.Question == again.Question && asked.Step == again.Step, "%+v and %+v", asked, again)

	const nightly = "nightly-check" // another request for the cart
	_, err := store.Send(t.ctx, t.DB, store.Message{ID: nightly, Queue: store.QueueCarts, Body: fmt.Sprint("cart/", t.cart)})
	t.check(err)
	waits := nightly
	for range 2 { // 5 and 10 seconds later, if a queue delivered it
		w := t.take("the nightly check's message: another request has the cart", waits, carts.Waits)
		t.step("    sent again as %.12s…, due in %s, retry %d, its request id is still %s", w.Next, w.Delay, w.Retry+1, w.Run.RequestID)
		t.must(w.Run.RequestID == nightly, "the request id became %q", w.Run.RequestID)
		waits = w.Next
	}

	t.send("", http.MethodPut, fmt.Sprintf("/carts/%d", t.cart), "I", url.Values{"items": {"shoe", "sock", "hat"}}, "", http.StatusOK)
	t.step("the customer puts a hat into the cart; m2 supersedes m1 in that commit")
	second := t.lastCartMessage()
	t.priced("the price service answers m1's question, before m2 comes: stale", asked, flow.ErrSuperseded)
	changed := t.take("m2 asks anew", second, flow.Redelivered)
	t.priced("it answers m2's question: the cart is valid, the flow ends", changed, nil)
	t.priced("the same answer again: the flow has finished", changed, flow.ErrFinished)
	t.take("m2 redelivered late: dropped", second, flow.Done)
	t.take("m1 redelivered late: dropped", first, carts.Superseded)
	checked := t.take("the nightly check's second retry: its turn now", waits, flow.Admitted)
	t.priced("the price service answers it", checked, nil)
	a := t.send("", http.MethodGet, fmt.Sprintf("/carts/%d", t.cart), "", nil, "", http.StatusOK)
	t.step("the cart: %s", a.body)
	t.title("One charge per key, one validation at a time.")
}

// lastCartMessage takes the message that the shop sent last out of its queue.
func (t *teller) lastCartMessage() (id string) {
	due, err := store.Due(t.ctx, t.DB, store.QueueCarts, 1)
	t.check(err)
	if len(due) == 0 {
		t.must(false, "the shop sent no message")
		return ""
	}
	t.check(store.Delivered(t.ctx, t.DB, due[0].ID))
	return due[0].ID
}

// take delivers a message.
func (t *teller) take(what, id string, want flow.Outcome) (taken carts.Taken) {
	if t.err != nil {
		return taken
	}
	m, err := store.MessageByID(t.ctx, t.DB, id)
	t.check(err)
	taken, err = carts.Take(t.ctx, t.DB, m)
	t.check(err)
	t.step("%-62s %s", what, taken.Outcome)
	t.must(taken.Outcome == want, "%s: %s, not %s", what, taken.Outcome, want)
	t.check(store.Delivered(t.ctx, t.DB, id))
	return taken
}

// priced lets the price service answer the question of a run.
func (t *teller) priced(what string, asked carts.Taken, want error) {
	if t.err != nil {
		return
	}
	_, err := carts.Answered(t.ctx, t.DB, asked.Step, 5990)
	t.must(errors.Is(err, want), "%s: %v", what, err)
	said := "written"
	if err != nil {
		said = err.Error()
	}
	t.step("%-62s %s", what, said)
}

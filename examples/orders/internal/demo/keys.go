package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
)

func (t *teller) answers(ctx context.Context) error {
	t.title("1. An order is charged once, however often it is sent")
	first, err := t.order(ctx, "key A, a shoe", "A", "shoe", bank.OK, http.StatusCreated)
	if err != nil {
		return err
	}
	if err := t.replay(ctx, "key A again: the stored answer", "A", "shoe", bank.OK, first.body); err != nil {
		return err
	}
	if _, err := t.order(ctx, "key A for a sock: that is another request", "A", "sock", bank.OK, http.StatusUnprocessableEntity); err != nil {
		return err
	}
	if _, err := t.order(ctx, "no key", "", "shoe", bank.OK, http.StatusBadRequest); err != nil {
		return err
	}
	if _, err := t.order(ctx, "key B, a card that is declined", "B", "shoe", bank.Declined, http.StatusPaymentRequired); err != nil {
		return err
	}
	again, err := t.order(ctx, "key B again: declined for good, the bank is not asked", "B", "shoe", bank.Declined, http.StatusPaymentRequired)
	if err == nil && again.header.Get(httpkey.HeaderReplayed) == "" {
		err = wrong("key B was not replayed")
	}
	return err
}

// keyOf is the key under which Ada orders.
func keyOf(id string) idempotency.Key {
	return idempotency.Key{Tenant: "ada", Operation: "POST /orders", ID: id}
}

func (t *teller) inFlight(ctx context.Context) error {
	t.title("2. The same key twice at the same time")
	reference, err := store.Reference(keyOf("C"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	type result struct {
		answer
		error
	}
	first := make(chan result, 1)
	go func() {
		a, err := t.send(ctx, http.MethodPost, "/orders", "C", orderBody("hat", bank.Held), "")
		first <- result{a, err}
	}()
	// The other request waits in any case, so the goroutine ends before this function does.
	err = t.Bank.Arrived(ctx, reference)
	if err == nil {
		t.step("key C: the bank takes its time")
		_, err = t.order(ctx, "key C meanwhile: in flight", "C", "hat", bank.Held, http.StatusConflict)
	}
	t.Bank.Let(reference)
	r := <-first
	if err := errors.Join(err, r.error); err != nil {
		return err
	}
	t.step("%-62s %s", "the first one of key C has its answer", r.answer)
	if r.status != http.StatusCreated {
		return wrong("the first request of key C: %d %s", r.status, r.body)
	}
	return t.replay(ctx, "key C once more", "C", "hat", bank.Held, r.body)
}

func (t *teller) notReached(ctx context.Context) error {
	t.title("3. The bank cannot be reached: nothing was done, the key is free again")
	if err := t.Bank.Down(ctx); err != nil {
		return err
	}
	_, err := t.order(ctx, "key D, the bank is down", "D", "coat", bank.OK, http.StatusServiceUnavailable)
	if err := errors.Join(err, t.Bank.Up(ctx)); err != nil {
		return err
	}
	if err := t.status(ctx, "D", idempotency.Released, false); err != nil {
		return err
	}
	_, err = t.order(ctx, "key D again, the bank is back: charged now", "D", "coat", bank.OK, http.StatusCreated)
	return err
}

// status prints and checks what the key's row says.
func (t *teller) status(ctx context.Context, id string, want idempotency.Status, attention bool) error {
	e, err := t.Keys.Find(ctx, t.DB, keyOf(id))
	if err != nil {
		return err
	}
	text := ""
	if e.Attention {
		text = ", for attention: " + e.Error
	}
	t.step("    the key's row: %s%s", e.Status, text)
	if e.Status != want || e.Attention != attention {
		return wrong("key %s is %s, attention %v", id, e.Status, e.Attention)
	}
	return nil
}

func (t *teller) unclear(ctx context.Context) error {
	t.title("4. The bank gives no clear answer: a human decides")
	for _, c := range []struct{ key, card, what string }{
		{"E", bank.Cut, "key E, the connection breaks after the charge"},
		{"F", bank.Lost, "key F, the connection breaks before it"},
	} {
		if _, err := t.order(ctx, c.what, c.key, "scarf", c.card, http.StatusBadGateway); err != nil {
			return err
		}
		if err := t.status(ctx, c.key, idempotency.Failed, true); err != nil {
			return err
		}
		if _, err := t.order(ctx, "key "+c.key+" again: not charged twice", c.key, "scarf", c.card, http.StatusBadGateway); err != nil {
			return err
		}
	}
	entries, err := t.Shop.Attention(ctx)
	if err != nil {
		return err
	}
	t.step("the operator lists what waits (as cascade-worker keys list --errored does), and asks the bank:")
	for _, e := range entries {
		o, err := t.Shop.Resolve(ctx, "olga", e)
		if err != nil {
			return err
		}
		t.step("    %s → order %d is %s", e.Key, o.ID, o.Status)
		if _, err := t.Shop.Resolve(ctx, "otto", e); !errors.Is(err, idempotency.ErrChanged) {
			return wrong("a second operator resolved %s: %v", e.Key, err)
		}
	}
	t.step("    a second operator who saw the same list is told that the keys have changed")
	if len(entries) != 2 {
		return wrong("%d keys wait, not 2", len(entries))
	}
	if err := t.replay(ctx, "key E again: there was a charge, this is its answer", "E", "scarf", bank.Cut, ""); err != nil {
		return err
	}
	_, err = t.order(ctx, "key F again: there was none, charged now", "F", "scarf", bank.Lost, http.StatusCreated)
	return err
}

// lateTime is how long the story waits for the bank's notice.
const lateTime = time.Minute

func (t *teller) late(ctx context.Context) error {
	t.title("5. The bank answers when nobody waits any more")
	if _, err := t.post(ctx, "key G, the client waits a second at most", "/orders", "G", orderBody("glove", bank.Late), "wait=1", http.StatusBadGateway); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lateTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		e, err := t.Keys.Find(ctx, t.DB, keyOf("G"))
		if err != nil {
			return err
		}
		if e.Status == idempotency.Completed {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the bank's notice does not come: %w", ErrStory, ctx.Err())
		}
	}
	audit, err := t.Keys.Audit(ctx, t.DB, keyOf("G"))
	if err != nil {
		return err
	}
	for _, a := range audit {
		t.step("    the bank's notice came; the audit says: %s by %q, %s", a.Action, a.Actor, a.Reason)
	}
	return t.replay(ctx, "key G again", "G", "glove", bank.Late, "")
}

func (t *teller) oneCommit(ctx context.Context) error {
	t.title("6. A cart needs no bank: cart, message, key and answer are one commit")
	const body = `{"items":["shoe","sock"]}`
	first, err := t.post(ctx, "key H, a cart", "/carts", "H", body, "", http.StatusCreated)
	if err != nil {
		return err
	}
	again, err := t.post(ctx, "key H again: the same cart", "/carts", "H", body, "", http.StatusCreated)
	if err != nil {
		return err
	}
	var c store.Cart
	if err := json.Unmarshal([]byte(first.body), &c); err != nil {
		return err
	}
	t.cart = c.ID
	if again.body != first.body {
		return wrong("two carts: %s and %s", first.body, again.body)
	}
	return nil
}

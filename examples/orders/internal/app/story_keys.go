package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

func (t *teller) answers() {
	t.title("1. An order is charged once, however often it is sent")
	first := t.order("key A, a shoe", "A", "shoe", bank.OK, http.StatusCreated)
	t.replay("key A again: the stored answer", "A", "shoe", bank.OK, first.body)
	t.order("key A for a sock: that is another request", "A", "sock", bank.OK, http.StatusUnprocessableEntity)
	t.order("no key", "", "shoe", bank.OK, http.StatusBadRequest)
	t.order("key B, a card that is declined", "B", "shoe", bank.Declined, http.StatusPaymentRequired)
	again := t.order("key B again: declined for good, the bank is not asked", "B", "shoe", bank.Declined, http.StatusPaymentRequired)
	t.must(again.header.Get(httpkey.HeaderReplayed) != "", "key B was not replayed")
}

// keyOf is the key under which Ada orders.
func keyOf(id string) idempotency.Key {
	return idempotency.Key{Tenant: "ada", Operation: "POST /orders", ID: id}
}

func (t *teller) inFlight() {
	t.title("2. The same key twice at the same time")
	ctx, cancel := context.WithTimeout(t.ctx, time.Minute)
	defer cancel()
	meet := func() { // the charge, at the bank
		select {
		case <-t.Bank.Held:
		case <-ctx.Done():
			t.check(ctx.Err())
		}
	}
	first := make(chan answer, 1)
	var failed error
	go func() {
		var a answer
		a, failed = t.request(http.MethodPost, "/orders", "C", orderOf("hat", bank.Held), "")
		first <- a
	}()
	meet()
	t.step("key C: the bank takes its time")
	t.order("key C meanwhile: in flight", "C", "hat", bank.Held, http.StatusConflict)
	meet()
	a := <-first
	t.check(failed)
	t.step("%-62s %s", "the first one of key C has its answer", a)
	t.must(a.status == http.StatusCreated, "the first request of key C: %d %s", a.status, a.body)
	t.replay("key C once more", "C", "hat", bank.Held, a.body)
}

func (t *teller) notReached() {
	t.title("3. The bank cannot be reached: nothing was done, the key is free again")
	t.check(t.Bank.Down())
	t.order("key D, the bank is down", "D", "coat", bank.OK, http.StatusServiceUnavailable)
	t.check(t.Bank.Up(t.ctx))
	t.status("D", idempotency.Released, false)
	t.order("key D again, the bank is back: charged now", "D", "coat", bank.OK, http.StatusCreated)
}

// status prints and checks what the key's row says.
func (t *teller) status(id string, want idempotency.Status, attention bool) {
	e, err := keyadmin.Find(t.ctx, t.DB, keyOf(id))
	t.check(err)
	text := ""
	if e.Attention {
		text = ", for attention: " + e.Error
	}
	t.step("    the key's row: %s%s", e.Status, text)
	t.must(e.Status == want && e.Attention == attention, "key %s is %s, attention %v", id, e.Status, e.Attention)
}

func (t *teller) unclear() {
	t.title("4. The bank gives no clear answer: a human decides")
	for _, c := range []struct{ key, card, what string }{
		{"E", bank.Cut, "key E, the connection breaks after the charge"},
		{"F", bank.Lost, "key F, the connection breaks before it"},
	} {
		t.order(c.what, c.key, "scarf", c.card, http.StatusBadGateway)
		t.status(c.key, idempotency.Failed, true)
		t.order("key "+c.key+" again: not charged twice", c.key, "scarf", c.card, http.StatusBadGateway)
	}
	entries, err := t.Shop.Attention(t.ctx)
	t.check(err)
	t.step("the operator lists what waits (as cascade-worker keys list --errored does), and asks the bank:")
	for _, e := range entries {
		o, err := t.Shop.Resolve(t.ctx, "olga", e)
		t.check(err)
		t.step("    %s → order %d is %s", e.Key, o.ID, o.Status)
		_, err = t.Shop.Resolve(t.ctx, "otto", e)
		t.must(errors.Is(err, keyadmin.ErrChanged), "a second operator resolved %s: %v", e.Key, err)
	}
	t.step("    a second operator who saw the same list is told that the keys have changed")
	t.must(len(entries) == 2, "%d keys wait, not 2", len(entries))
	t.replay("key E again: there was a charge, this is its answer", "E", "scarf", bank.Cut, "")
	t.order("key F again: there was none, charged now", "F", "scarf", bank.Lost, http.StatusCreated)
}

func (t *teller) late() {
	t.title("5. The bank answers when nobody waits any more")
	t.send("key G, the client waits a second at most", http.MethodPost, "/orders", "G", orderOf("glove", bank.Late), "wait=1", http.StatusBadGateway)
	var e idempotency.Entry
	for begin := time.Now(); t.err == nil && e.Status != idempotency.Completed; time.Sleep(20 * time.Millisecond) {
		var err error
		e, err = keyadmin.Find(t.ctx, t.DB, keyOf("G"))
		t.check(err)
		t.must(time.Since(begin) < time.Minute, "the bank's notice does not come")
	}
	t.step("    the bank's notice came, and completed the key")
	t.replay("key G again", "G", "glove", bank.Late, "")
}

func (t *teller) oneCommit() {
	t.title("6. A cart needs no bank: cart, message, key and answer are one commit")
	items := url.Values{"items": {"shoe", "sock"}}
	first := t.send("key H, a cart", http.MethodPost, "/carts", "H", items, "", http.StatusCreated)
	again := t.send("key H again: the same cart", http.MethodPost, "/carts", "H", items, "", http.StatusCreated)
	t.must(again.body == first.body, "two carts: %s and %s", first.body, again.body)
	var c store.Cart
	t.check(json.Unmarshal([]byte(first.body), &c))
	t.cart = c.ID
}

// sqlKeyTable joins the keys of orders with the orders and the bank's ledger, by the unique reference.
const sqlKeyTable = `SELECT k.idem_key, k.status, COALESCE(o.id, 0), COALESCE(o.status, ''), COALESCE(o.charge_id, 0),
  (SELECT COUNT(*) FROM bank_charge b WHERE b.reference = o.reference)
FROM onerow_key k LEFT JOIN customer_order o ON o.tenant = k.tenant AND o.operation = k.operation AND o.idem_key = k.idem_key
WHERE k.operation = 'POST /orders' ORDER BY k.idem_key`

// keyTable closes the key story: what the tables say.
func (t *teller) keyTable() {
	t.title("The tables of the orders")
	t.step("%-5s %-10s %-6s %-12s %-8s %s", "key", "its row", "order", "its status", "charge", "charges in the bank's ledger")
	n := 0
	t.check(onerow.Query(t.ctx, t.DB, sqlKeyTable, nil, func(rows *sql.Rows) error {
		var key, status, orderStatus string
		var order, charge, charges int64
		err := rows.Scan(&key, &status, &order, &orderStatus, &charge, &charges)
		t.step("%-5s %-10s %-6d %-12s %-8d %d", key, status, order, orderStatus, charge, charges)
		charged, declined := charge != 0 && charges == 1, orderStatus == string(store.Declined) && charge == 0 && charges == 0
		t.must(status == "complete" && (charged || declined), "key %s is %s with %d charges", key, status, charges)
		n++
		return err
	}))
	t.must(n == 7, "%d keys, not 7", n)
}

package webfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// customer is one of the two of the example orders, with what the answers said.
type customer struct {
	c      *client
	r      *rand.Rand
	mark   string
	name   string
	orders map[int64]order
	carts  map[int64][]string
	keys   map[string]keyed
	lost   bool
	other  *customer
	mu     sync.Mutex // of the ids, which the other one reads
}

type order struct {
	item   string
	amount int64
	status string
}

// keyed is what was sent under a key, and the row that it made.
type keyed struct {
	sent string
	id   int64
}

func newCustomers(w *world, to *program) []*customer {
	var all []*customer
	for i, name := range []string{"ada", "bob"} {
		r := w.Rand(uint64(300 + i)) //nolint:gosec // small
		all = append(all, &customer{c: w.client(to), r: r, mark: w.marks.add(r, "o"), name: name, orders: map[int64]order{}, carts: map[int64][]string{}, keys: map[string]keyed{}})
	}
	all[0].other, all[1].other = all[1], all[0]
	return all
}

func (o *customer) step(ctx context.Context) {
	pick(o.r, []func(context.Context){o.order, o.order, o.order, o.cart, o.cart, o.change, o.look, o.forged, o.notice, o.badKeys})(ctx)
}

// asMe makes a form with the customer's own API key.
func (o *customer) asMe(method, path, key string, fields url.Values) request {
	q := form(path, fields)
	q.method = method
	q.header["Authorization"] = []string{"Bearer sk_" + o.name}
	if key != "" {
		q.header["Idempotency-Key"] = []string{key}
	}
	return q
}

// item draws a name that fits into 200 bytes, or nearly.
func (o *customer) item() string {
	body := text(o.r, o.mark)
	return body[:min(len(body), 199+o.r.IntN(3))]
}

// order sends a new order, or one under a key that was used, at once and again. Both customers use the same
// keys.
func (o *customer) order(ctx context.Context) {
	key, amount := fmt.Sprint("k", o.r.IntN(1000)), 1+o.r.Int64N(1000)
	fields := url.Values{"item": {o.item()}, "amount": {fmt.Sprint(amount)}, "card": {pick(o.r, []string{"ok", "ok", "declined"})}}
	if chance(o.r, 6) {
		fields["amount"] = []string{pick(o.r, []string{"0", "-1", "100000001", "1e3", "9223372036854775808", "NaN", "", "1\x00"})}
		amount = 0
	}
	q := o.asMe(http.MethodPost, "/orders", key, fields)
	answers := make([]answer, 1+o.r.IntN(3))
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = o.c.send(ctx, o.mark, q) })
	}
	all.Wait()
	for _, a := range answers {
		o.noteOrder(q, key, fields, amount, a)
	}
}

func (o *customer) noteOrder(q request, key string, fields url.Values, amount int64, a answer) {
	var in struct {
		ID     int64
		Item   string
		Amount int64
		Status string
	}
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		o.lost = o.lost || !o.c.well.Load()
		return
	}
	if err := json.Unmarshal(a.body, &in); err != nil || a.status != http.StatusCreated && a.status != http.StatusPaymentRequired || in.ID == 0 {
		return
	}
	was, known := o.keys[key]
	if known && (was.id != in.ID || was.sent != string(q.body)) {
		o.c.broken(brokenAnswer, "the key made %d of %q, and now %d: %s", was.id, was.sent, in.ID, o.c.curl(q))
	}
	if in.Item != fields.Get("item") || in.Amount != amount {
		o.c.broken(brokenAnswer, "%+v: %s", in, o.c.curl(q))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys[key] = keyed{string(q.body), in.ID}
	o.orders[in.ID] = order{in.Item, in.Amount, in.Status}
}

// cart makes a cart.
func (o *customer) cart(ctx context.Context) {
	key := fmt.Sprint("c", o.r.IntN(1000))
	items := []string{strings.ToValidUTF8(o.item(), "?")}
	q := o.asMe(http.MethodPost, "/carts", key, url.Values{"items": items})
	a := o.c.send(ctx, o.mark, q)
	o.noteCart(q, "carts "+key, items, a)
}

func (o *customer) noteCart(q request, key string, items []string, a answer) {
	var in struct {
		ID    int64
		Items []string
	}
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		o.lost = true
		return
	}
	if err := json.Unmarshal(a.body, &in); err != nil || a.status != http.StatusCreated && a.status != http.StatusOK {
		return
	}
	if was, known := o.keys[key]; known && (was.id != in.ID || was.sent != string(q.body)) {
		o.c.broken(brokenAnswer, "the key made %d of %q, and now %d: %s", was.id, was.sent, in.ID, o.c.curl(q))
	} else if known {
		return // a replay; the cart may have been changed since
	}
	if !slices.Equal(in.Items, items) {
		o.c.broken(brokenAnswer, "%q: %s", in.Items, o.c.curl(q))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys[key] = keyed{string(q.body), in.ID}
	o.carts[in.ID] = items
}

// someID draws an id of the customer's.
func (o *customer) someID(carts bool) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []int64
	for id := range o.carts {
		if carts {
			all = append(all, id)
		}
	}
	for id := range o.orders {
		if !carts {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return pick(o.r, all)
}

// change writes into one of its own carts, and tries one of the other customer's.
func (o *customer) change(ctx context.Context) {
	items := []string{strings.ToValidUTF8(o.item(), "?"), "second"}
	if id := o.other.someID(true); id != 0 {
		q := o.asMe(http.MethodPut, fmt.Sprintf("/carts/%d", id), fmt.Sprint("evil", o.r.Int64()), url.Values{"items": items, "tenant": {o.other.name}})
		o.c.must(q, o.c.send(ctx, o.mark, q), brokenTaken, http.StatusNotFound, http.StatusBadRequest)
	}
	if id := o.someID(true); id != 0 {
		q := o.asMe(http.MethodPut, fmt.Sprintf("/carts/%d", id), fmt.Sprint("u", o.r.Int64()), url.Values{"items": items})
		a := o.c.send(ctx, o.mark, q)
		o.noteCart(q, fmt.Sprint("u", o.r.Int64()), items, a)
	}
}

// look reads rows, its own, the other's, and nobody's.
func (o *customer) look(ctx context.Context) {
	for _, carts := range []bool{true, false} {
		base := map[bool]string{true: "/carts/", false: "/orders/"}[carts]
		if id := o.other.someID(carts); id != 0 {
			q := o.asMe(http.MethodGet, fmt.Sprint(base, id), "", nil)
			o.c.must(q, o.c.send(ctx, o.mark, q), brokenTaken, http.StatusNotFound)
		}
		if id := o.someID(carts); id != 0 {
			q := o.asMe(http.MethodGet, fmt.Sprint(base, id), "", nil)
			o.c.must(q, o.c.send(ctx, o.mark, q), brokenRefused, http.StatusOK)
		}
		q := o.asMe(pick(o.r, []string{http.MethodGet, http.MethodPut, http.MethodDelete}), base+pick(o.r, ids), "strange", url.Values{"items": {o.mark}})
		if a := o.c.send(ctx, o.mark, q); a.ok() {
			o.c.broken(brokenTaken, "%d: %s", a.status, o.c.curl(q))
		}
	}
}

// forged sends keys of the API that are nobody's.
func (o *customer) forged(ctx context.Context) {
	q := pick(o.r, []request{o.asMe(http.MethodPost, "/orders", "f", url.Values{"item": {"evil"}, "amount": {"1"}, "card": {"ok"}}), o.asMe(http.MethodPost, "/carts", "f", url.Values{"items": {"evil"}}), o.asMe(http.MethodGet, "/orders/1", "", nil)})
	q.header["Authorization"] = pick(o.r, [][]string{nil, {""}, {"Bearer"}, {"Bearer sk_ad"}, {"bearer sk_ada"}, {"Bearer sk_ada\xff"}, {"Bearer sk_ADA"}, {"Basic c2tfYWRhOg=="}, {"Bearer sk_root", "Bearer sk_ada"}, {"Bearer " + strings.Repeat("s", 30_000)}})
	if a := o.c.send(ctx, o.mark, q); a.ok() {
		o.c.broken(brokenTaken, "%d: %s", a.status, o.c.curl(q))
	}
}

// notice sends what only the bank may.
func (o *customer) notice(ctx context.Context) {
	q := jsonOf(http.MethodPost, "/bank/notices", map[string]any{"id": 1, "reference": o.mark, "amount": 1})
	q.header["Bank-Secret"] = pick(o.r, [][]string{nil, {""}, {"x"}, {strings.Repeat("A", 26)}, {"x", "y"}})
	o.c.must(q, o.c.send(ctx, o.mark, q), brokenTaken, http.StatusForbidden)
}

// badKeys sends keys that are none, and bodies that are too large.
func (o *customer) badKeys(ctx context.Context) {
	q := o.asMe(http.MethodPost, pick(o.r, []string{"/orders", "/carts"}), "", url.Values{"item": {"evil"}, "items": {"evil"}, "amount": {"1"}, "card": {"ok"}})
	q.header["Idempotency-Key"] = pick(o.r, [][]string{nil, {""}, {`""`}, {strings.Repeat("k", 256)}, {strings.Repeat("k", 60_000)}, {"a", "b"}, {`"a`}, {`"a", "b"`}})
	if chance(o.r, 3) {
		q.header["Idempotency-Key"] = []string{fmt.Sprint("big", o.r.Int64())}
		q.body = []byte("items=evil&item=evil&amount=1&card=ok&x=" + strings.Repeat("x", 65<<10))
	}
	if a := o.c.send(ctx, o.mark, q); a.ok() {
		o.c.broken(brokenTaken, "%d: %s", a.status, o.c.curl(q))
	}
}

package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// What the client sends, and what it reads.
type (
	orderParams struct {
		stripe.Params `form:"*"`
		Item          *string `form:"item"`
		Amount        *int64  `form:"amount"`
		Card          *string `form:"card"`
	}
	cartParams struct {
		stripe.Params `form:"*"`
		Items         *string `form:"items"`
	}
	row struct {
		stripe.APIResource
		ID       int64 `json:"id"`
		ChargeID int64 `json:"charge_id"`
	}
)

const (
	clientOrders = 60
	clientCarts  = 14
	clients      = 12
)

// A public client, Stripe's, which makes an Idempotency-Key for each call and retries by itself, orders
// through a proxy that cuts connections before, during and after the request and the answer: 60 orders have
// every pair of a first and a second cut. Each is charged once, and the client has each order's answer. (Go's
// own transport retries a request with this header, too, on a connection that was used before.)
func TestPublicClient(t *testing.T) {
	db := dbtest.Open(t)
	with(t, db, Config{}, func(ctx context.Context, w World) {
		orders, carts := make([]row, clientOrders), make([]row, clientCarts)
		proxy, numbers := buy(t, w, false, orders, carts)
		proxy.mu.Lock()
		defer proxy.mu.Unlock()
		for c := never; c < cuts; c++ {
			if proxy.made[c] < 5 {
				t.Errorf("there were %d cuts of the kind %d", proxy.made[c], c)
			}
		}
		t.Logf("requests by cut: %v", proxy.made)
		check(ctx, t, w, orders, carts, numbers)
	})
}

// The control: the same cuts charge more than once when the attempts of a call have different keys.
func TestPublicClientWithoutKeys(t *testing.T) {
	db := dbtest.Open(t)
	with(t, db, Config{}, func(_ context.Context, w World) {
		orders := make([]row, 14)
		buy(t, w, true, orders, nil)
		// The shop finishes what it was asked for although nobody waits.
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			n := count(t, db, "SELECT COUNT(*) FROM bank_charge")
			return n > len(orders), fmt.Sprintf("%d charges for %d calls", n, len(orders))
		})
	})
}

// buy makes the calls, through a proxy that cuts the nth key's first attempts.
func buy(t *testing.T, w World, spoil bool, orders, carts []row) (proxy *cutter, numbers map[string]int) {
	t.Helper()
	numbers = map[string]int{} // of a key, in the order in which they come; the proxy's lock guards it
	proxy = newCutter(t, strings.TrimPrefix(w.URL, "http://"), spoil, func(key string, attempt int) cut {
		n, known := numbers[key]
		if !known {
			n = len(numbers)
			numbers[key] = n
		}
		switch attempt {
		case 0:
			return cut(n) % cuts
		case 1:
			return cut(n) / cuts % cuts
		}
		return never
	})
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: stripe.String(proxy.url()), MaxNetworkRetries: stripe.Int64(12), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	var g errgroup.Group
	g.SetLimit(clients)
	for i := range orders {
		g.Go(func() error {
			p := &orderParams{Item: stripe.String(fmt.Sprint("item ", i)), Amount: stripe.Int64(int64(100 + i)), Card: stripe.String(bank.OK)}
			return backend.Call(http.MethodPost, "/orders", "sk_ada", p, &orders[i])
		})
	}
	for i := range carts {
		g.Go(func() error {
			p := &cartParams{Items: stripe.String(fmt.Sprint("item ", i))}
			return backend.Call(http.MethodPost, "/carts", "sk_bob", p, &carts[i])
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	return proxy, numbers
}

// check holds the answers against the tables.
func check(ctx context.Context, t *testing.T, w World, orders, carts []row, keys map[string]int) {
	t.Helper()
	if len(keys) != len(orders)+len(carts) {
		t.Errorf("the client sent %d keys for %d calls", len(keys), len(orders)+len(carts))
	}
	seen := map[int64]bool{}
	for i, o := range orders {
		if o.ID == 0 || o.ChargeID == 0 || seen[o.ID] {
			t.Errorf("call %d has the order %d, charge %d", i, o.ID, o.ChargeID)
		}
		seen[o.ID] = true
		n := count(t, w.DB, `SELECT COUNT(*) FROM customer_order o JOIN bank_charge b ON b.reference = o.reference AND b.amount = o.amount
WHERE o.id = ? AND o.charge_id = b.id AND b.id = ? AND o.item = ? AND o.status = 'paid' AND o.tenant = 'ada'`, o.ID, o.ChargeID, fmt.Sprint("item ", i))
		if n != 1 {
			t.Errorf("call %d: %d rows are order %d with charge %d", i, n, o.ID, o.ChargeID)
		}
	}
	for _, c := range carts {
		if c.ID == 0 || seen[-c.ID] {
			t.Errorf("a call has the cart %d", c.ID)
		}
		seen[-c.ID] = true
	}
	for query, want := range map[string]int{
		`SELECT COUNT(*) FROM bank_charge`:                          len(orders),
		`SELECT COUNT(*) FROM customer_order`:                       len(orders),
		`SELECT COUNT(*) FROM cart`:                                 len(carts),
		`SELECT COUNT(*) FROM message WHERE queue = 'carts'`:        len(carts),
		`SELECT COUNT(*) FROM onerow_key`:                           len(keys),
		`SELECT COUNT(*) FROM onerow_key WHERE status = 'complete'`: len(keys),
		`SELECT COUNT(*) FROM (SELECT reference FROM bank_charge GROUP BY reference HAVING COUNT(*) > 1) AS d`: 0,
	} {
		if n := count(t, w.DB, query); n != want {
			t.Errorf("%d, not %d: %s", n, want, query)
		}
	}
	if m, err := keyadmin.Measure(ctx, w.DB, w.Keys); err != nil || m.InProgress+m.Errored != 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

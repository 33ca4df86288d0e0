package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// call sends a request and decodes the answer into dest unless that is nil.
func call(ctx context.Context, method, url, key, body string, dest any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer sk_ada")
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(res.Body)
	if err == nil && dest != nil {
		err = json.Unmarshal(text, dest)
	}
	return res.StatusCode, errors.Join(err, res.Body.Close())
}

// mix are cards that bring every answer of the bank.
var mix = []string{bank.OK, bank.OK, bank.Declined, bank.Late, bank.OK, bank.Cut, bank.Lost, bank.OK, bank.Fails, bank.OK}

// A bank that does anything: each order is sent until it has a final answer, what is unclear is
// resolved by an operator who races with the bank's late notices. Every order ends, with one charge or,
// declined, none.
func TestAnyCard(t *testing.T) {
	db := dbtest.Open(t)
	with(t, db, Config{ChargeTime: 4 * time.Second}, func(ctx context.Context, w World) {
		const orders = 30
		statuses := make([]int, orders)
		for round := 0; ; round++ {
			var g errgroup.Group
			for i := range orders {
				if statuses[i] == http.StatusCreated || statuses[i] == http.StatusPaymentRequired {
					continue
				}
				g.Go(func() (err error) {
					statuses[i], err = call(ctx, http.MethodPost, w.URL+"/orders", fmt.Sprint("key-", i), fmt.Sprintf("item=n%d&amount=5&card=%s", i, mix[i%len(mix)]), nil)
					return err
				})
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
			entries, err := w.Shop.Attention(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 && len(entries) == 0 {
				t.Error("no answer was unclear")
			}
			for _, e := range entries {
				if _, err := w.Shop.Resolve(ctx, "olga", e); err != nil && !errors.Is(err, keyadmin.ErrChanged) {
					t.Fatal(err)
				}
			}
			if open := count(t, db, `SELECT COUNT(*) FROM customer_order WHERE status NOT IN ('paid', 'declined')`); open == 0 {
				break
			}
			if round == 10 {
				t.Fatalf("after %d rounds: %v", round, statuses)
			}
		}
		paid := count(t, db, `SELECT COUNT(*) FROM customer_order WHERE status = 'paid'`)
		one := count(t, db, `SELECT COUNT(*) FROM customer_order o WHERE status = 'paid' AND (SELECT COUNT(*) FROM bank_charge b WHERE b.reference = o.reference) = 1`)
		all := count(t, db, `SELECT COUNT(*) FROM bank_charge`)
		if paid == 0 || paid == orders || one != paid || all != paid {
			t.Errorf("%d of %d orders are paid, %d with one charge, there are %d charges", paid, orders, one, all)
		}
	})
}

// The worker of -serve validates the carts that clients make and change, in whatever order the messages come.
func TestWorker(t *testing.T) {
	db := dbtest.Open(t)
	with(t, db, Config{}, func(ctx context.Context, w World) {
		var cart struct {
			ID     int64  `json:"id"`
			Status string `json:"status"`
			Total  int64  `json:"total"`
		}
		for i := range 3 {
			if status, err := call(ctx, http.MethodPost, w.URL+"/carts", fmt.Sprint("c", i), "items=shoe", &cart); status != http.StatusCreated || err != nil {
				t.Fatal(status, err)
			}
			if status, err := call(ctx, http.MethodPut, fmt.Sprintf("%s/carts/%d", w.URL, cart.ID), fmt.Sprint("d", i), "items=shoe&items=hat", nil); status != http.StatusOK || err != nil {
				t.Fatal(status, err)
			}
		}
		for n := 1; n > 0; {
			var err error
			if n, err = carts.RunOnce(ctx, w.DB, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		}
		if status, err := call(ctx, http.MethodGet, fmt.Sprintf("%s/carts/%d", w.URL, cart.ID), "", "", &cart); status != http.StatusOK || err != nil || cart.Status != "valid" || cart.Total < 200 {
			t.Errorf("%d %v %+v", status, err, cart)
		}
		if status, err := call(ctx, http.MethodPut, w.URL+"/carts/4711", "e", "items=shoe", nil); status != http.StatusNotFound || err != nil {
			t.Errorf("the change of a cart that is not there: %d %v", status, err)
		}
		if n := count(t, db, `SELECT COUNT(*) FROM onerow_flow`); n != 0 {
			t.Errorf("%d flows still run", n)
		}
	})
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// A cart is changed while its validation waits for the prices. The change is committed, its message is still
// in the queue, and the old run's answer comes: it is stale, the cart stays open, and no mail has the old
// total.
func TestChangedCart(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.Isolation(level))
			with(t, db, Config{}, func(ctx context.Context, w World) {
				var cart store.Cart
				if status, err := call(ctx, http.MethodPost, w.URL+"/carts", "c1", `items=pen`, &cart); status != http.StatusCreated || err != nil {
					t.Fatal(status, err)
				}
				m1 := must(store.Due(ctx, db, store.QueueCarts, 1))[0]
				taken := must(carts.Take(ctx, w.DB, m1))
				url := fmt.Sprintf("%s/carts/%d", w.URL, cart.ID)
				if status, err := call(ctx, http.MethodPut, url, "c2", `items=pen&items=piano`, nil); status != http.StatusOK || err != nil {
					t.Fatal(status, err)
				}

				var q carts.Question
				if err := json.Unmarshal([]byte(must(store.MessageByID(ctx, db, taken.Question)).Body), &q); err != nil {
					t.Fatal(err)
				}
				if _, err := carts.Answered(ctx, w.DB, q.Step, carts.Price(q.Items)); !errors.Is(err, flow.ErrSuperseded) {
					t.Errorf("the old run's answer: %v", err)
				}
				if got := must(store.CartByID(ctx, db, cart.ID)); got.Status != store.CartOpen || got.Total != 0 {
					t.Errorf("%+v", got)
				}
				for n := 1; n > 0; {
					n = must(carts.RunOnce(ctx, w.DB, slog.New(slog.DiscardHandler)))
				}
				got, want := must(store.CartByID(ctx, db, cart.ID)), carts.Price([]string{"pen", "piano"})
				if got.Status != store.CartValid || got.Total != want {
					t.Errorf("%+v, its items cost %d", got, want)
				}
				mail := fmt.Sprintf("cart %d costs %d cents", cart.ID, want)
				if all, right := count(t, db, "SELECT COUNT(*) FROM message WHERE queue = 'mail'"), count(t, db, "SELECT COUNT(*) FROM message WHERE queue = 'mail' AND body = ?", mail); all != 1 || right != 1 {
					t.Errorf("%d mails, %d of them right", all, right)
				}
			})
		})
	}
}

// Somebody else's cart is neither changed nor is its validation ended.
func TestNotTheirCart(t *testing.T) {
	db := dbtest.Open(t)
	with(t, db, Config{}, func(ctx context.Context, w World) {
		c := must(store.InsertCart(ctx, db, "bob", []string{"pen"}))
		r := flow.Run{Flow: fmt.Sprint("cart/", c.ID), RequestID: "bob's"}
		must(flow.Claim(ctx, db, r))
		if status, err := call(ctx, http.MethodPut, fmt.Sprintf("%s/carts/%d", w.URL, c.ID), "c", `items=piano`, nil); status != http.StatusNotFound || err != nil {
			t.Fatal(status, err)
		}
		if owners := must(flow.Owners(ctx, db, r.Flow)); len(owners) != 1 || owners[0].Run != r {
			t.Errorf("%+v", owners)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM message"); n != 0 {
			t.Errorf("%d messages", n)
		}
	})
}

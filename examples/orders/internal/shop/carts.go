package shop

import (
	"crypto/rand"
	"net/http"
	"slices"

	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// writeCart makes a cart, or changes the one of the address, inside of OneCommit: the cart, the message that
// has it validated, the key and the answer commit together. An error rolls the rows back.
func (s *Shop) writeCart(_ http.ResponseWriter, r *http.Request) (status int, body any, err error) {
	ctx, c := r.Context(), store.Cart{Status: store.CartOpen}
	if c.Tenant, c.ID, err = asked(r); err != nil {
		return 0, nil, err
	}
	if c.Items, err = readCart(r); err != nil {
		return 0, nil, err
	}
	tx, err := httpkey.Tx(ctx)
	if err != nil {
		return 0, nil, err
	}
	if c.ID == 0 {
		c, err = carts.Make(ctx, tx, c.Tenant, c.Items, rand.Text())
		return http.StatusCreated, c, err
	}
	return http.StatusOK, c, carts.Change(ctx, tx, c, rand.Text())
}

// The longest cart, and the longest name of an item.
const (
	maxItems = 50
	maxItem  = 200
)

func readCart(r *http.Request) ([]string, error) {
	err := r.ParseForm()
	items := r.PostForm["items"]
	if err != nil || len(items) == 0 || len(items) > maxItems || slices.ContainsFunc(items, func(s string) bool { return s == "" || len(s) > maxItem }) {
		return nil, invalid("items must be 1 to %d names of 1 to %d bytes", maxItems, maxItem)
	}
	return items, nil
}

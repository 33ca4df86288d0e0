package shop

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/carts"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// createCart runs inside of OneCommit: the cart, its message, the key and the answer commit together.
func (s *Shop) createCart(w http.ResponseWriter, r *http.Request) error {
	return s.inTx(w, r, http.StatusCreated, func(ctx context.Context, tx *onerow.Tx, customer string, items []string) (store.Cart, error) {
		return carts.Make(ctx, tx, customer, items, rand.Text())
	})
}

// changeCart replaces the items; in the same commit the validation that runs is superseded.
func (s *Shop) changeCart(w http.ResponseWriter, r *http.Request) error {
	_, id, err := s.asked(r)
	if err != nil {
		return err
	}
	return s.inTx(w, r, http.StatusOK, func(ctx context.Context, tx *onerow.Tx, customer string, items []string) (store.Cart, error) {
		c := store.Cart{ID: id, Tenant: customer, Items: items, Status: store.CartOpen}
		return c, carts.Change(ctx, tx, c, rand.Text())
	})
}

// inTx does the work in the middleware's transaction. An error is a 5xx, and all of it is rolled back.
func (s *Shop) inTx(w http.ResponseWriter, r *http.Request, status int, work func(ctx context.Context, tx *onerow.Tx, customer string, items []string) (store.Cart, error)) error {
	customer, err := s.customer(r)
	if err != nil {
		return err
	}
	items, err := readCart(r)
	if err != nil {
		return &failure{status: http.StatusBadRequest, detail: err.Error()}
	}
	tx, err := httpkey.Tx(r.Context())
	if err != nil {
		return err
	}
	c, err := work(r.Context(), tx, customer, items)
	if err == nil {
		s.write(w, r, status, c)
	}
	return err
}

func (s *Shop) showCart(w http.ResponseWriter, r *http.Request) error {
	customer, id, err := s.asked(r)
	if err != nil {
		return err
	}
	c, err := store.CartByID(r.Context(), s.DB, id)
	if err == nil && c.Tenant != customer {
		err = errNoRow
	}
	if err == nil {
		s.write(w, r, http.StatusOK, c)
	}
	return err
}

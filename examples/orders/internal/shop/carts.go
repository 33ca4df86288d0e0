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
func (s *Shop) createCart(w http.ResponseWriter, r *http.Request) {
	s.inTx(w, r, func(ctx context.Context, tx *onerow.Tx, customer string, in cartRequest) (store.Cart, int, error) {
		c, err := carts.Make(ctx, tx, customer, in.Items, rand.Text())
		return c, http.StatusCreated, err
	})
}

// changeCart replaces the items; in the same commit the validation that runs is superseded.
func (s *Shop) changeCart(w http.ResponseWriter, r *http.Request) {
	_, id, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.inTx(w, r, func(ctx context.Context, tx *onerow.Tx, customer string, in cartRequest) (store.Cart, int, error) {
		c := store.Cart{ID: id, Tenant: customer, Items: in.Items, Status: store.CartOpen}
		return c, http.StatusOK, carts.Change(ctx, tx, c, rand.Text())
	})
}

type cartWork func(ctx context.Context, tx *onerow.Tx, customer string, in cartRequest) (store.Cart, int, error)

// inTx does the work in the middleware's transaction. An error is a 5xx, and all of it is rolled back.
func (s *Shop) inTx(w http.ResponseWriter, r *http.Request, work cartWork) {
	ctx := r.Context()
	customer, err := s.customer(r)
	if err != nil {
		s.problem(w, r, http.StatusForbidden, "send your API key", nil)
		return
	}
	in, err := readCart(r)
	if err != nil {
		s.problem(w, r, http.StatusBadRequest, err.Error(), nil)
		return
	}
	tx, err := httpkey.Tx(ctx)
	if err != nil {
		s.problem(w, r, http.StatusInternalServerError, "the cart has no transaction", err)
		return
	}
	c, status, err := work(ctx, tx, customer, in)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	s.write(w, r, status, c)
}

func (s *Shop) showCart(w http.ResponseWriter, r *http.Request) {
	customer, id, ok := s.asked(w, r)
	if !ok {
		return
	}
	c, err := store.CartByID(r.Context(), s.DB, id)
	if err == nil && c.Tenant != customer {
		err = store.ErrNotFound
	}
	if err != nil {
		s.missing(w, r, err)
		return
	}
	s.write(w, r, http.StatusOK, c)
}

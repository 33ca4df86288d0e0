package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// createOrder runs inside of TwoStep: its status says what becomes of the key.
func (s *Shop) createOrder(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	claim, err := httpkey.Claim(ctx)
	if err != nil {
		s.problem(w, r, http.StatusInternalServerError, "the order has no claim", err)
		return
	}
	in, err := readOrder(r)
	if err != nil {
		s.problem(w, r, http.StatusBadRequest, err.Error(), nil)
		return
	}
	o, err := store.Begin(ctx, s.DB, s.Keys, claim, store.Order{Item: in.Item, Amount: in.Amount, Card: in.Card})
	if errors.Is(err, store.ErrOther) { // the middleware no longer knows what the key was for; the order's row does
		httpkey.NotDone(ctx)
		s.problem(w, r, http.StatusUnprocessableEntity, "this key was used for another order", nil)
		return
	}
	if err != nil { // the bank was not asked; if the row was written all the same, the next request finds it
		httpkey.NotDone(ctx)
		s.later(w, r, "the order cannot be written; send it again", err)
		return
	}
	if o.Status != store.Paid {
		if o, err = s.pay(ctx, o, patience(r, s.ChargeTime)); errors.Is(err, errNotReached) {
			httpkey.NotDone(ctx)
		}
		if serr := store.Settle(ctx, s.DB, s.Keys, claim, o); serr != nil && !errors.Is(err, errNotReached) {
			s.problem(w, r, http.StatusInternalServerError, "what became of the charge cannot be written; it is looked into", serr)
			return
		}
	}
	switch o.Status {
	case store.Paid:
		s.writeOrder(w, r, o)
	case store.Declined:
		s.write(w, r, http.StatusPaymentRequired, o)
	case store.NotCharged:
		s.later(w, r, "the bank cannot be reached; nothing was charged, send the order again", err)
	case store.Charging, store.Unclear:
		s.problem(w, r, http.StatusBadGateway, "the bank gave no clear answer; it is looked into, do not order again", err)
	}
}

// pay charges and says with the order's status what is known.
func (s *Shop) pay(ctx context.Context, o store.Order, patience time.Duration) (store.Order, error) {
	charge, err := s.bank.charge(ctx, o, patience)
	switch {
	case err == nil:
		o.Status, o.ChargeID = store.Paid, charge
	case errors.Is(err, errDeclined):
		o.Status = store.Declined
	case errors.Is(err, errNotReached):
		o.Status = store.NotCharged
	default:
		o.Status = store.Unclear
	}
	return o, err
}

func (s *Shop) later(w http.ResponseWriter, r *http.Request, detail string, cause error) {
	w.Header().Set("Retry-After", "1")
	s.problem(w, r, http.StatusServiceUnavailable, detail, cause)
}

func location(o store.Order) string { return fmt.Sprintf("/orders/%d", o.ID) }

func (s *Shop) writeOrder(w http.ResponseWriter, r *http.Request, o store.Order) {
	w.Header().Set("Location", location(o))
	s.write(w, r, http.StatusCreated, o)
}

// answerOf is writeOrder's answer as it is stored, for an order that is settled later.
func answerOf(o store.Order) (httpkey.Response, error) {
	body, err := json.Marshal(o)
	return httpkey.Response{Status: http.StatusCreated, Body: body, Header: map[string][][]byte{
		"Content-Type": {[]byte("application/json")}, "Location": {[]byte(location(o))},
	}}, err
}

func (s *Shop) showOrder(w http.ResponseWriter, r *http.Request) {
	customer, id, ok := s.asked(w, r)
	if !ok {
		return
	}
	o, err := store.OrderByID(r.Context(), s.DB, id)
	if err == nil && o.Key.Tenant != customer {
		err = store.ErrNotFound
	}
	if err != nil {
		s.missing(w, r, err)
		return
	}
	s.write(w, r, http.StatusOK, o)
}

// asked is who asks for which row.
func (s *Shop) asked(w http.ResponseWriter, r *http.Request) (customer string, id int64, ok bool) {
	customer, err := s.customer(r)
	if err != nil {
		s.problem(w, r, http.StatusForbidden, "send your API key", nil)
		return "", 0, false
	}
	if id, err = strconv.ParseInt(r.PathValue("id"), 10, 64); err != nil {
		s.problem(w, r, http.StatusNotFound, "there is no such row", nil)
		return "", 0, false
	}
	return customer, id, true
}

func (s *Shop) missing(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, store.ErrNotFound) {
		s.problem(w, r, http.StatusNotFound, "there is no such row", nil)
		return
	}
	s.problem(w, r, http.StatusInternalServerError, "it cannot be read", err)
}

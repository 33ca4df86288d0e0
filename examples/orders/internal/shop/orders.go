package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// createOrder runs inside of TwoStep: its status says what becomes of the key.
func (s *Shop) createOrder(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	claim, err := httpkey.Claim(ctx)
	if err != nil {
		return err
	}
	in, err := readOrder(r)
	if err != nil {
		return &failure{status: http.StatusBadRequest, detail: err.Error()}
	}
	o, err := store.Begin(ctx, s.DB, s.Keys, claim, in)
	if errors.Is(err, store.ErrOther) { // the middleware no longer knows what the key was for; the order's row does
		httpkey.NotDone(ctx)
		return &failure{status: http.StatusUnprocessableEntity, detail: "this key was used for another order"}
	}
	if err != nil { // the bank was not asked; if the row was written all the same, the next request finds it
		httpkey.NotDone(ctx)
		return later("the order cannot be written; send it again", err)
	}
	if o.Status != store.Paid {
		if o, err = s.pay(ctx, o, patience(r, s.ChargeTime)); errors.Is(err, errNotReached) {
			httpkey.NotDone(ctx)
		}
		if serr := store.Settle(ctx, s.DB, s.Keys, claim, o); serr != nil && !errors.Is(err, errNotReached) {
			return &failure{status: http.StatusInternalServerError, detail: "what became of the charge cannot be written; it is looked into", cause: serr}
		}
	}
	switch o.Status {
	case store.Paid:
		w.Header().Set("Location", location(o))
		s.write(w, r, http.StatusCreated, o)
	case store.Declined:
		s.write(w, r, http.StatusPaymentRequired, o)
	case store.NotCharged:
		return later("the bank cannot be reached; nothing was charged, send the order again", err)
	case store.Charging, store.Unclear:
		return &failure{status: http.StatusBadGateway, detail: "the bank gave no clear answer; it is looked into, do not order again", cause: err}
	}
	return nil
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

func location(o store.Order) string { return fmt.Sprintf("/orders/%d", o.ID) }

// answerOf is createOrder's answer as it is stored, for an order that is settled later.
func answerOf(o store.Order) (httpkey.Response, error) {
	body, err := json.Marshal(o)
	return httpkey.Response{Status: http.StatusCreated, Body: body, Header: map[string][][]byte{
		"Content-Type": {[]byte("application/json")}, "Location": {[]byte(location(o))},
	}}, err
}

func (s *Shop) showOrder(w http.ResponseWriter, r *http.Request) error {
	customer, id, err := s.asked(r)
	if err != nil {
		return err
	}
	o, err := store.OrderByID(r.Context(), s.DB, id)
	if err == nil && o.Key.Tenant != customer {
		err = errNoRow
	}
	if err == nil {
		s.write(w, r, http.StatusOK, o)
	}
	return err
}

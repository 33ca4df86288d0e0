package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency/httpkey"
)

// createOrder runs inside of TwoStep: its status says what becomes of the key.
func (s *Shop) createOrder(w http.ResponseWriter, r *http.Request) (status int, body any, err error) {
	ctx := r.Context()
	claim, err := httpkey.Claim(ctx)
	if err != nil {
		return 0, nil, err
	}
	in, err := readOrder(r)
	if err != nil {
		return 0, nil, err
	}
	o, err := store.Begin(ctx, s.DB, s.Keys, claim, in)
	if err != nil { // the bank was not asked; if the row was written all the same, the next request finds it
		httpkey.NotDone(ctx)
		if errors.Is(err, store.ErrOther) { // the middleware no longer knows what the key was for; the order's row does
			return 0, nil, &failure{status: http.StatusUnprocessableEntity, detail: "this key was used for another order"}
		}
		return 0, nil, &failure{http.StatusServiceUnavailable, "the order cannot be written; send it again", err}
	}
	if o.Status != store.Paid {
		if o, err = s.charge(ctx, o, patience(r, s.ChargeTime)); o.Status == store.NotCharged {
			httpkey.NotDone(ctx)
		}
		if serr := store.Settle(ctx, s.DB, s.Keys, claim, o); serr != nil && o.Status != store.NotCharged {
			return 0, nil, &failure{http.StatusInternalServerError, "what became of the charge cannot be written; it is looked into", serr}
		}
	}
	switch o.Status {
	case store.Paid:
		w.Header().Set("Location", location(o))
		return http.StatusCreated, o, nil
	case store.Declined:
		return http.StatusPaymentRequired, o, nil
	case store.NotCharged:
		return 0, nil, &failure{http.StatusServiceUnavailable, "the bank cannot be reached; nothing was charged, send the order again", err}
	}
	return 0, nil, &failure{http.StatusBadGateway, "the bank gave no clear answer; it is looked into, do not order again", err}
}

func location(o store.Order) string { return fmt.Sprintf("/orders/%d", o.ID) }

// answerOf is createOrder's answer as it is stored, for an order that is settled later.
func answerOf(o store.Order) (httpkey.Response, error) {
	body, err := json.Marshal(o)
	return httpkey.Response{Status: http.StatusCreated, Body: append(body, '\n'), Header: map[string][][]byte{
		"Content-Type": {[]byte("application/json")}, "Location": {[]byte(location(o))},
	}}, err
}

// maxAmount is in cents.
const maxAmount = 100_000_000

func readOrder(r *http.Request) (store.Order, error) {
	amount, err := strconv.ParseInt(r.PostFormValue("amount"), 10, 64)
	o := store.Order{Item: r.PostFormValue("item"), Amount: amount, Card: r.PostFormValue("card")}
	switch {
	case o.Item == "" || len(o.Item) > maxItem || !utf8.ValidString(o.Item):
		return o, invalid("item must have 1 to %d bytes", maxItem)
	case err != nil || amount < 1 || amount > maxAmount:
		return o, invalid("amount must be 1 to %d cents", maxAmount)
	case !slices.Contains(bank.Cards(), o.Card):
		return o, invalid("card must be one of %s", strings.Join(bank.Cards(), ", "))
	}
	return o, nil
}

// patience is how long the client wants to wait at most, as the header "Prefer: wait=3" says (RFC 7240), no
// longer than limit.
func patience(r *http.Request, limit time.Duration) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimPrefix(r.Header.Get("Prefer"), "wait="))
	if err != nil || seconds < 1 || seconds > int(limit/time.Second) {
		return limit
	}
	return time.Duration(seconds) * time.Second
}

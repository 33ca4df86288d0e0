package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
)

// charge asks for a charge, waits for the answer for at most patience, and says with the order's status what
// is known then. The error says why nothing was charged, or that may be so.
func (s *Shop) charge(ctx context.Context, o store.Order, patience time.Duration) (store.Order, error) {
	form := url.Values{"reference": {o.Reference}, "amount": {strconv.FormatInt(o.Amount, 10)}, "card": {o.Card}}
	var c bank.Charge
	status, err := s.ask(ctx, http.MethodPost, "/charges", form, patience, &c)
	switch o.Status = store.Unclear; {
	case notReached(err):
		o.Status = store.NotCharged
	case err != nil:
	case status == http.StatusPaymentRequired:
		o.Status = store.Declined
	case status != http.StatusCreated || c.ID == 0:
		err = fmt.Errorf("shop: the bank answers %d", status)
	case c.Amount != o.Amount:
		err = errAmount(c, o)
	default:
		o.Status, o.ChargeID = store.Paid, c.ID
	}
	return o, err
}

// errAmount is for a human, whoever finds it.
func errAmount(c bank.Charge, o store.Order) error {
	return fmt.Errorf("shop: the bank's charge %d is of %d cents, order %d of %d", c.ID, c.Amount, o.ID, o.Amount)
}

// notReached says that there was no connection, so nothing was sent. Every other error may mean that the
// request arrived and the answer was lost.
func notReached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// charges returns what the bank has for a reference.
func (s *Shop) charges(ctx context.Context, reference string, patience time.Duration) (all []bank.Charge, err error) {
	status, err := s.ask(ctx, http.MethodGet, "/charges?reference="+url.QueryEscape(reference), nil, patience, &all)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it answers %d", status)
	}
	if err != nil {
		return nil, fmt.Errorf("shop: the bank cannot be asked for its charges: %w", err)
	}
	return all, nil
}

// ask sends a request and decodes an answer of 2xx.
func (s *Shop) ask(ctx context.Context, method, path string, form url.Values, patience time.Duration, v any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.Bank+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, body, err := connect.Send(&s.client, req)
	switch {
	case err != nil:
		return 0, err
	case res.StatusCode >= http.StatusMultipleChoices:
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(body, v)
}

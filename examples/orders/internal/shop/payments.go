package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
)

// What the bank's client answers beside a charge. Any other error is unclear: there may be a charge.
var (
	errNotReached = errors.New("shop: the bank was not reached")
	errDeclined   = errors.New("shop: the bank declines the card")
)

// payments is the bank's client. It never asks for a charge twice by itself.
type payments struct {
	url  string
	http *http.Client
}

// newPayments: each charge has a connection of its own, so a connection that breaks before anything was
// sent is always seen as what it is, a failure to connect.
func newPayments(address string) payments {
	return payments{address, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

const maxAnswer = 1 << 20

// charge asks for a charge and waits for the answer for at most patience.
func (p payments) charge(ctx context.Context, o store.Order, patience time.Duration) (id int64, err error) {
	body, err := json.Marshal(bank.Request{Reference: o.Reference, Amount: o.Amount, Card: o.Card})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNotReached, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/charges", bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNotReached, err)
	}
	req.Header.Set("Content-Type", "application/json")
	var c bank.Charge
	status, err := p.do(req, &c)
	switch {
	case notReached(err):
		return 0, fmt.Errorf("%w: %w", errNotReached, err)
	case err != nil:
		return 0, fmt.Errorf("shop: it is not known whether the bank has charged: %w", err)
	case status == http.StatusPaymentRequired:
		return 0, errDeclined
	case status != http.StatusCreated || c.ID == 0:
		return 0, fmt.Errorf("shop: it is not known whether the bank has charged: it answers %d", status)
	case c.Amount != o.Amount:
		return 0, errAmount(c, o)
	}
	return c.ID, nil
}

// errAmount: it is for a human, whoever finds it.
func errAmount(c bank.Charge, o store.Order) error {
	return fmt.Errorf("shop: the bank's charge %d is of %d cents, order %d of %d", c.ID, c.Amount, o.ID, o.Amount)
}

// notReached: there was no connection, so nothing was sent. Every other error may mean that the
// request arrived and the answer was lost.
func notReached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// charges are what the bank has for a reference.
func (p payments) charges(ctx context.Context, reference string, patience time.Duration) (all []bank.Charge, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/charges?reference="+url.QueryEscape(reference), http.NoBody)
	if err != nil {
		return nil, err
	}
	status, err := p.do(req, &all)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it answers %d", status)
	}
	if err != nil {
		return nil, fmt.Errorf("shop: the bank cannot be asked for its charges: %w", err)
	}
	return all, nil
}

// do sends a request and decodes an answer of 2xx.
func (p payments) do(req *http.Request, v any) (status int, err error) {
	res, err := p.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		return res.StatusCode, err
	}
	return res.StatusCode, json.Unmarshal(body, v)
}

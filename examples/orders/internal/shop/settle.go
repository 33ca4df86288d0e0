package shop

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/bank"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// operatorTime is how long an operator waits for the bank.
const operatorTime = 10 * time.Second

// Attention lists the keys that wait for a human. One statement.
func (s *Shop) Attention(ctx context.Context) ([]idempotency.Entry, error) {
	return keyadmin.List(ctx, s.DB, keyadmin.ListOptions{Status: idempotency.Failed, Waiting: true})
}

// Resolve ends a key that waits for a human, by what the bank has: with a charge the order is paid and the
// key complete, without one the order is not charged and the key free. It returns the order as it is then.
// keyadmin.ErrChanged: the key is not as it was seen, and nothing was changed.
func (s *Shop) Resolve(ctx context.Context, actor string, seen idempotency.Entry) (store.Order, error) {
	reference, err := store.Reference(seen.Key)
	if err != nil {
		return store.Order{}, err
	}
	o, err := store.OrderByReference(ctx, s.DB, reference)
	if err != nil {
		return o, err
	}
	charges, err := s.charges(ctx, reference, operatorTime)
	switch {
	case err != nil:
		return o, err
	case len(charges) > 1:
		return o, fmt.Errorf("shop: the bank has %d charges for order %d", len(charges), o.ID)
	case len(charges) == 1:
		return s.settle(ctx, actor, "the bank has a charge", seen, o, charges[0])
	}
	return s.settle(ctx, actor, "the bank has no charge", seen, o, bank.Charge{})
}

// settle ends a key and its order in one transaction: with a charge as if the request had been answered in
// time, without one the key is free again. The key comes first, as in the request's own transactions. A
// charge of another amount settles nothing.
func (s *Shop) settle(ctx context.Context, actor, reason string, seen idempotency.Entry, o store.Order, charge bank.Charge) (store.Order, error) {
	operator, err := keyadmin.NewOperator(s.Keys, actor, reason)
	if err != nil {
		return o, err
	}
	o.Status, o.ChargeID = store.NotCharged, charge.ID
	end := func(ctx context.Context, tx *onerow.Tx) error { return operator.Release(ctx, tx, seen) }
	if charge.ID != 0 {
		if charge.Amount != o.Amount {
			return o, errAmount(charge, o)
		}
		o.Status = store.Paid
		answer, err := answerOf(o)
		if err != nil {
			return o, err
		}
		end = func(ctx context.Context, tx *onerow.Tx) error { return operator.Complete(ctx, tx, seen, answer) }
	}
	return o, onerow.InTx(ctx, s.DB, func(ctx context.Context, tx *onerow.Tx) error {
		if err := end(ctx, tx); err != nil {
			return err
		}
		return store.Write(ctx, tx, o)
	})
}

// notice takes the bank's late answers. While the request still waits for the answer itself, or something
// goes wrong, the bank is told to come again; what is already settled is a no-op.
func (s *Shop) notice(_ http.ResponseWriter, r *http.Request) (status int, body any, err error) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(bank.SecretHeader)), []byte(s.Secret)) != 1 {
		return 0, nil, &failure{status: http.StatusForbidden, detail: "this is for the bank"}
	}
	var c bank.Charge
	if err := json.NewDecoder(io.LimitReader(r.Body, maxRequest)).Decode(&c); err != nil || c.ID <= 0 {
		return 0, nil, invalid("not a notice")
	}
	settled, err := s.late(r.Context(), c)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		err = &failure{http.StatusServiceUnavailable, "the notice cannot be taken now", err}
	case err == nil && !settled:
		err = &failure{status: http.StatusServiceUnavailable, detail: "the order still waits for its answer"}
	}
	return http.StatusOK, c, err
}

func (s *Shop) late(ctx context.Context, c bank.Charge) (settled bool, err error) {
	o, err := store.OrderByReference(ctx, s.DB, c.Reference)
	if err != nil || o.Status == store.Paid && o.ChargeID == c.ID {
		return err == nil, err
	}
	seen, err := keyadmin.Find(ctx, s.DB, o.Key)
	if err != nil || !seen.Attention {
		return false, err
	}
	if o, err = s.settle(ctx, "bank", "a late answer", seen, o, c); err != nil {
		return false, err
	}
	s.Log.InfoContext(ctx, "shop: a late answer settled an order", "order", o.ID, "charge", c.ID)
	return true, nil
}

package carts

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

const batch = 20

// Run works the queues until ctx ends, and then returns nil. It may run in several processes: a message that
// two of them take is a redelivery. A message that fails is delivered again.
func (v *Validator) Run(ctx context.Context, poll time.Duration, log *slog.Logger) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		n, err := v.RunOnce(ctx, log)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "carts: the queues cannot be worked", "error", err)
		}
		if n > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// RunOnce works what is due and returns how many messages that was. One that fails does not stop the others.
func (v *Validator) RunOnce(ctx context.Context, log *slog.Logger) (n int, err error) {
	for _, queue := range []string{store.QueueCarts, store.QueuePrices, store.QueueMail} {
		messages, derr := store.Due(ctx, v.DB, queue, batch)
		err = errors.Join(err, derr)
		for _, m := range messages {
			werr := v.work(ctx, m, log)
			if werr == nil {
				werr = store.Delivered(ctx, v.DB, m.ID)
			}
			if werr != nil {
				err = errors.Join(err, werr)
				continue
			}
			n++
		}
	}
	return n, err
}

func (v *Validator) work(ctx context.Context, m store.Message, log *slog.Logger) error {
	switch m.Queue {
	case store.QueueCarts:
		raw, err := m.JSON()
		if err != nil {
			return err
		}
		t, err := v.Take(ctx, raw)
		log.DebugContext(ctx, "carts: a message", "flow", t.Run.Flow, "request", t.Run.RequestID, "outcome", t.Outcome, "error", err)
		return err
	case store.QueuePrices:
		var q Question
		if err := json.Unmarshal([]byte(m.Body), &q); err != nil {
			return err
		}
		_, err := v.Answered(ctx, q.Step, Price(q.Items))
		if errors.Is(err, flow.ErrLost) {
			log.InfoContext(ctx, "carts: a stale answer", "step", q.Step, "error", err)
			return nil
		}
		return err
	}
	log.DebugContext(ctx, "carts: mail", "text", m.Body)
	return nil
}

// Price is the price service: 1 to 50 euros for each item, by its name.
func Price(items []string) Prices {
	var p Prices
	for _, item := range items {
		h := fnv.New32a()
		if _, err := h.Write([]byte(item)); err != nil {
			return Prices{} // a hash never fails
		}
		p.Total += 100 + int64(h.Sum32()%4901)
	}
	return p
}

package carts

import (
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/orders/internal/store"
	"github.com/onerow/onerow/flow"
)

const (
	batch = 20
	// poll is how often the idle worker looks at the queues.
	poll = 250 * time.Millisecond
)

// Run works the queues until ctx ends, and then returns nil. It may run in several processes: a message that
// two of them take is a redelivery. A message that fails is delivered again.
func Run(ctx context.Context, db onerow.DB, log *slog.Logger) error {
	for {
		n, err := RunOnce(ctx, db, log)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "carts: the queues cannot be worked", "error", err)
		}
		if n > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(poll):
		}
	}
}

// RunOnce works what is due and returns how many messages that was. One that fails does not stop the others.
func RunOnce(ctx context.Context, db onerow.DB, log *slog.Logger) (n int, err error) {
	for _, queue := range []string{store.QueueCarts, store.QueuePrices, store.QueueMail} {
		messages, derr := store.Due(ctx, db, queue, batch)
		err = errors.Join(err, derr)
		for _, m := range messages {
			werr := work(ctx, db, m, log)
			if werr == nil {
				n++
				werr = store.Delivered(ctx, db, m.ID)
			}
			err = errors.Join(err, werr)
		}
	}
	return n, err
}

func work(ctx context.Context, db onerow.DB, m store.Message, log *slog.Logger) error {
	switch m.Queue {
	case store.QueueCarts:
		t, err := Take(ctx, db, m)
		log.DebugContext(ctx, "carts: a message", "flow", t.Run.Flow, "request", t.Run.RequestID, "outcome", t.Outcome, "error", err)
		return err
	case store.QueuePrices:
		var q Question
		if err := json.Unmarshal([]byte(m.Body), &q); err != nil {
			return err
		}
		_, err := Answered(ctx, db, q.Step, Price(q.Items))
		if errors.Is(err, flow.ErrLost) {
			log.InfoContext(ctx, "carts: a stale answer", "step", q.Step, "error", err)
			return nil
		}
		return err
	}
	log.DebugContext(ctx, "carts: mail", "text", m.Body)
	return nil
}

// Price is the price service: 1 to 50 euros for each item, by its name. The total is in cents.
func Price(items []string) (total int64) {
	for _, item := range items {
		total += 100 + int64(crc32.ChecksumIEEE([]byte(item))%4901)
	}
	return total
}

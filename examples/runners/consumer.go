package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/ordering"
)

// consumer reads deliveries in one of the two modes, in a process that may die.
type consumer struct {
	name  string
	d     *demo.Database
	guard *ordering.Guard[progress]

	ctx     context.Context // of the process
	process *demo.Process
	deaths  int
	counts  map[ordering.Outcome]int // of the answers that were acknowledged
}

// newConsumer makes a consumer. Keep is for mode Reject: it can then tell a late message
// from a duplicate. First is for mode Hold: it must know where a sequence begins.
func newConsumer(ctx context.Context, d *demo.Database, hold bool) (*consumer, error) {
	config := ordering.Config{Consumer: "reject", Keep: true}
	if hold {
		config = ordering.Config{Consumer: "hold", Hold: true, First: 1}
	}
	guard, err := ordering.New[progress](config)
	if err != nil {
		return nil, err
	}
	c := &consumer{name: config.Consumer, d: d, guard: guard, counts: map[ordering.Outcome]int{}}
	return c, c.start(ctx)
}

func (c *consumer) start(ctx context.Context) (err error) {
	c.ctx, c.process, err = c.d.Start(ctx)
	return err
}

func (c *consumer) close() error { return c.process.Close() }

// answer is what became of a delivery.
type answer struct {
	ordering.Result[progress]
	died bool // before it was acknowledged, so it was delivered twice
}

// deliver hands a ping over until it is acknowledged, as a queue does.
func (c *consumer) deliver(ctx context.Context, p ping, dies death) (answer, error) {
	res, err := c.handle(p, dies)
	died := c.process.Dead()
	if died {
		// The queue has heard nothing. A new process gets the message again.
		c.deaths++
		if err := errors.Join(c.close(), c.start(ctx)); err != nil {
			return answer{}, err
		}
		before := res.Released
		res, err = c.handle(p, never)
		res.Released += before
	}
	if err != nil {
		return answer{}, err
	}
	c.counts[res.Outcome]++
	return answer{res, died}, nil
}

// handle is the consumer: everything for one message, in one transaction.
func (c *consumer) handle(p ping, dies death) (res ordering.Result[progress], err error) {
	m, err := p.message()
	if err != nil {
		return res, err
	}
	written := death(0)
	die := func() error {
		if written == dies {
			return c.process.Die()
		}
		return nil
	}
	res, err = c.guard.Apply(c.ctx, c.process.DB, m, func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *progress) error {
		var p ping
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			return fmt.Errorf("message %d of %s is no ping: %w", m.Sequence, m.Stream, err)
		}
		s.advance(p)
		for _, w := range writes(c.name, p, *s) {
			if err := die(); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, w.query, w.args...); err != nil {
				return err
			}
			written++
		}
		return die()
	})
	if err == nil && dies != never { // committed, and not acknowledged
		err = c.process.Die()
	}
	return res, err
}

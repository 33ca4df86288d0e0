package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/serial"

	"github.com/onerow/onerow/proof/soak/journal"
)

// Series are the series of serial numbers.
var Series = []string{"invoice", "ticket", "coupon"}

// errChangedMind rolls a business transaction back, with its claim.
var errChangedMind = errors.New("the business transaction is not wanted any more")

const insertTicket = `INSERT INTO soak_ticket (series, claim_key, from_no, to_no) VALUES (?, ?, ?, ?)`

// claimSerials draws numbers in a business transaction.
func (c *client) claimSerials(ctx context.Context) error {
	key := c.fresh()
	if c.rand.IntN(100) < 30 {
		key = c.shared(500*time.Millisecond, 4)
	}
	series := c.series[hash("series "+key, len(c.series))]
	amount := int64(hash("amount "+key, 5) + 1)
	changesMind := c.rand.IntN(10) == 0
	_, err := c.call(ctx, journal.Entry{Op: journal.Claim, Resource: series.Name(), Key: key}, true, func(ctx context.Context, e *journal.Entry) error {
		return onerow.InTx(ctx, c.db, func(ctx context.Context, tx *onerow.Tx) error {
			res, err := series.Claim(ctx, tx, key, amount)
			if err != nil {
				return err
			}
			e.Value, e.Changed = Range(res.Row), res.Changed
			if !res.Changed {
				return nil
			}
			if changesMind {
				return errChangedMind
			}
			_, err = tx.ExecContext(ctx, insertTicket, series.Name(), key, res.Row.From, res.Row.To)
			return err
		})
	})
	return err
}

// Range is a range of numbers as the journal has it.
func Range(c serial.Claim) string { return fmt.Sprintf("%d-%d", c.From, c.To) }

// Consumer of the streams.
const Consumer = "soak"

const streams = 6

// Total is a stream's state.
type Total struct{ Sum, Count int64 }

// Amount is what a message carries.
func Amount(sequence int64) int64 { return sequence%7 + 1 }

const insertApplied = `INSERT INTO soak_applied (stream, seq, amount) VALUES (?, ?, ?)`

// applyMessage delivers a message, which others deliver too, early and late.
func (c *client) applyMessage(ctx context.Context) error {
	sequence := max(1, (time.Now().UnixNano()-c.cfg.Began)/int64(60*time.Millisecond)+int64(c.rand.IntN(9))-4)
	m := ordering.Message{Stream: fmt.Sprintf("device-%d", c.rand.IntN(streams)), Sequence: sequence}
	_, err := c.call(ctx, journal.Entry{Op: journal.Apply, Resource: m.Stream, Number: sequence}, true, func(ctx context.Context, e *journal.Entry) error {
		res, err := c.guard.Apply(ctx, c.db, m, func(ctx context.Context, tx *onerow.Tx, m ordering.Message, total *Total) error {
			total.Sum += Amount(m.Sequence)
			total.Count++
			_, err := tx.ExecContext(ctx, insertApplied, m.Stream, m.Sequence, Amount(m.Sequence))
			return err
		})
		e.Changed, e.Value = res.Outcome == ordering.Applied, string(res.Outcome)
		return err
	})
	return err
}

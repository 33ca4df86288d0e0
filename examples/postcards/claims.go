package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/serial"
)

// claims is the shop whose numbers are claimed in the transaction of the purchase.
type claims struct {
	d      *demo.Database
	series *serial.Series
}

// sqlPurchase: by the primary key. The claim has decided already that the transaction is new.
const sqlPurchase = `INSERT INTO purchase (transaction_id, from_no, to_no) VALUES (?, ?, ?)`

// sell is the handler of an event: claim, purchase, COMMIT. drawn is called between the
// claim and the purchase.
func (c claims) sell(ctx context.Context, db onerow.DB, e event, drawn func() error) (s sale, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		got, err := c.series.Claim(ctx, tx, e.transaction, e.amount)
		if err != nil {
			return err
		}
		s = sale{from: got.Row.From, to: got.Row.To, again: got.Replayed}
		if got.Replayed {
			return nil // the purchase was committed with the claim
		}
		if err := drawn(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, sqlPurchase, e.transaction, s.from, s.to)
		return err
	})
	return s, err
}

func nothing() error { return nil }

// deliver hands all events over n times, all at once.
func (c claims) deliver(ctx context.Context, events []event, n int) ([]sale, error) {
	sales := make([]sale, n*len(events))
	start := make(chan struct{})
	all, ctx := errgroup.WithContext(ctx)
	for i := range sales {
		all.Go(func() (err error) {
			<-start
			sales[i], err = c.sell(ctx, c.d.DB, events[i%len(events)], nothing)
			return err
		})
	}
	close(start)
	return sales, all.Wait()
}

// deliverAndDie hands an event to a process that dies, then to another one.
func (c claims) deliverAndDie(ctx context.Context, e event, where death) (s sale, err error) {
	err = die(ctx, c.d, where, func(ctx context.Context, p *demo.Process, drawn func() error) error {
		_, err := c.sell(ctx, p.DB, e, drawn)
		return err
	})
	if err != nil {
		return s, err
	}
	return c.sell(ctx, c.d.DB, e, nothing)
}

// die runs handle in a process that dies where it should, and answers nil when it did.
func die(ctx context.Context, d *demo.Database, where death, handle func(ctx context.Context, p *demo.Process, drawn func() error) error) (err error) {
	alive, p, err := d.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	drawn := nothing
	if where == beforePurchase {
		drawn = p.Die
	}
	switch err := handle(alive, p, drawn); {
	case p.Dead():
		return ctx.Err() // what a dead process answers, nobody hears
	case err != nil:
		return err
	}
	return p.Die()
}

// sqlRefund: by the primary key.
const sqlRefund = `UPDATE purchase SET refunded_at = UTC_TIMESTAMP(6) WHERE transaction_id = ? AND refunded_at IS NULL`

// refund voids the range with the purchase. A late delivery of the event cannot sell it again.
func (c claims) refund(ctx context.Context, e event) error {
	return onerow.InTx(ctx, c.d.DB, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, sqlRefund, e.transaction); err != nil {
			return err
		}
		_, err := c.series.Void(ctx, tx, e.transaction, "refunded")
		return err
	})
}

// report is the gap report of the series. The purchases must agree with it, number by number.
func (c claims) report(ctx context.Context) ([]serial.Finding, error) {
	found, err := c.series.Gaps(ctx, c.d.DB)
	if err != nil {
		return nil, err
	}
	table := serial.Table{Name: "purchase", From: "from_no", To: "to_no", Key: "transaction_id", Voided: "refunded_at"}
	rows, err := table.Gaps(ctx, c.d.DB, "")
	if err == nil && !same(found, rows) {
		err = errors.New("the purchases do not have the numbers of the claims")
	}
	return found, err
}

func (c claims) tableName() string { return "purchase" }

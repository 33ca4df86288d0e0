package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/demo"
	"github.com/onerow/onerow/serial"
)

// plain is the shop with a counter of its own, as one writes it who has not thought of
// races and crashes.
type plain struct{ d *demo.Database }

// The statements of the plain shop; each commits by itself.
const (
	sqlPlainLook = `SELECT from_no, to_no FROM plain_purchase WHERE transaction_id = ?`
	sqlPlainDraw = `UPDATE plain_counter SET next_no = LAST_INSERT_ID(next_no + ?) WHERE name = 'postcards'`
	sqlPlainSell = `INSERT INTO plain_purchase (transaction_id, from_no, to_no) VALUES (?, ?, ?)`
)

// look is the handler's first half: is it sold already?
func (p plain) look(ctx context.Context, db onerow.DB, e event) (s sale, err error) {
	err = onerow.QueryRow(ctx, db, sqlPlainLook, []any{e.transaction}, &s.from, &s.to)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	s.again = err == nil
	return s, err
}

// take is the second half: UPDATE counter, COMMIT, then INSERT.
func (p plain) take(ctx context.Context, db onerow.DB, e event, drawn func() error) (s sale, err error) {
	res, err := db.ExecContext(ctx, sqlPlainDraw, e.amount)
	if err != nil {
		return s, err
	}
	next, err := res.LastInsertId()
	if err != nil {
		return s, err
	}
	if err := drawn(); err != nil {
		return s, err
	}
	s = sale{from: next - e.amount, to: next - 1}
	_, err = db.ExecContext(ctx, sqlPlainSell, e.transaction, s.from, s.to)
	if err == nil {
		return s, nil
	}
	// Another delivery was faster? Then the purchase is there, and these numbers are burned.
	there, lerr := p.look(ctx, db, e)
	if lerr != nil || !there.again {
		return s, errors.Join(err, lerr)
	}
	there.burned = e.amount
	return there, nil
}

func (p plain) sell(ctx context.Context, db onerow.DB, e event, drawn func() error) (sale, error) {
	s, err := p.look(ctx, db, e)
	if err != nil || s.again {
		return s, err
	}
	return p.take(ctx, db, e, drawn)
}

// deliver hands all events over n times. The race is staged, so that each run loses it in the same
// way: all deliveries of an event look before the first of them writes.
func (p plain) deliver(ctx context.Context, events []event, n int) (sales []sale, err error) {
	for _, e := range events {
		looked := make([]sale, n)
		for i := range looked {
			if looked[i], err = p.look(ctx, p.d.DB, e); err != nil {
				return nil, err
			}
		}
		for _, s := range looked {
			if !s.again {
				if s, err = p.take(ctx, p.d.DB, e, nothing); err != nil {
					return nil, err
				}
			}
			sales = append(sales, s)
		}
	}
	return sales, nil
}

func (p plain) deliverAndDie(ctx context.Context, e event, where death) (s sale, err error) {
	err = die(ctx, p.d, where, func(ctx context.Context, process *demo.Process, drawn func() error) error {
		_, err := p.sell(ctx, process.DB, e, drawn)
		return err
	})
	if err != nil {
		return s, err
	}
	return p.sell(ctx, p.d.DB, e, nothing)
}

// sqlPlainRefund: by the primary key.
const sqlPlainRefund = `DELETE FROM plain_purchase WHERE transaction_id = ?`

// refund forgets the purchase, and with it that the event was handled.
func (p plain) refund(ctx context.Context, e event) error {
	_, err := p.d.DB.ExecContext(ctx, sqlPlainRefund, e.transaction)
	return err
}

func (p plain) report(ctx context.Context) ([]serial.Finding, error) {
	return serial.Table{Name: p.tableName(), From: "from_no", To: "to_no", Key: "transaction_id"}.Gaps(ctx, p.d.DB, "")
}

func (p plain) tableName() string { return "plain_purchase" }

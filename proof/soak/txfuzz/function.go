package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// run is the function of a transaction: its own row first, then steps, then an end.
func (o *op) run(ctx context.Context, tx *onerow.Tx) error {
	if !o.joined {
		o.attempt()
		if o.idempotent && o.one(4) {
			return o.atOnce(ctx, tx)
		}
		if o.attack == "functions" && !o.idempotent && o.one(3) {
			return o.quietly(ctx, tx)
		}
		if replayed, err := o.own(ctx, tx); replayed || err != nil {
			return err
		}
	}
	for range o.r.IntN(5) {
		err := o.draw()(o, ctx, tx)
		if errors.Is(err, errOver) {
			return o.end()
		}
		if err != nil {
			return err
		}
	}
	return o.finish(ctx, tx)
}

// draw is the attack, twice of three times, or a step.
func (o *op) draw() step {
	if attack := attacks[o.attack]; attack != nil && !o.one(3) {
		return attack
	}
	return steps[o.r.IntN(len(steps))]
}

// atOnce sends all of the transaction in one packet with BEGIN and COMMIT.
func (o *op) atOnce(ctx context.Context, tx *onerow.Tx) error {
	first, a := o.insert()
	stmts, atoms := o.several(2)
	stmts, atoms = append([]onerow.Stmt{first}, stmts...), append([]atom{a}, atoms...)
	o.tell("ExecLast(%s)", texts(stmts))
	if err := o.told(ctx, packet.ExecLast(ctx, tx, stmts...), atoms...); err != nil {
		return err
	}
	return o.end()
}

// own inserts the transaction's own row. It is replayed if the row is there: an earlier attempt was
// committed.
func (o *op) own(ctx context.Context, tx *onerow.Tx) (replayed bool, err error) {
	s, a := o.insert()
	stmts, atoms := []onerow.Stmt{s}, []atom{a}
	if o.one(3) {
		more, ma := o.any()
		stmts, atoms = append(stmts, more), append(atoms, ma)
		o.tell("ExecAll(%s)", texts(stmts))
		err = packet.ExecAll(ctx, tx, stmts...)
	} else {
		o.tell("Exec(%s)", texts(stmts))
		_, err = tx.ExecContext(ctx, s.Query, s.Args...)
	}
	switch {
	case number(err) != erDuplicate:
		was := o.careful
		o.careful = true // without this row there is nothing to look for
		defer func() { o.careful = was }()
		return false, o.told(ctx, err, atoms...)
	case o.idempotent && o.done != nil:
		o.tell("→ it is there")
		o.replayed = true
		return true, nil
	case len(o.cur.kept) == 0:
		o.found.Add(brokenTwice, "transaction %d: %v: %v", o.id, o.story, err)
	}
	return false, err
}

// finish ends the function in one of its ways.
func (o *op) finish(ctx context.Context, tx *onerow.Tx) error {
	k := o.r.IntN(16)
	if o.attack == "comments" && k >= 8 { // they did most harm in front of COMMIT
		k = 0
	}
	switch {
	case k < 4:
		stmts, atoms := o.several(3)
		if !o.idempotent && o.attack != "ends" && o.one(8) { // one that fails at COMMIT, which InTx tells
			stmts = append(stmts, onerow.Stmt{Query: sqlInsert, Args: []any{o.id, 0, 0, ""}})
			atoms = append(atoms, atom{})
		}
		o.tell("ExecLast(%s)", texts(stmts))
		if err := o.told(ctx, packet.ExecLast(ctx, tx, stmts...), atoms...); err != nil {
			return err
		}
		if o.one(4) {
			o.deferred = true
			if err := steps[o.r.IntN(len(steps))](o, ctx, tx); err != nil {
				return err
			}
		}
	case k < 6:
		query := sqlCount + o.tail()
		o.tell("QueryLast(%q)", query)
		if err := o.told(ctx, packet.QueryLast(ctx, tx, query, []any{o.id}, o.sees)); err != nil {
			return err
		}
	case k == 6 && !o.idempotent:
		o.tell("return an error")
		return errBusiness
	case k == 7 && !o.idempotent && o.one(3):
		o.tell("panic")
		panic(errBusiness)
	}
	return o.end()
}

// sees compares a count with what the transaction wrote.
func (o *op) sees(rows *sql.Rows) error {
	var n int
	if err := rows.Scan(&n); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	if len(o.cur.may)+len(o.cur.kept) == 0 && o.dropped == nil && n != len(o.cur.must) {
		o.found.Add(brokenSight, "%d, not %d: transaction %d: %v", n, len(o.cur.must), o.id, o.story)
	}
	return nil
}

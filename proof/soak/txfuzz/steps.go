package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// step is something that a function does in its transaction.
type step func(o *op, ctx context.Context, tx *onerow.Tx) error

// steps, with how often each is drawn.
var steps = drawn(map[int][]step{
	6: {exec, all},
	3: {after, count},
	2: {past, prepared, planted, wrong, textSavepoint, nest},
	1: {slow, hold, inner},
})

func drawn(all map[int][]step) (s []step) {
	for _, weight := range []int{6, 3, 2, 1} { // in this order, as a map has none
		for range weight {
			s = append(s, all[weight]...)
		}
	}
	return s
}

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

// atOnce: all of the transaction is one packet with BEGIN and COMMIT.
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

// own inserts the transaction's own row. replayed: it is there, an earlier attempt was committed.
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

// finish is how the function ends.
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

// exec runs one statement on a handle.
func exec(o *op, ctx context.Context, tx *onerow.Tx) error { return o.exec(ctx, tx) }

func (o *op) exec(ctx context.Context, db onerow.DB) error {
	s, a := o.any()
	o.tell("Exec(%s)", texts([]onerow.Stmt{s}))
	n, err := onerow.Affected(ctx, db, s.Query, s.Args...)
	if err == nil && n == 0 {
		err = errNothing
	}
	return o.told(ctx, err, a)
}

func all(o *op, ctx context.Context, tx *onerow.Tx) error {
	stmts, atoms := o.several(3)
	o.tell("ExecAll(%s)", texts(stmts))
	return o.told(ctx, packet.ExecAll(ctx, tx, stmts...), atoms...)
}

// planted: the last of several fails, those before it are done.
func planted(o *op, ctx context.Context, tx *onerow.Tx) error {
	stmts, atoms := o.several(2)
	bad := onerow.Stmt{Query: sqlNobody, One: true}
	if o.one(2) && o.attack != "ends" { // which may have taken the transaction's own row away
		bad = onerow.Stmt{Query: sqlInsert, Args: []any{o.id, 0, 0, ""}}
	}
	stmts = append(stmts, bad)
	if o.one(2) {
		s, _ := o.insert() // it is never run
		stmts = append(stmts, s)
	}
	o.tell("ExecAll(%s)", texts(stmts))
	err := packet.ExecAll(ctx, tx, stmts...)
	if err == nil {
		o.found.Add(brokenDisguise, "ExecAll has no error: transaction %d: %v", o.id, o.story)
		return errBusiness
	}
	if isShy(err) && !o.deferred && o.attack != "comments" {
		for _, a := range atoms {
			o.cur.wrote(a)
		}
		return o.told(ctx, err)
	}
	return o.unsure(ctx, err, atoms)
}

func after(o *op, ctx context.Context, tx *onerow.Tx) error {
	stmts, atoms := o.several(2)
	query := sqlCount + o.tail()
	o.tell("QueryAfter(%s, %q)", texts(stmts), query)
	want := o.cur.clone()
	for _, a := range atoms {
		want.wrote(a)
	}
	was := o.cur
	o.cur = want // what the query sees
	err := packet.QueryAfter(ctx, tx, stmts, query, []any{o.id}, o.sees)
	o.cur = was
	if err != nil { // of any of them
		return o.unsure(ctx, err, atoms)
	}
	return o.told(ctx, nil, atoms...)
}

func count(o *op, ctx context.Context, tx *onerow.Tx) error {
	query := sqlCount + o.tail()
	o.tell("Query(%q)", query)
	return o.told(ctx, onerow.Query(ctx, tx, query, []any{o.id}, o.sees))
}

// past is a statement on the *sql.Tx, past the Tx.
func past(o *op, ctx context.Context, tx *onerow.Tx) error {
	if tx.SQL() == nil {
		return nil
	}
	o.tell("by SQL():")
	return o.exec(ctx, tx.SQL())
}

func prepared(o *op, ctx context.Context, tx *onerow.Tx) (err error) {
	s, a := o.insert()
	o.tell("Prepare(%s)", texts([]onerow.Stmt{s}))
	st, err := tx.PrepareContext(ctx, s.Query)
	if err == nil {
		defer func() { _ = st.Close() }() //nolint:errcheck // it may be gone with its session
		_, err = st.ExecContext(ctx, s.Args...)
	}
	return o.told(ctx, err, a)
}

// wrong is a statement with an error of its own.
func wrong(o *op, ctx context.Context, tx *onerow.Tx) error {
	list := []string{"SELEC 1", "INSERT INTO nowhere VALUES (1)", "UPDATE hot SET nothing = 1"}
	if o.attack != "ends" {
		list = append(list, fmt.Sprintf("INSERT INTO effect (tx, n, v) VALUES (%d, 0, 0)", o.id))
	}
	query := list[o.r.IntN(len(list))]
	o.tell("Exec(%q)", query)
	_, err := tx.ExecContext(ctx, query)
	if err == nil {
		o.found.Add(brokenDisguise, "%q has no error: transaction %d: %v", query, o.id, o.story)
		return errBusiness
	}
	return o.told(ctx, err)
}

func slow(o *op, ctx context.Context, tx *onerow.Tx) error {
	a := atom{}
	for i := range bulk {
		a.rows = append(a.rows, o.n+i)
	}
	o.n += bulk
	o.tell("Exec(slow)")
	_, err := tx.ExecContext(ctx, sqlSlow, o.id, a.rows[0], valueOf(o.id, a.rows[0]))
	return o.told(ctx, err, a)
}

// hold locks a counter for a while, once in a while until others' lock waits time out.
func hold(o *op, ctx context.Context, tx *onerow.Tx) error {
	seconds := 0.005
	if o.one(20) {
		seconds = 1.2
	}
	o.tell("hold(%v)", seconds)
	err := onerow.Query(ctx, tx, "SELECT v FROM hot WHERE id = ? FOR UPDATE", []any{1 + o.r.IntN(hotRows)}, func(*sql.Rows) error { return nil })
	if err == nil {
		err = onerow.Query(ctx, tx, "SELECT SLEEP(?)", []any{seconds}, func(*sql.Rows) error { return nil })
	}
	return o.told(ctx, err)
}

// undoing runs fn, and takes back what it was to have written when undo says so.
func (o *op) undoing(ctx context.Context, was *expect, dropped, err error) error {
	if err != nil {
		return o.told(ctx, err)
	}
	was.kept = o.cur.kept
	o.cur, o.dropped = was, dropped
	return nil
}

// textSavepoint goes back to a savepoint, after an error too, or releases it.
func textSavepoint(o *op, ctx context.Context, tx *onerow.Tx) error {
	run := func(query string) error {
		o.tell("Exec(%q)", query)
		_, err := tx.ExecContext(ctx, query)
		return err //nolint:wrapcheck // it is looked at
	}
	if err := run("SAVEPOINT s"); err != nil {
		return o.told(ctx, err)
	}
	was, dropped := o.cur.clone(), o.dropped
	s, a := o.any()
	o.tell("Exec(%s)", texts([]onerow.Stmt{s}))
	n, err := onerow.Affected(ctx, tx, s.Query, s.Args...)
	if err == nil && n == 0 {
		err = errNothing
	}
	if err == nil {
		o.cur.wrote(a)
	} else {
		o.tell("→ %s", short(err))
		o.cur.maybe(a)
		if o.deferred || o.careful {
			return err
		}
	}
	if err == nil && o.one(2) {
		return o.told(ctx, run("RELEASE SAVEPOINT s"))
	}
	return o.undoing(ctx, was, dropped, run("ROLLBACK TO SAVEPOINT s"))
}

// nest is InTx in InTx: the inner one joins.
func nest(o *op, ctx context.Context, tx *onerow.Tx) error {
	o.tell("InTx{")
	err := onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
		if err := exec(o, ctx, tx); err != nil {
			return err
		}
		if o.one(2) {
			return all(o, ctx, tx)
		}
		stmts, atoms := o.several(2)
		o.tell("ExecLast(%s)", texts(stmts)) // of a joined transaction: ExecAll
		return o.told(ctx, packet.ExecLast(ctx, tx, stmts...), atoms...)
	})
	o.tell("}")
	return err //nolint:wrapcheck // what it wrote stays, so it cannot be dropped
}

// inner is a savepoint of the Tx in a joined transaction, which takes back what failed.
func inner(o *op, ctx context.Context, tx *onerow.Tx) error {
	if o.deferred {
		return nil
	}
	was, dropped := o.cur.clone(), o.dropped
	fails := false
	o.tell("Savepoint{")
	err := onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, "inner", func() error {
			if err := exec(o, ctx, tx); err != nil {
				return err
			}
			if fails = o.one(2); fails {
				return errBusiness
			}
			return nil
		})
	})
	o.tell("}")
	switch {
	case err == nil:
		return nil
	case fails && errors.Is(err, errBusiness) && !errors.Is(err, onerow.ErrNotUndone) && tx.Err() == nil:
		return o.undoing(ctx, was, dropped, nil)
	}
	return err //nolint:wrapcheck // it is looked at by the caller of InTx only
}

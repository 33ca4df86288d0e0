package txfuzz

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// step is something that a function does in its transaction.
type step func(o *op, ctx context.Context, tx *onerow.Tx) error

// steps has each as often as it is drawn.
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

// planted sends several statements, of which the last fails and those before it are done.
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

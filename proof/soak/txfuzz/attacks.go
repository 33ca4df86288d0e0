package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// attackNames are all of them. Those without a step change what other parts do.
var attackNames = []string{"comments", "arguments", "drops", "texts", "ends", "functions", "nested", "outfile", deadlines}

const deadlines = "deadlines"

var attacks map[string]step

func init() { //nolint:gochecknoinits // the steps draw from it
	attacks = map[string]step{"arguments": shift, "ends": ends, "functions": function, "nested": within, "outfile": outfile}
}

// parseAttacks reads the flag: all, none, or a list.
func parseAttacks(text string) ([]string, error) {
	switch text {
	case "all":
		return attackNames, nil
	case "none", "":
		return nil, nil
	}
	list := strings.Split(text, ",")
	for _, name := range list {
		if !slices.Contains(attackNames, name) {
			return nil, fmt.Errorf("-attacks: there is no %q; they are all, none, or of %s", name, strings.Join(attackNames, ","))
		}
	}
	return list, nil
}

// shift gives one of two statements an argument too many, the other one too few. Together they would have the
// right number.
func shift(o *op, ctx context.Context, tx *onerow.Tx) error {
	n := o.n
	o.n += 2
	v := valueOf(o.id, n)
	one := onerow.Stmt{Query: "INSERT INTO effect (tx, n, v) VALUES (?, ?, 7)", Args: []any{o.id, n, o.id}}
	two := onerow.Stmt{Query: "INSERT INTO effect (tx, n, v) VALUES (?, ?, ?)", Args: []any{n + 1, v}}
	o.tell("%s", texts([]onerow.Stmt{one, two}))
	var err error
	switch o.r.IntN(3) {
	case 0:
		o.tell("by ExecAll")
		err = packet.ExecAll(ctx, tx, one, two)
	case 1:
		o.tell("by QueryAfter")
		err = packet.QueryAfter(ctx, tx, []onerow.Stmt{one, two}, sqlCount, []any{o.id}, func(*sql.Rows) error { return nil })
	case 2:
		o.tell("by QueryAfter, the query's")
		two = onerow.Stmt{Query: sqlCount, Args: nil}
		err = packet.QueryAfter(ctx, tx, []onerow.Stmt{one}, two.Query, two.Args, func(*sql.Rows) error { return nil })
	}
	if err == nil {
		o.found.Add(brokenShifted, "transaction %d: %v", o.id, o.story)
	}
	return errBusiness
}

// ends commits in the middle, by a statement of the caller's. What it committed is committed; what follows
// must not be there if the function fails, nor be acknowledged unless it is.
func ends(o *op, ctx context.Context, tx *onerow.Tx) error {
	list := []string{"COMMIT", "CREATE TABLE IF NOT EXISTS scratch (id INT)", "ALTER TABLE scratch COMMENT 'x'", "BEGIN", "/*!50000 COMMIT */", "CALL commits()",
		"-- x\nCOMMIT", "TRUNCATE TABLE scratch", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "ROLLBACK"}
	query := list[o.r.IntN(len(list))]
	o.tell("Exec(%q)", query)
	_, err := tx.ExecContext(ctx, query)
	o.cur.ended()
	if err != nil {
		o.tell("→ %s", short(err))
		return err //nolint:wrapcheck // of the function
	}
	if err := o.exec(ctx, tx); err != nil {
		return err
	}
	if o.one(2) {
		o.tell("return an error")
		return errBusiness
	}
	return nil
}

// function writes by a stored function, in what looks like a query.
func function(o *op, ctx context.Context, tx *onerow.Tx) error {
	n := o.n
	o.n++
	a := atom{rows: []int{n}}
	query, args := "SELECT writes(?, ?, ?)", []any{o.id, n, valueOf(o.id, n)}
	none := func(*sql.Rows) error { return nil }
	var err error
	switch o.r.IntN(3) {
	case 0:
		o.tell("Query(%q)", query)
		err = onerow.Query(ctx, tx, query, args, none)
	case 1:
		o.tell("QueryAfter(, %q)", query)
		s, first := o.insert()
		err = packet.QueryAfter(ctx, tx, []onerow.Stmt{s}, query, args, none)
		if err == nil {
			o.cur.wrote(first)
		} else {
			o.cur.maybe(first)
		}
	case 2:
		o.tell("Query(%q); QueryLast(count)", query)
		if err = onerow.Query(ctx, tx, query, args, none); err == nil {
			err = packet.QueryLast(ctx, tx, sqlCount, []any{o.id}, none)
		}
		if err == nil && o.one(2) {
			o.tell("return an error")
			return errBusiness
		}
		if err = o.told(ctx, err, a); err != nil {
			return err
		}
		return errOver
	}
	return o.told(ctx, err, a)
}

// quietly writes by a function only, so that nothing seems to be written, and then ends with a query.
func (o *op) quietly(ctx context.Context, tx *onerow.Tx) error {
	n := o.n
	o.n++
	none := func(*sql.Rows) error { return nil }
	o.tell("Query(writes); QueryLast(count)")
	err := onerow.Query(ctx, tx, "SELECT writes(?, ?, ?)", []any{o.id, n, valueOf(o.id, n)}, none)
	if err == nil {
		err = packet.QueryLast(ctx, tx, sqlCount, []any{o.id}, none)
	}
	if err != nil {
		return err
	}
	if o.one(2) {
		o.tell("return an error")
		return errBusiness
	}
	o.cur.wrote(atom{rows: []int{n}})
	return o.end()
}

// errOver ends the steps: what follows a QueryLast may be in another transaction.
var errOver = errors.New("the function is at its end")

// within runs a statement while the rows of a query are open.
func within(o *op, ctx context.Context, tx *onerow.Tx) error {
	o.tell("Query{ Exec }")
	s, a := o.insert()
	err := onerow.Query(ctx, tx, "SELECT n FROM numbers", nil, func(*sql.Rows) error {
		_, err := tx.ExecContext(ctx, s.Query, s.Args...)
		if err == nil {
			return errBusiness // one row is enough
		}
		o.busy++
		return err //nolint:wrapcheck // of the function
	})
	o.cur.maybe(a)
	return err //nolint:wrapcheck // as above
}

// outfile asks for a file where the server may not write.
func outfile(o *op, ctx context.Context, tx *onerow.Tx) error {
	query := "SELECT 1 INTO OUTFILE '/nowhere/x'"
	o.tell("Exec(%q)", query)
	_, err := tx.ExecContext(ctx, query)
	if number(err) == erReadOnly {
		o.busy++
	}
	return err //nolint:wrapcheck // of the function
}

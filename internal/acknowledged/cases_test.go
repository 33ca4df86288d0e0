package acknowledged_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/serial"
)

// acase is how a text reaches the server.
type acase struct {
	name  string
	takes []string // the parameters and fields of the API that it goes through

	// do is the whole call, with its company if it has one.
	do     func(c *call) error
	writes bool   // its text does, rather than read
	marks  string // what of the company is there after a success
	claims bool   // and a claim
}

// op runs the text in a transaction, or where there is none.
type op struct {
	name   string
	takes  []string
	writes bool
	marks  string // of the company that travels with it
	claims bool
	pool   bool // it can be called on a pool as well, where it is one statement
	run    func(c *call, ctx context.Context, db onerow.DB) error
	tx     func(c *call, ctx context.Context, tx *onerow.Tx) error
}

// The marks of a packet, and those of statements before and after it.
const (
	between = "one=3,two=3"
	around  = "after=5,before=6"
)

var ops = []op{
	{name: "ExecContext", takes: []string{"onerow.DB.ExecContext query", "onerow.Tx.ExecContext query"}, writes: true, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			_, err := db.ExecContext(ctx, c.query, c.args...)
			return err
		}},
	{name: "QueryContext of a write", takes: []string{"onerow.DB.QueryContext query", "onerow.Tx.QueryContext query"}, writes: true, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			rows, err := db.QueryContext(ctx, c.query, c.args...) //nolint:rowserrcheck // drained does
			return drained(c, rows, err)
		}},
	{name: "Affected", takes: []string{"onerow.Affected query"}, writes: true, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			n, err := onerow.Affected(ctx, db, c.query, c.args...)
			return one(n, err)
		}},
	{name: "AffectOne", takes: []string{"onerow.AffectOne query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			return onerow.AffectOne(ctx, tx, c.query, c.args...)
		}},
	{name: "Query of a write", takes: []string{"onerow.Query query"}, writes: true, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			return onerow.Query(ctx, db, c.query, c.args, scanInto(&c.got))
		}},
	{name: "QueryRowContext of a write", takes: []string{"onerow.Tx.QueryRowContext query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			var n int64
			if err := tx.QueryRowContext(ctx, c.query, c.args...).Scan(&n); err != sql.ErrNoRows { //nolint:errorlint // as it is
				return err
			}
			return nil
		}},
	{name: "PrepareContext", takes: []string{"onerow.Tx.PrepareContext query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			stmt, err := tx.PrepareContext(ctx, c.query)
			if err != nil {
				return err
			}
			defer stmt.Close() //nolint:errcheck // the transaction ends
			_, err = stmt.ExecContext(ctx, c.args...)
			return err
		}},
	{name: "the *sql.Tx below", takes: []string{"onerow.Tx.ExecContext query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.SQL().ExecContext(ctx, c.query, c.args...)
			return err
		}},
	{name: "ExecAll", takes: []string{"internal/packet.ExecAll stmts", "onerow.Stmt Query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error { return packet.ExecAll(ctx, tx, c.stmt()) }},
	{name: "ExecAll in company", takes: []string{"internal/packet.ExecAll stmts", "onerow.Stmt Query"}, writes: true, marks: between,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecAll(ctx, tx, c.mark("one"), c.stmt(), c.mark("two"))
		}},
	{name: "ExecAll with results", takes: []string{"internal/packet.ExecAll stmts", "onerow.Stmt Query"}, writes: true, marks: between,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			var rows, id int64
			s, p := c.stmt(), c.mark("one")
			s.One, s.Rows, s.ID, p.One = true, &rows, &id, true
			if err := packet.ExecAll(ctx, tx, p, s, c.mark("two")); err != nil {
				return err
			}
			return one(rows, nil)
		}},
	{name: "ExecLast", takes: []string{"internal/packet.ExecLast stmts", "onerow.Stmt Query"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error { return packet.ExecLast(ctx, tx, c.stmt()) }},
	{name: "ExecLast, first of two", takes: []string{"internal/packet.ExecLast stmts"}, writes: true, marks: "two=3",
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, c.stmt(), c.mark("two"))
		}},
	{name: "ExecLast, last of two", takes: []string{"internal/packet.ExecLast stmts"}, writes: true, marks: "one=3",
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			return packet.ExecLast(ctx, tx, c.mark("one"), c.stmt())
		}},
	{name: "ExecLast in company, one each", takes: []string{"internal/packet.ExecLast stmts"}, writes: true, marks: between,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			s, p := c.stmt(), c.mark("one")
			s.One, p.One = true, true
			return packet.ExecLast(ctx, tx, p, s, c.mark("two"))
		}},
	{name: "QueryAfter", takes: []string{"internal/packet.QueryAfter stmts"}, writes: true,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			err := packet.QueryAfter(ctx, tx, []onerow.Stmt{c.stmt()}, "SELECT ?", []any{9}, scanInto(&c.got))
			return only(c, 9, err)
		}},
	{name: "QueryAfter in company", takes: []string{"internal/packet.QueryAfter stmts"}, writes: true, marks: between,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			err := packet.QueryAfter(ctx, tx, []onerow.Stmt{c.mark("one"), c.stmt(), c.mark("two")}, "SELECT ?", []any{9}, scanInto(&c.got))
			return only(c, 9, err)
		}},
	{name: "ClaimWith", takes: []string{"serial.Series.ClaimWith use"}, writes: true, claims: true, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error { return claim(c, ctx, db, c.stmt()) }},
	{name: "ClaimWith in company", takes: []string{"serial.Series.ClaimWith use"}, writes: true, claims: true, pool: true, marks: between,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			return claim(c, ctx, db, c.mark("one"), c.stmt(), c.mark("two"))
		}},

	{name: "QueryContext", takes: []string{"onerow.DB.QueryContext query", "onerow.Tx.QueryContext query"}, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			rows, err := db.QueryContext(ctx, c.query, c.args...) //nolint:rowserrcheck // drained does
			return drained(c, rows, err)
		}},
	{name: "Query", takes: []string{"onerow.Query query"}, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			c.got = nil
			return onerow.Query(ctx, db, c.query, c.args, scanInto(&c.got))
		}},
	{name: "QueryRow", takes: []string{"onerow.QueryRow query"}, pool: true,
		run: func(c *call, ctx context.Context, db onerow.DB) error {
			c.got = make([]int64, 1)
			return onerow.QueryRow(ctx, db, c.query, c.args, &c.got[0])
		}},
	{name: "QueryRowContext", takes: []string{"onerow.Tx.QueryRowContext query"},
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			c.got = make([]int64, 1)
			return tx.QueryRowContext(ctx, c.query, c.args...).Scan(&c.got[0])
		}},
	{name: "PrepareContext of a query", takes: []string{"onerow.Tx.PrepareContext query"},
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			stmt, err := tx.PrepareContext(ctx, c.query)
			if err != nil {
				return err
			}
			defer stmt.Close()                             //nolint:errcheck // the transaction ends
			rows, err := stmt.QueryContext(ctx, c.args...) //nolint:rowserrcheck // drained does
			return drained(c, rows, err)
		}},
	{name: "the query of QueryAfter", takes: []string{"internal/packet.QueryAfter query"}, marks: between,
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			c.got = nil
			return packet.QueryAfter(ctx, tx, []onerow.Stmt{c.mark("one"), c.mark("two")}, c.query, c.args, scanInto(&c.got))
		}},
	{name: "QueryLast", takes: []string{"internal/packet.QueryLast query"},
		tx: func(c *call, ctx context.Context, tx *onerow.Tx) error {
			c.got = nil
			return packet.QueryLast(ctx, tx, c.query, c.args, scanInto(&c.got))
		}},
}

// ways are what the transaction of an op is. around: statements before and after it are in it; drops: what
// the text says is not returned.
var ways = []struct {
	name          string
	around, drops bool
	run           func(c *call, o op, around bool) error
}{
	{"alone", false, false, own},
	{"in company", true, false, own},
	{"in company, its error dropped", true, true, func(c *call, o op, _ bool) error {
		c.dropped = true
		return onerow.InTx(c.ctx, c.w.pool, func(ctx context.Context, tx *onerow.Tx) error {
			c.runs++
			return surrounded(c, ctx, tx, true, func() error {
				c.ignored = o.in(c, ctx, tx)
				return nil
			})
		})
	}},
	{"in a transaction of the caller's", true, false, func(c *call, o op, around bool) error {
		sqlTx, err := c.w.pool.BeginTx(c.ctx, nil)
		if err != nil {
			return err
		}
		defer sqlTx.Rollback() //nolint:errcheck // unless it is committed
		err = onerow.InTx(c.ctx, sqlTx, func(ctx context.Context, tx *onerow.Tx) error {
			c.runs++
			return surrounded(c, ctx, tx, around, func() error {
				return tx.Savepoint(ctx, "inner", func() error { return o.in(c, ctx, tx) })
			})
		})
		if err != nil {
			return err
		}
		return sqlTx.Commit()
	}},
	{"within another", true, false, func(c *call, o op, around bool) error {
		return onerow.InTx(c.ctx, c.w.pool, func(ctx context.Context, outer *onerow.Tx) error {
			return surrounded(c, ctx, outer, around, func() error {
				return onerow.InTx(ctx, outer, func(ctx context.Context, tx *onerow.Tx) error {
					c.runs++
					return o.in(c, ctx, tx)
				})
			})
		})
	}},
}

// own is a transaction of InTx's own.
func own(c *call, o op, around bool) error {
	return onerow.InTx(c.ctx, c.w.pool, func(ctx context.Context, tx *onerow.Tx) error {
		c.runs++
		return surrounded(c, ctx, tx, around, func() error { return o.in(c, ctx, tx) })
	})
}

func surrounded(c *call, ctx context.Context, tx *onerow.Tx, around bool, fn func() error) error {
	c.got = nil
	if !around {
		return fn()
	}
	before, after := c.mark("before"), c.mark("after")
	if _, err := tx.ExecContext(ctx, before.Query, before.Args...); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, after.Query, after.Args...)
	return err
}

func (o op) in(c *call, ctx context.Context, tx *onerow.Tx) error {
	if o.tx != nil {
		return o.tx(c, ctx, tx)
	}
	return o.run(c, ctx, tx)
}

func (o op) kind() string {
	if o.writes {
		return writes
	}
	return reads
}

// textCases are those of the two kinds of texts.
func textCases() (all []acase) {
	for _, o := range ops {
		all = append(all, o.cases()...)
	}
	return all
}

// cases are the ways in which an op is called.
func (o op) cases() (all []acase) {
	add := func(way, marks string, do func(c *call) error) {
		all = append(all, acase{name: o.name + ", " + way, takes: o.takes, writes: o.writes, marks: marks, claims: o.claims, do: do})
	}
	if o.pool {
		add("on a pool", o.marks, func(c *call) error { return o.run(c, c.ctx, c.w.pool) })
		add("on a session", o.marks, func(c *call) error {
			conn, err := c.w.pool.Conn(c.ctx)
			if err != nil {
				return err
			}
			defer conn.Close() //nolint:errcheck // back to the pool
			return o.run(c, c.ctx, conn)
		})
	}
	if o.pool && !o.claims {
		add("in Alone", o.marks, func(c *call) error {
			return onerow.Alone(c.ctx, c.w.pool, func(ctx context.Context, db onerow.DB) error {
				c.runs++
				return o.run(c, ctx, db)
			})
		})
	}
	for _, way := range ways {
		if way.drops && (o.marks != "" || o.claims) { // what of its own company is there then depends on the server
			continue
		}
		marks := o.marks
		if way.around {
			marks = strings.TrimSuffix(around+","+o.marks, ",")
		}
		add(way.name, marks, func(c *call) error { return way.run(c, o, way.around) })
	}
	return all
}

func one(n int64, err error) error {
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows", n)
	}
	return err
}

// only is an error if what was read is not this one number.
func only(c *call, n int64, err error) error {
	if err == nil && (len(c.got) != 1 || c.got[0] != n) {
		return fmt.Errorf("it gave %v", c.got)
	}
	return err
}

func drained(c *call, rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err says so
	for c.got = nil; rows.Next(); {
		if err := scanInto(&c.got)(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func claim(c *call, ctx context.Context, db onerow.DB, use ...onerow.Stmt) error {
	series, err := serial.New("numbers")
	if err != nil {
		return err
	}
	_, err = series.ClaimWith(ctx, db, fmt.Sprint(c.tag), 2, use...)
	return err
}

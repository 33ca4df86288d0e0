package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// rootsPerPage is how many rows are queued in a transaction.
const rootsPerPage = 500

// fromTable is what the audit says of a row of a table that somebody else designed.
const fromTable = "table"

// many queues the rows of a condition or a query.
func (c *enqueueCmd) many(ctx context.Context, a *app, plan schema.Plan) (err error) {
	node, err := typedNode(plan, c.Resource)
	if err != nil {
		return err
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := newSelection(ctx, db, node)
	if err != nil {
		return err
	}
	flag, text, run := "--where", c.Where, s.where
	if c.Query != "" {
		flag, text, run = "--query", c.Query, s.query
	}
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	if c.DryRun {
		var n int64
		err := killable(ctx, db, func(conn *sql.Conn) (err error) {
			n, err = s.count(ctx, conn, text, c.Query != "")
			return err
		})
		if err != nil {
			return fmt.Errorf("the SQL of %s: %w", flag, err)
		}
		_, err = fmt.Fprintf(a.stdout, "%s of %s; nothing was queued\n", output.Plural(n, "row"), node.Name)
		return err
	}
	var done cascade.EnqueuedMany
	show := newCounter(a)
	queue := func(page []cascade.Deletion) error {
		if node.Managed {
			if err := places(ctx, db, plan, node.Name, page); err != nil {
				return err
			}
		}
		for i := range page {
			page[i].Grace, page[i].NoTrash = c.Grace, c.NoTrash
		}
		now, err := cascade.EnqueueMany(ctx, db, page)
		done.Queued += now.Queued
		done.Open += now.Open
		show.say(func() string { return manyTold(done) })
		return err
	}
	err = killable(ctx, db, func(conn *sql.Conn) error { return run(ctx, conn, text, queue) })
	err = errors.Join(err, show.end())
	switch {
	case errors.Is(err, errUsage):
		return fmt.Errorf("%s: %w", manyTold(done), err)
	case err != nil:
		return fmt.Errorf("%s; it is safe to run the same command again: %w", manyTold(done), err)
	}
	_, err = fmt.Fprintln(a.stdout, manyTold(done))
	return err
}

func manyTold(done cascade.EnqueuedMany) string {
	line := output.Plural(done.Queued, "job") + " queued"
	if done.Open > 0 {
		line += fmt.Sprintf(", %s open already", output.Grouped(done.Open))
	}
	return line
}

// places looks for the rows of a resource in both tables by their primary keys, in one
// statement: where each is, whose it is, and in ID which deletion hides it. A row that none
// hides goes on an operator's word, see [cascade.FromOperator]: an active one may be archived
// before the job comes to it.
func places(ctx context.Context, db onerow.DB, plan schema.Plan, resource string, page []cascade.Deletion) error {
	r, err := plan.Resource(resource)
	if err != nil || len(page) == 0 {
		return err
	}
	at := map[string]*cascade.Deletion{}
	marks := make([]string, len(page))
	var ids []any
	for i := range page {
		parts, err := onerow.DecodeKey(page[i].ResourceID)
		if err != nil {
			return err
		}
		if len(parts) != 1 {
			return fmt.Errorf("%w: %q is no id of a %s", onerow.ErrInvalidKey, page[i].ResourceID, resource)
		}
		at[page[i].ResourceID], marks[i], ids = &page[i], "?", append(ids, parts[0])
	}
	columns := append([]string{r.ID}, r.Owners()...)
	types := make([]keytype.Type, len(columns))
	for i, column := range columns {
		if types[i], err = keytype.Parse(r.KeyType(column)); err != nil {
			return err
		}
	}
	list, key := strings.Join(marks, ", "), ident.Quotes(columns...)
	query := fmt.Sprintf("SELECT %s, '"+cascade.FromOperator+"', NULL FROM %s WHERE %s IN (%s)", key, schema.Quote(r.Active), schema.Quote(r.ID), list)
	args := ids
	if r.Archive != "" {
		query += fmt.Sprintf(" UNION ALL SELECT %s, IF(%s IS NULL, '"+cascade.FromOperator+"', 'archive'), %[2]s FROM %s WHERE %s IN (%s)",
			key, schema.Quote(schema.ColDeletionID), schema.Quote(r.Archive), schema.Quote(r.ID), list)
		args = append(append([]any{}, ids...), ids...)
	}
	return onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		keys := make([]any, len(columns))
		var targets []any
		for i, t := range types {
			targets = append(targets, t.Scan(func(value any) error {
				keys[i] = value
				return nil
			}))
		}
		var from string
		var hidden sql.NullInt64
		if err := rows.Scan(append(targets, &from, &hidden)...); err != nil {
			return err
		}
		return found(at, keys, from, hidden.Int64)
	})
}

// found notes where the row of a deletion is.
func found(at map[string]*cascade.Deletion, keys []any, from string, hidden int64) error {
	id, err := onerow.EncodeKey(keys[0])
	d := at[id]
	if err != nil || d == nil { // another spelling of an id that was asked for
		return err
	}
	d.From, d.ID = from, hidden
	if len(keys) > 1 {
		d.Owner, err = onerow.EncodeKey(keys[1:]...)
	}
	return err
}

// there asks both tables, by the primary key, whether the row is in one of them.
func there(ctx context.Context, db onerow.DB, root rootRow, d *cascade.Deletion) error {
	codec, err := keyCodec(ctx, db, root.node)
	if err != nil {
		return err
	}
	key, err := codec.Decode(root.key)
	if err != nil {
		return err
	}
	parts := make([]string, len(root.node.Tables))
	for i, table := range root.node.Tables {
		parts[i] = fmt.Sprintf("SELECT '%s' FROM %s AS t WHERE %s", fromTable, schema.Quote(table), codec.In("t", []rowkey.Key{key}))
	}
	err = onerow.QueryRow(ctx, db, strings.Join(parts, " UNION ALL "), nil, &d.From)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

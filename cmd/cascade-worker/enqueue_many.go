package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
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
		_, err = fmt.Fprintf(a.stdout, "%s of %s; nothing was queued\n", plural(n, "row"), node.Name)
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
			page[i].Grace = c.Grace
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
	line := plural(done.Queued, "job") + " queued"
	if done.Open > 0 {
		line += fmt.Sprintf(", %s open already", grouped(done.Open))
	}
	return line
}

// selection reads the keys of many rows of a node.
type selection struct {
	node  schema.Node
	key   rowkey.Codec
	order []rowkey.Codec // of its columns, as an index sorts them
}

func newSelection(ctx context.Context, db onerow.DB, node schema.Node) (s selection, err error) {
	s.node = node
	cat, err := schema.Inspect(ctx, db)
	if err != nil {
		return s, err
	}
	if s.key, err = rowkey.New(cat, node.Tables[0], node.Key); err != nil {
		return s, fmt.Errorf("the database does not fit the plan: %w; see %s verify", err, programName)
	}
	for _, column := range node.Key {
		c, err := rowkey.New(cat, node.Tables[0], []string{column})
		if err != nil {
			return s, err
		}
		s.order = append(s.order, c.Ordered())
	}
	return s, nil
}

// columns are the key's columns under the alias t.
func (s selection) columns() string {
	list := make([]string, len(s.node.Key))
	for i, column := range s.node.Key {
		list[i] = "t." + schema.Quote(column)
	}
	return strings.Join(list, ", ")
}

func (s selection) list() string {
	list := []string{s.key.Select("t")}
	for _, c := range s.order {
		list = append(list, c.Select("t"))
	}
	return strings.Join(list, ", ")
}

// behind is the condition that holds for rows behind a key.
func (s selection) behind(last []string) string {
	var ways []string
	same := ""
	for i, column := range s.node.Key {
		ways = append(ways, fmt.Sprintf("%st.%s > %s", same, schema.Quote(column), last[i]))
		same += fmt.Sprintf("t.%s = %s AND ", schema.Quote(column), last[i])
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}

// where reads pages along the primary key of each table. The condition stands on lines
// of its own, so that a comment in it ends with it. Nothing is locked.
func (s selection) where(ctx context.Context, db onerow.DB, condition string, fn func([]cascade.Deletion) error) error {
	for _, table := range s.node.Tables {
		var last []string
		for {
			query := fmt.Sprintf("SELECT %s FROM %s AS t WHERE (\n%s\n)", s.list(), schema.Quote(table), condition)
			if last != nil {
				query += " AND " + s.behind(last)
			}
			query += fmt.Sprintf(" ORDER BY %s LIMIT %d", s.columns(), rootsPerPage)
			var page []cascade.Deletion
			before := last
			err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) (err error) {
				var d cascade.Deletion
				d, last, err = s.scan(rows)
				page = append(page, d)
				return err
			})
			if err == nil && len(page) == rootsPerPage && slices.Equal(before, last) {
				// Each page is the first one then.
				return usagef("the condition of --where does not stand for itself, as in 1=1) OR (1=1: put it between parentheses, and balance those in it")
			}
			if err == nil && len(page) > 0 {
				err = fn(page)
			}
			if err != nil {
				return err
			}
			if len(page) < rootsPerPage {
				break
			}
		}
	}
	return nil
}

// keysOf makes a query's columns the key's: the empty part before gives them their
// names and types.
func (s selection) keysOf(query string) string {
	return fmt.Sprintf("(SELECT %s FROM %s AS t WHERE 1 = 0 UNION ALL (\n%s\n)) AS t", s.columns(), schema.Quote(s.node.Tables[0]), query)
}

// query reads the result of one query as it comes, so that each row is looked at once
// and none that appears meanwhile.
func (s selection) query(ctx context.Context, db onerow.DB, query string, fn func([]cascade.Deletion) error) error {
	var page []cascade.Deletion
	seen := map[string]bool{} // in the page
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		full := page
		page, seen = nil, map[string]bool{}
		return fn(full)
	}
	err := onerow.Query(ctx, db, fmt.Sprintf("SELECT %s FROM %s", s.list(), s.keysOf(query)), nil, func(rows *sql.Rows) error {
		d, _, err := s.scan(rows)
		if errors.Is(err, errNullKey) {
			return nil // no row has such a key
		}
		if err != nil || seen[d.ResourceID] {
			return err
		}
		seen[d.ResourceID] = true
		if page = append(page, d); len(page) < rootsPerPage {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

var errNullKey = errors.New("a part of the key is NULL")

// scan reads a key, and its literals in the order of the index.
func (s selection) scan(rows *sql.Rows) (d cascade.Deletion, last []string, err error) {
	width := s.key.Width()
	values, targets := make([]sql.NullString, 2*width), []any{}
	for i := range values {
		targets = append(targets, &values[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return d, nil, err
	}
	key, ok := s.key.Key(values[:width])
	if !ok {
		return d, nil, errNullKey
	}
	for i, c := range s.order {
		part, _ := c.Key(values[width+i:][:1])
		last = append(last, string(part))
	}
	d = cascade.Deletion{Resource: s.node.Name}
	if !s.node.Managed {
		d.From = fromTable
	}
	if d.ResourceID, err = s.key.Encode(key); err != nil {
		return d, nil, err
	}
	_, err = s.key.Decode(d.ResourceID) // what a query returned may not be of the column's type
	return d, last, err
}

// count counts the rows of a condition, or those that a query returns.
func (s selection) count(ctx context.Context, db onerow.DB, text string, isQuery bool) (total int64, err error) {
	from := []string{s.keysOf(text)}
	if !isQuery {
		from = nil
		for _, table := range s.node.Tables {
			from = append(from, fmt.Sprintf("%s AS t WHERE (\n%s\n)", schema.Quote(table), text))
		}
	}
	for _, part := range from {
		var n int64
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM "+part, nil, &n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
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
	at := map[int64]*cascade.Deletion{}
	marks := make([]string, len(page))
	var ids []any
	for i := range page {
		parts, err := onerow.DecodeKey(page[i].ResourceID)
		if err != nil {
			return err
		}
		id, ok := parts[0].(int64)
		if !ok || len(parts) != 1 {
			return fmt.Errorf("%w: %q is no id of a %s", onerow.ErrKey, page[i].ResourceID, resource)
		}
		at[id], marks[i], ids = &page[i], "?", append(ids, id)
	}
	owner := "NULL"
	if r.Owner != "" {
		owner = schema.Quote(r.Owner)
	}
	list := strings.Join(marks, ", ")
	query := fmt.Sprintf("SELECT %s, 'operator', %s, NULL FROM %s WHERE %[1]s IN (%[4]s)", schema.Quote(r.ID), owner, schema.Quote(r.Active), list)
	args := ids
	if r.Archive != "" {
		query += fmt.Sprintf(" UNION ALL SELECT %s, IF(%[3]s IS NULL, 'operator', 'archive'), %[2]s, %[3]s FROM %s WHERE %[1]s IN (%[5]s)",
			schema.Quote(r.ID), owner, schema.Quote(schema.ColDeletionID), schema.Quote(r.Archive), list)
		args = append(append([]any{}, ids...), ids...)
	}
	return onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var id int64
		var from string
		var whose, hidden sql.NullInt64
		if err := rows.Scan(&id, &from, &whose, &hidden); err != nil {
			return err
		}
		d := at[id]
		d.From, d.ID = from, hidden.Int64
		if whose.Valid {
			d.Owner, err = onerow.EncodeKey(whose.Int64)
		}
		return err
	})
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

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/devdb"
)

// public is a schema that scripts/get-schemas gets.
type public struct {
	name string
	// deletes says that its rows are deleted and brought back: it has more than fifty tables.
	deletes bool
}

var schemas = []public{
	{name: "zabbix", deletes: true},
	{name: "kea", deletes: true},
	{name: "director", deletes: true},
	{name: "roundcube"},
}

func names() (list []string) {
	for _, s := range schemas {
		list = append(list, s.name)
	}
	return list
}

// result is a line of both reports.
type result struct {
	name                 string
	tables, keys, rows   int
	deletes              bool
	sum                  tally
	took                 time.Duration
	byName, byNameAndRow quality
}

// try has one schema on trial.
func try(ctx context.Context, server *devdb.Server, o options, about public) (r result, err error) {
	name := about.name
	r.name = name
	defined, err := readScript(o.dir, name)
	if err != nil {
		return r, err
	}
	db, err := load(ctx, server, "public_"+name, defined)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, db.Close(), server.DropDatabase(context.WithoutCancel(ctx), "public_"+name))
	}()
	c, err := readCatalog(ctx, db)
	if err != nil {
		return r, err
	}
	f := filler{c: c, r: rand.New(rand.NewPCG(o.seed, 7)), want: o.rows} //nolint:gosec // to be repeated
	for _, s := range undeclared[name] {
		if t := c.table(s.table); t == nil || t.column(s.column) == nil || c.table(s.to) == nil || c.table(s.to).column(s.references) == nil {
			return r, fmt.Errorf("undeclared: %s: there are no such columns", s)
		}
		f.soft = append(f.soft, s.key())
	}
	err = f.fill()
	if err == nil {
		err = c.insert(ctx, db)
	}
	if err == nil {
		err = c.proven(ctx, db)
	}
	if err != nil {
		return r, err
	}
	r.tables, r.keys = len(c.tables), len(c.keys)
	var roots []string
	for _, t := range c.tables {
		r.rows += len(t.rows)
		if len(t.primary) == 0 {
			fmt.Printf("%s: %s has no primary key, and is left out of the plan\n", name, t.name)
			continue
		}
		if len(t.rows) == 0 {
			return r, fmt.Errorf("%s has no rows", t.name)
		}
		roots = append(roots, t.name)
	}
	if err := r.discover(ctx, server, o, c, defined, roots); err != nil {
		return r, err
	}
	if r.deletes = about.deletes && o.each > 0; !r.deletes {
		return r, nil
	}
	return r, r.delete(ctx, o, db, c, roots)
}

// readScript reads the statements of a schema that define tables, and tells how many others are left out.
func readScript(dir, name string) ([]string, error) {
	script, err := os.ReadFile(filepath.Join(dir, name+".sql")) //nolint:gosec // the folder that whoever runs it names
	if err != nil {
		return nil, err
	}
	defined, out := definitions(string(script))
	fmt.Printf("%s: %d statements define tables; left out:", name, len(defined))
	for _, kind := range []string{"trigger", "procedure", "function", "view", "insert", "update", "delete"} {
		if out[kind] > 0 {
			fmt.Printf(" %d %s", out[kind], strings.ToUpper(kind))
		}
	}
	fmt.Println()
	return defined, nil
}

// discover compares what is proposed without foreign keys with those that there are, in a copy.
func (r *result) discover(ctx context.Context, server *devdb.Server, o options, c *contents, defined, roots []string) (err error) {
	name := "public_" + r.name + "_copy"
	db, err := load(ctx, server, name, defined)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), server.DropDatabase(context.WithoutCancel(ctx), name)) }()
	if err := hide(ctx, db); err != nil {
		return err
	}
	proposed, err := proposals(ctx, db, roots)
	if err != nil {
		return err
	}
	r.byName = judge(proposed, c.keys, undeclared[r.name])
	if err := c.insert(ctx, db); err != nil {
		return err
	}
	if proposed, err = proposals(ctx, db, roots); err != nil {
		return err
	}
	r.byNameAndRow = judge(proposed, c.keys, undeclared[r.name])
	if o.verbose {
		r.byName.list(r.name + ", without rows")
		r.byNameAndRow.list(r.name + ", with rows")
	}
	return nil
}

// delete has the roots of this part deleted and brought back.
func (r *result) delete(ctx context.Context, o options, db *sql.DB, c *contents, roots []string) error {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	t, err := newTrial(ctx, db, c, roots, o.seed)
	if err != nil {
		return err
	}
	list := t.roots(o.each)
	for i, root := range list {
		if i%o.parts != o.part-1 {
			continue
		}
		p := t.whole
		if (i+i/o.each)%2 == 1 { // the plan of somebody who has this one root: rows stay that are roots above
			if p, err = t.planned(ctx, []string{root.table}); err != nil {
				return fmt.Errorf("from %s alone: %w", root.table, err)
			}
		}
		lines, err := t.run(ctx, p, root, &r.sum)
		if err == nil && len(lines) > 0 {
			err = errors.New(strings.Join(lines, "\n  "))
		}
		if err != nil {
			key, _ := t.key(root) //nolint:errcheck // it is only said
			return fmt.Errorf("root %d, %s %s, seed %d: %w", i, root.table, key, o.seed, err)
		}
		if (i+1)%20 == 0 || i == len(list)-1 {
			fmt.Fprintf(os.Stderr, "%s: root %d of %d, %.0fs\n", r.name, i+1, len(list), time.Since(began).Seconds())
		}
	}
	return nil
}

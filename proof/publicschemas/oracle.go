package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
)

// oracle says what a deletion must leave. It knows the foreign keys as the server declares them, and of the
// plan only whether each deletes or detaches; it follows them in memory, row by row, and knows nothing of how
// the worker goes about it.
type oracle struct {
	before  schematest.Snapshot
	keys    []schematest.ForeignKey
	actions []schema.Action    // by key
	below   []map[string][]int // by key: the rows that refer to a value
}

// place is a row: its table and its position in the snapshot.
type place struct {
	table string
	row   int
}

// outcome is what must be left, and how many rows went (the root among them) and lost a reference.
type outcome struct {
	after             schematest.Snapshot
	deleted, detached map[string]int64
}

// newOracle looks the keys' actions up in the plan. A key to a planned table that the plan lacks is an error,
// and so is a SET NULL that it does not detach: the database would, or refuse.
func newOracle(before schematest.Snapshot, keys []schematest.ForeignKey, plan schema.Plan) (*oracle, error) {
	o := &oracle{before: before}
	goes := map[string]bool{}
	for _, t := range plan.Tables {
		goes[t.Name] = !t.Stays
	}
	for _, k := range keys {
		if !goes[k.Parent] {
			continue
		}
		action := actionOf(k, plan)
		switch {
		case action == "":
			return nil, fmt.Errorf("the plan lacks the foreign key of %s %q to %s %q", k.Child, k.Columns, k.Parent, k.References)
		case action == schema.OnDeleteKeep, k.Rule == "SET NULL" && action != schema.OnDeleteDetach:
			return nil, fmt.Errorf("the foreign key of %s %q to %s is ON DELETE %s, and the plan says %s", k.Child, k.Columns, k.Parent, k.Rule, action)
		}
		rows := map[string][]int{}
		for n, r := range before[k.Child].Rows {
			if id, ok := values(before[k.Child], r, k.Columns); ok {
				rows[id] = append(rows[id], n)
			}
		}
		o.keys, o.actions, o.below = append(o.keys, k), append(o.actions, action), append(o.below, rows)
	}
	return o, nil
}

func actionOf(k schematest.ForeignKey, plan schema.Plan) schema.Action {
	for _, t := range plan.Tables {
		for _, e := range t.Parents {
			references := e.References
			if len(references) == 0 {
				at := slices.IndexFunc(plan.Tables, func(o schema.Table) bool { return o.Name == e.Table })
				references = plan.Tables[at].Key
			}
			if t.Name != k.Child || e.Table != k.Parent || !slices.Equal(e.Columns, k.Columns) || !slices.Equal(references, k.References) {
				continue
			}
			if e.OnDelete == "" {
				return schema.OnDeleteDelete
			}
			return e.OnDelete
		}
	}
	return ""
}

// children are the rows that refer to a row by one of the keys.
func (o *oracle) children(i int, p place) []int {
	k := o.keys[i]
	if k.Parent != p.table {
		return nil
	}
	id, ok := values(o.before[k.Parent], o.before[k.Parent].Rows[p.row], k.References)
	if !ok {
		return nil
	}
	return o.below[i][id]
}

// of deletes a row in the snapshot, which stays as it is.
func (o *oracle) of(root place) outcome {
	gone := map[place]bool{root: true}
	for todo := []place{root}; len(todo) > 0; todo = todo[1:] {
		for i, action := range o.actions {
			for _, n := range o.children(i, todo[0]) {
				if c := (place{o.keys[i].Child, n}); action == schema.OnDeleteDelete && !gone[c] {
					gone[c] = true
					todo = append(todo, c)
				}
			}
		}
	}
	null := map[place][]string{}
	for p := range gone {
		for i, action := range o.actions {
			for _, n := range o.children(i, p) {
				if c := (place{o.keys[i].Child, n}); action == schema.OnDeleteDetach && !gone[c] {
					null[c] = append(null[c], o.cleared(o.keys[i])...)
				}
			}
		}
	}
	return leave(o.before, gone, null)
}

// cleared are the columns of a key that become NULL: not those that must not, or that say which row it is or
// that another key deletes it.
func (o *oracle) cleared(k schematest.ForeignKey) (columns []string) {
	c := o.before[k.Child]
	for _, column := range k.Columns {
		holds := slices.Contains(c.Key, column) || !c.Nullable[slices.Index(c.Columns, column)]
		for i, other := range o.keys {
			holds = holds || other.Child == k.Child && o.actions[i] == schema.OnDeleteDelete && slices.Contains(other.Columns, column)
		}
		if !holds {
			columns = append(columns, column)
		}
	}
	return columns
}

func leave(s schematest.Snapshot, gone map[place]bool, null map[place][]string) outcome {
	out := outcome{schematest.Snapshot{}, map[string]int64{}, map[string]int64{}}
	for name, c := range s {
		left := &schematest.Contents{Columns: c.Columns, Key: c.Key, Nullable: c.Nullable}
		for n, r := range c.Rows {
			p := place{name, n}
			if gone[p] {
				out.deleted[name]++
				continue
			}
			if len(null[p]) > 0 {
				out.detached[name]++
				r = slices.Clone(r)
			}
			for _, column := range null[p] {
				r[slices.Index(c.Columns, column)] = sql.NullString{}
			}
			left.Rows = append(left.Rows, r)
		}
		out.after[name] = left
	}
	return out
}

// values are those of a row as one text, false if one is NULL: then no foreign key binds the row.
func values(c *schematest.Contents, r schematest.Row, columns []string) (string, bool) {
	var b strings.Builder
	for _, column := range columns {
		v := r[slices.Index(c.Columns, column)]
		if !v.Valid {
			return "", false
		}
		fmt.Fprintf(&b, "%d:%s", len(v.String), v.String)
	}
	return b.String(), true
}

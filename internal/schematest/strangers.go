package schematest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/onerow/onerow/schema"
)

// NumberColumn tells the rows of a node apart in a [Snapshot].
const NumberColumn = numberColumn

// Name is a row of the model, whichever of the node's tables it is in.
type Name struct {
	Node   string
	Number string // as a snapshot has it
}

// String is for people.
func (n Name) String() string { return n.Node + " number " + n.Number }

// Ref is a reference of a row to another one, over an edge of the plan that deletes, detaches or marks.
type Ref struct {
	To      Name
	Action  schema.Action
	Columns []string
	Bound   bool // by a foreign key
}

// Refs are the references of all rows that are there, to rows that are there.
func (w *World) Refs() map[Name][]Ref {
	refs := map[Name][]Ref{}
	for _, n := range w.nodes {
		for _, r := range n.rows {
			for _, e := range n.edges {
				if up := r.up[e]; !r.gone && up != nil && !up.gone && e.action != schema.OnDeleteKeep && r.below(e, map[*row]bool{up: true}) {
					refs[n.nameOf(r)] = append(refs[n.nameOf(r)], Ref{e.parent.nameOf(up), e.action, e.columns, e.rule != ""})
				}
			}
		}
	}
	return refs
}

func (n *node) nameOf(r *row) Name { return Name{n.name, strconv.Itoa(r.number)} }

// Tables are the tables of each node, the active one first.
func (w *World) Tables() map[string][]string {
	tables := map[string][]string{}
	for _, n := range w.nodes {
		tables[n.name] = n.tables
	}
	return tables
}

// Names are the tables' names in the plan, those above first.
func (w *World) Names() (names []string) {
	for _, n := range w.nodes {
		names = append(names, n.name)
	}
	return names
}

// unused are numbers of values that no row has.
const unused = 7000

// Stranger inserts a row of somebody else, with a number of its own, that takes what a deleted row was known
// by: its key, or another unique value, or both. What it refers to are rows that are there, nothing, or the
// same as before. False: the server has refused it.
func (w *World) Stranger(ctx context.Context, db *sql.DB, r *rand.Rand, of Name, number int) (bool, error) {
	n := w.nodes[slices.IndexFunc(w.nodes, func(n *node) bool { return n.name == of.Node })]
	old := n.rows[slices.IndexFunc(n.rows, func(r *row) bool { return strconv.Itoa(r.number) == of.Number })]
	values := map[string]any{}
	for _, c := range n.columns {
		values[c.name] = old.values[c.name]
	}
	n.otherRefs(r, values)
	var free []string // of the key, that no reference holds
	for _, c := range n.key {
		if c != tenantColumn && !slices.ContainsFunc(n.edges, func(e *edge) bool { return slices.Contains(e.columns, c) }) {
			free = append(free, c)
		}
	}
	taken := append([][]string{n.key}, n.uniques...)
	switch whole := old.values[taken[len(taken)-1][0]] != nil; {
	case len(taken) == 1 || !whole || len(free) == 0 || r.IntN(3) == 0: // the key
		for _, c := range taken[len(taken)-1] {
			if len(taken) > 1 && r.IntN(3) > 0 {
				values[c] = n.column(c).kind.value(unused + number)
			}
		}
	default: // the other value
		c := free[len(free)-1]
		values[c] = n.column(c).kind.value(unused + number)
	}
	b := batch{table: old.table, columns: []string{numberColumn, "note"}}
	row := []any{number, "a stranger"}
	for _, c := range n.columns {
		v := values[c.name]
		if vary := c.kind.vary; v != nil && vary != nil && r.IntN(4) == 0 {
			v = vary(r, v)
		}
		b.columns, row = append(b.columns, c.name), append(row, literal(c, v))
	}
	b.rows = [][]any{row}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("schematest: a stranger: %w", err)
	}
	if err := insert(ctx, tx, b); err != nil {
		return false, tx.Rollback() //nolint:wrapcheck // most are refused for a row above that is not there
	}
	return true, tx.Commit()
}

// otherRefs has a row refer to others than before, but for what its key holds.
func (n *node) otherRefs(r *rand.Rand, values map[string]any) {
	for _, e := range n.edges {
		if r.IntN(3) == 0 || slices.ContainsFunc(e.columns, func(c string) bool { return slices.Contains(n.key, c) }) {
			continue
		}
		for _, c := range e.columns {
			if n.column(c).null {
				values[c] = nil
			}
		}
		i := slices.IndexFunc(e.parent.rows, func(p *row) bool {
			return !p.gone && !slices.ContainsFunc(e.references, func(c string) bool { return p.values[c] == nil })
		})
		if i >= 0 && (r.IntN(2) == 0 || slices.ContainsFunc(e.columns, func(c string) bool { return values[c] != nil })) {
			for k, c := range e.columns {
				values[c] = e.parent.rows[i].values[e.references[k]]
			}
		}
	}
}

// Name names the row.
func (r Root) Name() Name { return r.node.nameOf(r.row) }

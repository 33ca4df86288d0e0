package schematest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

// Root is a row that can be deleted.
type Root struct {
	// Resource is the table's name in the plan; ID is the encoded key.
	Resource, ID string
	node         *node
	row          *row
}

// String names the row.
func (r Root) String() string { return fmt.Sprintf("%s %s", r.Resource, r.ID) }

// number tells the row from others of its table.
func (r Root) number() string { return strconv.Itoa(r.row.number) }

// Table is where the row is.
func (r Root) Table() string { return r.row.table }

// Outcome is what the model says of a deletion.
type Outcome struct {
	// Deleted is how many rows of each table go; the root does not count.
	Deleted map[string]int64
	// Detached is how many rows of each table lose a reference and stay, AtMost how many
	// references these are. What goes is not detached.
	Detached, AtMost map[string]int64
}

// Root picks a row that is there; false: there is none. The first roots are of the tables above.
func (w *World) Root() (Root, bool, error) {
	var all []Root
	for i, n := range w.nodes {
		for _, r := range n.rows {
			if !r.gone && !n.out && (i < 2 || w.chance(3)) {
				all = append(all, Root{Resource: n.name, node: n, row: r})
			}
		}
	}
	if len(all) == 0 {
		return Root{}, false, nil
	}
	root := all[w.r.IntN(len(all))]
	var parts []any
	for _, k := range root.node.key {
		parts = append(parts, root.row.values[k])
	}
	id, err := onerow.EncodeKey(parts...)
	root.ID = id
	return root, true, err
}

// Delete deletes the root in the model.
func (w *World) Delete(root Root) Outcome {
	gone := map[*row]bool{root.row: true}
	for grew := true; grew; {
		grew = false
		for _, n := range w.nodes {
			for _, r := range n.rows {
				for _, e := range n.edges {
					if e.action == schema.OnDeleteDelete && !r.gone && !gone[r] && gone[r.up[e]] {
						gone[r], grew = true, true
					}
				}
			}
		}
	}
	o := Outcome{Deleted: map[string]int64{}, Detached: map[string]int64{}, AtMost: map[string]int64{}}
	for _, n := range w.nodes {
		for _, r := range n.rows {
			switch {
			case r.gone:
			case gone[r]:
				r.gone = true
				if r != root.row {
					o.Deleted[r.table]++
				}
			default:
				n.detach(r, gone, &o)
			}
		}
	}
	return o
}

// detach takes from a row its references to rows that go.
func (n *node) detach(r *row, gone map[*row]bool, o *Outcome) {
	var null, marked []string
	for _, e := range n.edges {
		if !e.action.Detaches() || !r.below(e, gone) {
			continue
		}
		if o.AtMost[r.table]++; e.action.Mark() != "" {
			marked = append(marked, e.action.Mark())
		} else {
			null = append(null, n.cleared(e)...)
		}
	}
	if len(null)+len(marked) == 0 {
		return
	}
	o.Detached[r.table]++
	for _, c := range null {
		delete(r.values, c)
	}
	for _, c := range marked {
		r.values[c] = markValue
	}
	for _, e := range n.edges {
		if slices.ContainsFunc(e.columns, func(c string) bool { return slices.Contains(null, c) }) {
			delete(r.up, e)
		}
	}
}

// Expect is what the tables must hold, given what they held after [World.Create]: the rows
// that are not gone, NULL where a reference was taken, and marks.
func (w *World) Expect(created Snapshot) (Snapshot, error) {
	after := Snapshot{}
	for _, n := range w.nodes {
		rows := map[string]*row{}
		for _, r := range n.rows {
			rows[strconv.Itoa(r.number)] = r
		}
		for _, table := range n.tables {
			c := created[table]
			if c == nil {
				return nil, errors.New("schematest: there is no table " + table)
			}
			left := &Contents{Columns: c.Columns, Key: c.Key, Nullable: c.Nullable}
			for _, was := range c.Rows {
				r := rows[was[slices.Index(c.Columns, numberColumn)].String]
				if r == nil || r.table != table {
					return nil, fmt.Errorf("schematest: %s has a row that the model has not: %s", table, was)
				}
				if r.gone {
					continue
				}
				is := slices.Clone(was)
				for _, column := range n.columns {
					switch at := slices.Index(c.Columns, column.name); r.values[column.name] {
					case nil:
						is[at] = sql.NullString{}
					case markValue:
						is[at] = sql.NullString{String: markValue, Valid: true}
					}
				}
				left.Rows = append(left.Rows, is)
			}
			after[table] = left
		}
	}
	return after, nil
}

// Orphans is how many rows refer to nothing by an edge that deletes, by the table, the
// edge's columns and the table above.
func (w *World) Orphans() map[string]int64 {
	orphans := map[string]int64{}
	for _, n := range w.nodes {
		for _, r := range n.rows {
			for _, e := range n.edges {
				null := slices.ContainsFunc(e.columns, func(c string) bool { return r.values[c] == nil })
				if !r.gone && !null && r.up[e] == nil && e.action == schema.OnDeleteDelete && (e.when == nil || r.about == e) {
					orphans[Orphan(r.table, e.columns, e.parent.name)]++
				}
			}
		}
	}
	return orphans
}

// Orphan is the key under which Orphans counts.
func Orphan(table string, columns []string, above string) string {
	return fmt.Sprintf("%s %q → %s", table, columns, above)
}

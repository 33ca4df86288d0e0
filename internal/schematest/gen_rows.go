package schematest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// row is a row of the model: what it holds, and which rows it refers to.
type row struct {
	number int // in the column row_no
	table  string
	values map[string]any // by column; missing: NULL
	up     map[*edge]*row
	about  *edge // the polymorphic one that holds for it; nil: none
	gone   bool
}

// below says whether the row is below one of those that go, by the edge: it is not any more where it is
// marked.
func (r *row) below(e *edge, gone map[*row]bool) bool {
	return gone[r.up[e]] && (e.action.Mark() == "" || r.values[e.action.Mark()] == nil)
}

const maxRows = 45

var tenants = []any{"Acme", "o'Neil & co"}

// fill makes the rows of a table; those that close cycles come later.
func (w *World) fill(n *node) {
	for i := range 1 + w.r.IntN(maxRows) {
		r := &row{number: i + 1, table: n.tables[w.r.IntN(len(n.tables))], values: map[string]any{}, up: map[*edge]*row{}}
		if w.tenant {
			r.values[tenantColumn] = swap(w.r, tenants[w.r.IntN(len(tenants))])
		}
		for k, c := range n.columns {
			own := !slices.ContainsFunc(n.edges, func(e *edge) bool { return slices.Contains(e.columns, c.name) || e.when[c.name] != "" })
			if strings.HasPrefix(c.name, MarkPrefix) && !w.chance(5) {
				continue
			}
			if _, has := r.values[c.name]; own && !has && (!c.null || !w.chance(4)) {
				j := i
				if k == 0 && len(n.key) > 1 && n.key[0] == c.name {
					j = i % 5 // the rest of the key tells the rows apart
				}
				r.values[c.name] = c.kind.value(j)
			}
		}
		if w.refer(n, r) {
			n.rows = append(n.rows, r)
		}
	}
}

// refer gives a row its references; false: it cannot be.
func (w *World) refer(n *node, r *row) bool {
	for _, e := range n.edges {
		if e.back || e.when != nil {
			continue
		}
		among := e.parent.rows
		if e.parent == n {
			if among = slices.Clone(among); e.chain && len(among) > 0 {
				among = among[len(among)-1:]
			}
			if len(n.cleared(e)) == 0 || w.chance(8) {
				among = append(among, r)
			}
		}
		if extends := slices.Equal(n.key, e.columns); extends {
			among = slices.DeleteFunc(slices.Clone(among), func(p *row) bool {
				return slices.ContainsFunc(n.rows, func(c *row) bool { return c.up[e] == p })
			})
		}
		if !w.point(n, e, r, among) {
			return false
		}
	}
	return w.about(n, r)
}

// point lets a row refer to one of the others, or to none.
func (w *World) point(n *node, e *edge, r *row, among []*row) bool {
	among = slices.DeleteFunc(slices.Clone(among), func(p *row) bool {
		return p.values[e.references[len(e.references)-1]] == nil || w.tenant && !same(p.values[tenantColumn], r.values[tenantColumn])
	})
	null := slices.ContainsFunc(e.columns, func(name string) bool { return n.column(name).null })
	switch {
	case null && (len(among) == 0 || w.chance(6)):
		return true
	case e.rule == "" && w.Declared && w.chance(10):
		w.dangling++
		for _, c := range e.columns {
			if c != tenantColumn {
				r.values[c] = n.column(c).kind.value(5000 + w.dangling) // there is no such row
			}
		}
		return true
	case len(among) == 0:
		return false
	}
	p := among[w.r.IntN(len(among))]
	if w.chance(2) {
		p = among[w.r.IntN(min(3, len(among)))] // some have many children
	}
	r.up[e] = p
	for i, c := range e.columns {
		if c == tenantColumn {
			continue
		}
		v := p.values[e.references[i]]
		if vary := n.column(c).kind.vary; vary != nil && w.chance(2) {
			v = vary(w.r, v)
		}
		r.values[c] = v
	}
	return true
}

// same compares as the tenant's column does.
func same(a, b any) bool {
	fold := func(v any) string {
		s, ok := v.(string)
		if !ok {
			return ""
		}
		return string(bytes.ToLower(bytes.TrimRight([]byte(s), " ")))
	}
	return fold(a) == fold(b)
}

// about gives a row what it is about, if it has such columns.
func (w *World) about(n *node, r *row) bool {
	var edges []*edge
	for _, e := range n.edges {
		if e.when != nil {
			edges = append(edges, e)
		}
	}
	if len(edges) == 0 {
		return true
	}
	e := edges[w.r.IntN(len(edges))]
	live := true
	for _, name := range slices.Sorted(maps.Keys(e.when)) {
		c := n.column(name)
		switch {
		case c.kind.ddl != "TINYINT" && c.kind.vary != nil && w.chance(2):
			r.values[name] = swap(w.r, e.when[name])
		default:
			r.values[name] = e.when[name]
		}
		if !c.null && len(e.when) > 1 && e.when[name] == "1" && w.chance(6) {
			if flagged := slices.ContainsFunc(edges, func(o *edge) bool { return o.when[name] != "1" }); !flagged {
				r.values[name], live = "0", false
			}
		}
	}
	among := e.parent.rows
	if e.parent == n {
		among = append(slices.Clone(among), r)
	}
	if !w.point(n, e, r, among) {
		return false
	}
	if r.about = e; !live {
		r.about = nil
		delete(r.up, e)
	}
	return true
}

// close gives the rows the references that close cycles: from tables above to tables
// below, and loops between the rows of one table where one of them can be NULL.
func (w *World) close() {
	for _, n := range w.nodes {
		loops := !slices.ContainsFunc(n.edges, func(e *edge) bool { return e.parent == n && len(n.cleared(e)) == 0 })
		for _, e := range n.edges {
			for _, r := range n.rows {
				if e.back || e.parent == n && e.when == nil && loops && w.chance(5) {
					delete(r.up, e)
					for _, c := range n.cuts(e) {
						delete(r.values, c)
					}
					w.point(n, e, r, e.parent.rows) // it can be NULL, so there is always a way
				}
			}
		}
	}
}

// cuts are the columns of the edge that can be NULL.
func (n *node) cuts(e *edge) []string {
	return slices.DeleteFunc(slices.Clone(e.columns), func(name string) bool { return !n.column(name).null || slices.Contains(n.key, name) })
}

// literal is the value for the driver.
func literal(c *column, v any) any {
	if s, ok := v.(string); ok && c.kind.ddl == "TINYINT" {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i
		}
	}
	return v
}

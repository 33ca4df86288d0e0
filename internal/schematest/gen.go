package schematest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/onerow/onerow/schema"
)

// World is a random schema with its plan and its rows.
type World struct {
	// Seed makes the same world again.
	Seed uint64
	// Declared says that it has what no foreign key says: polymorphic edges, archive pairs, edges that are
	// kept, references to nothing. Without, every edge is a foreign key and discovery finds the plan.
	Declared bool
	nodes    []*node
	r        *rand.Rand
	tenant   bool // keys begin with a column that all edges share
	columns  int  // names given away
	dangling int  // values given away that no row has
}

type node struct {
	name    string
	tables  []string // and the archive
	key     []string
	columns []*column
	uniques [][]string
	edges   []*edge
	rows    []*row
	out     bool // a plan that was adopted does not reach it
}

type column struct {
	name string
	kind kind
	null bool
}

type edge struct {
	parent              *node
	columns, references []string
	when                map[string]string
	action              schema.Action
	rule                string // ON DELETE of the foreign key; "": there is none
	back                bool   // closes a cycle
	chain               bool   // rows refer to the one before them
	index               []string
}

// Generate makes the world of a seed. Odd seeds are declared.
func Generate(seed uint64) *World {
	w := &World{Seed: seed, Declared: seed%2 == 1, r: rand.New(rand.NewPCG(seed, 4))} //nolint:gosec // to be repeated
	w.tenant = w.chance(6)
	n := 2 + w.r.IntN(7)
	for i := range n {
		w.node(i)
	}
	for i, node := range w.nodes {
		if w.chance(3) {
			w.selfEdge(node)
		}
		if i < n-1 && w.chance(3) {
			w.backEdge(node, w.nodes[i+1+w.r.IntN(n-1-i)])
		}
		if w.Declared && !w.tenant && w.chance(3) {
			w.polymorphic(node, w.nodes[:i+1])
		}
	}
	for _, node := range w.nodes {
		w.fill(node)
	}
	w.close()
	return w
}

// chance is true once in n times.
func (w *World) chance(n int) bool { return w.r.IntN(n) == 0 }

// column adds a column and returns its name.
func (w *World) column(n *node, base string, k kind, null bool) string {
	w.columns++
	c := &column{name(w.r, columnNames, base, w.columns), k, null}
	n.columns = append(n.columns, c)
	return c.name
}

func (n *node) column(name string) *column {
	return n.columns[slices.IndexFunc(n.columns, func(c *column) bool { return c.name == name })]
}

const tenantColumn = "tenant"

// node adds a table, or a pair, with edges to those that are there.
func (w *World) node(i int) {
	n := &node{name: name(w.r, tableNames, "t", i)}
	n.tables = []string{n.name}
	if w.Declared && w.chance(4) {
		n.tables = append(n.tables, n.name+"_archive")
	}
	switch {
	case w.tenant:
		n.columns = append(n.columns, &column{tenantColumn, kinds[6], false})
		n.key = []string{tenantColumn, w.column(n, "id", anyKind(w.r), false)}
	case i > 0 && w.chance(4):
		e := w.edge(n, w.nodes[w.r.IntN(i)], false)
		n.key = slices.Clone(e.columns)
		if !w.chance(4) { // else it extends the row above
			n.key = append(n.key, w.column(n, "seq", kinds[w.r.IntN(5)], false))
		}
	default:
		for range 1 + w.r.IntN(6)/4 {
			n.key = append(n.key, w.column(n, "id", anyKind(w.r), false))
		}
	}
	if !w.tenant && w.chance(3) {
		n.uniques = append(n.uniques, []string{w.column(n, "code", anyKind(w.r), w.chance(2))})
	}
	for range 3 {
		if i > 0 && (len(n.edges) == 0 || w.chance(3)) {
			parent := w.nodes[max(w.r.IntN(i), w.r.IntN(i))] // rather deep than wide
			w.act(n, w.edge(n, parent, w.chance(2)))
		}
	}
	w.nodes = append(w.nodes, n)
}

// edge adds columns that refer to the key of the parent, or to another unique column, and a
// foreign key where there can be one. It is of action delete.
func (w *World) edge(n, parent *node, null bool) *edge {
	e := &edge{parent: parent, references: parent.key, action: schema.OnDeleteDelete}
	if len(parent.uniques) > 0 && w.chance(2) {
		e.references = parent.uniques[0]
	}
	for _, reference := range e.references {
		if reference == tenantColumn {
			e.columns = append(e.columns, tenantColumn)
			continue
		}
		e.columns = append(e.columns, w.column(n, "up", parent.column(reference).kind, null))
	}
	if len(parent.tables) == 1 && (!w.Declared || w.chance(2)) {
		e.rule = []string{"RESTRICT", "NO ACTION"}[w.r.IntN(2)]
		if (!null || n == parent) && w.chance(6) { // it will have nothing to do
			e.rule = "CASCADE"
		}
	}
	w.indexed(e)
	n.edges = append(n.edges, e)
	return e
}

// indexed gives an edge the columns of its index. A foreign key wants its own order.
func (w *World) indexed(e *edge) {
	e.index = append(slices.Sorted(maps.Keys(e.when)), e.columns...)
	if mark := e.action.Mark(); mark != "" {
		e.index = append(e.index, mark)
	}
	if e.rule == "" {
		w.r.Shuffle(len(e.index), func(i, j int) { e.index[i], e.index[j] = e.index[j], e.index[i] })
	}
	if w.chance(4) {
		e.index = append(e.index, numberColumn)
	}
}

// act gives an edge another action, where it can have one.
func (w *World) act(n *node, e *edge) {
	able := len(n.cleared(e)) > 0
	free := able && len(n.cleared(e)) == len(e.columns) // only then may a foreign key set NULL
	switch w.r.IntN(5) {
	case 0:
		if free && (e.rule != "" || !w.Declared) {
			e.action, e.rule = schema.OnDeleteDetach, "SET NULL"
		} else if able && w.Declared {
			e.action = schema.OnDeleteDetach
			if e.rule != "" {
				e.rule = "RESTRICT"
			}
		}
	case 1:
		if w.Declared && e.rule == "" {
			e.action = schema.OnDeleteKeep
		}
	case 2:
		if w.Declared && e.rule == "" {
			e.action = w.mark(n)
			w.indexed(e)
		}
	}
}

// MarkPrefix begins the names of the columns that an edge marks. [Read] has markValue for each time in one.
const (
	MarkPrefix = "marked at "
	markValue  = "a time"
)

// mark adds a column that an edge marks.
func (w *World) mark(n *node) schema.Action {
	w.columns++
	c := &column{fmt.Sprint(MarkPrefix, w.columns), kind{ddl: []string{"DATETIME", "DATETIME(6)", "TIMESTAMP(3)"}[w.r.IntN(3)], value: func(int) any { return "2001-02-03 04:05:06" }}, true}
	n.columns = append(n.columns, c)
	return schema.OnDeleteMark(c.name)
}

// cleared are the columns of the edge that a detaching sets to NULL.
func (n *node) cleared(e *edge) []string {
	return slices.DeleteFunc(slices.Clone(e.columns), func(name string) bool {
		return !n.column(name).null || slices.Contains(n.key, name) || slices.ContainsFunc(n.edges, func(other *edge) bool {
			return other != e && other.action == schema.OnDeleteDelete && slices.Contains(other.columns, name)
		})
	})
}

func (w *World) selfEdge(n *node) {
	for i := range 1 + w.r.IntN(5)/4 {
		e := w.edge(n, n, i > 0 || !w.chance(4))
		e.chain = w.chance(3)
		switch {
		case e.rule != "" && len(n.cuts(e)) == 0:
			e.rule = "CASCADE" // else neither engine ever deletes a row that refers to itself
		case e.rule == "CASCADE" && i > 0:
			e.rule = "RESTRICT" // nor MySQL one that does so twice
		}
		if w.chance(4) {
			w.act(n, e)
		}
	}
}

// backEdge closes a cycle from a table above to one below.
func (w *World) backEdge(n, below *node) {
	e := w.edge(n, below, true)
	e.back, e.action = true, schema.OnDeleteDetach
	switch {
	case w.Declared && e.rule == "" && w.chance(2):
		e.action = schema.OnDeleteKeep
	case w.Declared && e.rule == "" && w.chance(2):
		e.action = w.mark(n)
		w.indexed(e)
	case e.rule != "" && len(n.cleared(e)) == len(e.columns) && w.chance(3):
		e.rule = "SET NULL"
	}
}

// polymorphic adds a column that says what the row is about, and one that says which.
func (w *World) polymorphic(n *node, above []*node) {
	above = slices.DeleteFunc(slices.Clone(above), func(p *node) bool { return len(p.key) != 1 || !p.column(p.key[0]).kind.number })
	if len(above) == 0 {
		return
	}
	what := kinds[6+w.r.IntN(3)]
	if w.chance(3) {
		what = kind{ddl: "TINYINT", value: whole(1, 1)}
	}
	about := w.column(n, "about kind", what, w.chance(2))
	id := w.column(n, "about id", kind{ddl: "BIGINT", value: whole(0, 1)}, !w.chance(3))
	more := ""
	if w.chance(4) {
		more = w.column(n, "live", kind{ddl: "TINYINT", value: whole(0, 1)}, false)
	}
	action := schema.OnDeleteDelete
	if n.column(id).null && w.chance(3) {
		action = schema.OnDeleteDetach
	} else if w.chance(3) {
		action = w.mark(n)
	}
	for i, p := range above[max(0, len(above)-3):] {
		e := &edge{parent: p, columns: []string{id}, references: p.key, action: action, when: map[string]string{about: fmt.Sprint(what.value(i + 1))}}
		if more != "" {
			e.when[more] = "1"
		}
		if w.chance(5) {
			e.action = schema.OnDeleteKeep
		}
		w.indexed(e)
		n.edges = append(n.edges, e)
	}
}

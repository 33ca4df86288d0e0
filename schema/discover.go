package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

var (
	// ErrDiscover means: no plan can be made from the foreign keys. The text names each
	// obstacle and what to do about it; nothing is planned halfway.
	ErrDiscover = errors.New("schema: no plan can be made of these tables")
	// ErrUnknownTable means: the database has no table of that name, or none that the
	// user may see.
	ErrUnknownTable = errors.New("schema: unknown table")
	// ErrLoop means: tables refer to each other in a loop of which no column may be
	// NULL, so there is no order in which their rows could be deleted.
	ErrLoop = errors.New("schema: a loop of foreign keys that cannot be broken")
)

// Note is something that a person who reads a discovered plan should know.
type Note struct {
	// Table is the table that is concerned, or empty: the whole plan.
	Table string `json:"table,omitempty"`
	// Text is one or two sentences.
	Text string `json:"text"`
}

// Discover makes a plan of the tables that can be reached from the roots over foreign
// keys, from the row above to the rows below, and notes about it:
//
//   - ON DELETE CASCADE, RESTRICT and NO ACTION become edges that delete;
//   - ON DELETE SET NULL becomes one that detaches: such a table is in the plan, but
//     nothing below it ([Table.Stays]);
//   - tables that refer to each other in a loop are found by strongly connected
//     components, and a loop is broken by detaching at an edge whose columns may all be
//     NULL and are neither in the key nor in another edge that deletes; of several it is
//     the one that leads back towards a root; the note says which and why;
//   - a table that refers to itself keeps its edge.
//
// The same database gives the same plan. What no foreign key says, a person adds:
// polymorphic children, soft references, archive tables, assets.
//
// A user is shown no table on which it has no right: a note says so where the user has
// rights on single tables only.
//
// Nine plain reads. Errors: [ErrUnknownTable]; [ErrLoop] with the loop, its columns
// and why none can be detached; [ErrDiscover] with each obstacle: a root that is no
// table, a table without a primary key, with a key of a type that cannot be held exactly,
// of an engine without transactions, or a name that cannot be in a plan; and the
// driver's.
func Discover(ctx context.Context, db onerow.DB, roots []string) (Plan, []Note, error) {
	p, notes, _, err := discover(ctx, db, roots, nil, false)
	return p, notes, err
}

func discover(ctx context.Context, db onerow.DB, roots []string, soft []Soft, guess bool) (Plan, []Note, []Proposal, error) {
	found, err := readDatabase(ctx, db)
	if err != nil {
		return Plan{}, nil, nil, fmt.Errorf("schema: discover: %w", err)
	}
	d := &discovery{found: found, nodes: map[string]*candidate{}, soft: soft, guessed: guess}
	references, err := d.plan(roots)
	if err != nil {
		return Plan{}, nil, nil, err
	}
	p := d.result()
	if err := p.Check(); err != nil {
		return Plan{}, nil, nil, fmt.Errorf("%w: %w", ErrDiscover, err)
	}
	var a Access
	g, err := readGrants(ctx, db, &a)
	if err != nil {
		return Plan{}, nil, nil, fmt.Errorf("schema: discover: %w", err)
	}
	var proposals []Proposal
	if guess {
		proposals = d.guess(p, references)
	}
	return p, append(g.blind(a, p), d.notes(p)...), proposals, nil
}

// discovery walks the foreign keys of a database.
type discovery struct {
	found *database
	roots []string
	nodes map[string]*candidate
	order []string // in which they were found
	soft  []Soft

	restricted []string
	guessed    bool // proposals are made of what only looks like a reference
	remarks,
	obstacles []Note
}

// candidate is a table that was reached.
type candidate struct {
	table *foundTable
	depth int // edges to the nearest root
	edges []*reference
	stays bool
}

// reference is a foreign key on its way to become an edge.
type reference struct {
	foreignKey
	action Action
	soft   bool   // a person says so, and no foreign key
	why    string // for the note, where the action is not what the rule says
}

func (r *reference) edge() Edge {
	return Edge{Table: r.to, Columns: r.columns, References: r.references, OnDelete: r.action}
}

func (d *discovery) remark(table, format string, args ...any) {
	d.remarks = append(d.remarks, Note{table, fmt.Sprintf(format, args...)})
}

func (d *discovery) obstacle(table, format string, args ...any) {
	d.obstacles = append(d.obstacles, Note{table, fmt.Sprintf(format, args...)})
}

func (d *discovery) plan(roots []string) ([]*reference, error) {
	if len(roots) == 0 {
		return nil, fmt.Errorf("%w: name at least one table to begin with", ErrDiscover)
	}
	for _, name := range roots {
		t := d.found.table(name)
		if t == nil {
			return nil, fmt.Errorf("%w: %q; the database %q has none that this user may see%s", ErrUnknownTable, name, d.found.name, didYouMean(name, d.tableNames()))
		}
		if isToolkits(t.name) {
			return nil, fmt.Errorf("%w: %q is one of the toolkit's own", ErrDiscover, t.name)
		}
		if !slices.Contains(d.roots, t.name) {
			d.roots = append(d.roots, t.name)
		}
	}
	references, err := d.softly(d.references())
	if err != nil {
		return nil, err
	}
	d.reach(references)
	if err := d.breakLoops(references); err != nil {
		return nil, err
	}
	d.reach(references) // an edge that detaches is not followed any more
	for _, name := range d.order {
		d.usable(d.nodes[name])
	}
	if len(d.obstacles) == 0 {
		return references, nil
	}
	var errs []error
	for _, o := range d.obstacles {
		errs = append(errs, fmt.Errorf("table %q: %s", o.Table, o.Text))
	}
	return nil, fmt.Errorf("%w: %w", ErrDiscover, errors.Join(errs...))
}

func (d *discovery) tableNames() []string {
	var names []string
	for _, t := range d.found.tables {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// references are the foreign keys within the database. Of two with the same columns
// the one that deletes counts.
func (d *discovery) references() []*reference {
	var all []*reference
	for _, f := range d.found.foreign {
		if f.schema != d.found.name || f.toSchema != d.found.name {
			continue
		}
		child, parent := d.found.table(f.table), d.found.table(f.to)
		if child == nil || parent == nil || len(f.columns) == 0 {
			continue
		}
		f.table, f.to = child.name, parent.name
		r := &reference{foreignKey: f, action: OnDeleteDelete}
		if strings.EqualFold(f.onDelete, "SET NULL") {
			r.action = OnDeleteDetach
		}
		twin := slices.IndexFunc(all, func(o *reference) bool {
			return o.table == r.table && o.to == r.to && slices.Equal(lower(o.columns), lower(r.columns)) && slices.Equal(lower(o.references), lower(r.references))
		})
		switch {
		case twin < 0:
			all = append(all, r)
		case r.action == OnDeleteDelete:
			all[twin].action = OnDeleteDelete
		}
	}
	return all
}

// reach finds the tables below the roots.
func (d *discovery) reach(references []*reference) {
	d.nodes, d.order = map[string]*candidate{}, nil
	add := func(name string, depth int) *candidate {
		n := &candidate{table: d.found.table(name), depth: depth}
		d.nodes[name] = n
		d.order = append(d.order, name)
		return n
	}
	for _, root := range d.roots {
		add(root, 0)
	}
	for i := 0; i < len(d.order); i++ {
		above := d.nodes[d.order[i]]
		for _, r := range references {
			if r.to == above.table.name && r.action == OnDeleteDelete && d.nodes[r.table] == nil {
				add(r.table, above.depth+1)
			}
		}
	}
	followed := slices.Clone(d.order)
	for _, r := range references {
		if !slices.Contains(followed, r.to) {
			continue
		}
		if d.nodes[r.table] == nil {
			add(r.table, d.nodes[r.to].depth+1).stays = true
		}
		d.nodes[r.table].edges = append(d.nodes[r.table].edges, r)
	}
}

// result is the plan: roots first, then table by table as they were found.
func (d *discovery) result() Plan {
	var p Plan
	for _, name := range d.order {
		n := d.nodes[name]
		t := Table{Name: name, Key: n.table.spelled(n.table.primary()), Stays: n.stays}
		for _, r := range n.edges {
			e := r.edge()
			above := d.nodes[e.Table].table
			if slices.Equal(lower(e.References), above.primary()) {
				e.References = nil // the default
			}
			if e.OnDelete == OnDeleteDelete {
				e.OnDelete = ""
			}
			t.Parents = append(t.Parents, e)
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

// spelled returns the columns' names as the table spells them.
func (t *foundTable) spelled(columns []string) []string {
	names := slices.Clone(columns)
	for i, col := range columns {
		if f := t.column(col); f != nil {
			names[i] = f.name
		}
	}
	return names
}

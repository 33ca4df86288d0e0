package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/live"
)

var (
	// ErrNoPlan means: no plan can be made from the foreign keys. The text names each
	// obstacle and what to do about it; nothing is planned halfway.
	ErrNoPlan = errors.New("schema: no plan can be made of these tables")
	// ErrUnknownTable means: a root or a soft reference names no table of the database, or none that the user
	// may see.
	ErrUnknownTable = errors.New("schema: unknown table")
)

// Plan makes a plan of the tables that can be reached from the roots over foreign keys, from the row above to
// the rows below, notes about it, and proposals for references that no foreign key says:
//
//   - ON DELETE CASCADE, RESTRICT and NO ACTION become edges that delete;
//   - ON DELETE SET NULL becomes one that detaches: such a table is in the plan, but
//     nothing below it ([schema.Table.Stays]);
//   - tables that refer to each other in a loop are found by strongly connected
//     components, and a loop is broken by detaching at an edge whose columns may all be
//     NULL and are neither in the key nor in another edge that deletes; of several it is
//     the one that leads back towards a root; the note says which and why;
//   - a table that refers to itself keeps its edge;
//   - a soft reference, which only a person knows, counts as a foreign key that restricts:
//     "host_id=hosts.id", or "host_id=hosts" for the primary key, is of every column of that name, in
//     whatever table. One that applies to no column is an error.
//
// It starts from the old plan, which may be empty: what that has stays as it is, and comes first. Its tables
// are roots, too, and its edges decide what becomes of rows, even where a foreign key says otherwise. The
// notes are about what is new. The same database gives the same plan. What no name says either, a person
// adds: polymorphic children, of which a note names pairs of columns (object_type, object_id) that look so,
// archive tables, assets.
//
// A user is shown no table on which it has no right: a note says so where the user has
// rights on single tables only.
//
// Ten plain reads, and one for each proposal, which says how many of the first values are there above: of
// 2,000 rows at most, and of five seconds; what cannot be read in time, or may not be, is said to be unknown.
// Errors: [ErrUnknownTable]; [ErrNoPlan] with each obstacle: a root that is no table, a
// table without a primary key, with a key of a type that cannot be held exactly, of an engine without
// transactions, a name that cannot be in a plan, or a loop with its columns and why none can be detached;
// [schema.ErrInvalidPlan] of the old plan; and the driver's.
func Plan(ctx context.Context, db onerow.DB, old schema.Plan, roots, soft []string) (schema.Plan, []live.Note, []Proposal, error) {
	fail := func(err error) (schema.Plan, []live.Note, []Proposal, error) { return schema.Plan{}, nil, nil, err }
	if len(old.Resources)+len(old.Tables) > 0 {
		if err := old.Check(); err != nil {
			return fail(err)
		}
	}
	declared, err := parseSoft(soft)
	if err != nil {
		return fail(err)
	}
	d := &discovery{old: old, roots: roots, soft: declared}
	if d.found, err = dict.Read(ctx, db); err != nil {
		return fail(fmt.Errorf("schema: discover: %w", err))
	}
	if err := d.keepOld(); err != nil {
		return fail(err)
	}
	references, err := d.plan()
	if err != nil {
		return fail(err)
	}
	p := d.extended()
	if err := p.Check(); err != nil {
		return fail(fmt.Errorf("%w: %w", ErrNoPlan, err))
	}
	access, err := live.VerifyPrivileges(ctx, db, p, nil)
	if err != nil {
		return fail(fmt.Errorf("schema: discover: %w", err))
	}
	notes, proposals := append(access.Blind, d.notes(p)...), d.guess(p, references)
	for i := range proposals {
		said, err := proposals[i].look(ctx, db)
		switch {
		case ctx.Err() != nil:
			return fail(fmt.Errorf("schema: discover: %w", context.Cause(ctx)))
		case err != nil:
			said = "its values could not be looked at"
		}
		proposals[i].Evidence = append(proposals[i].Evidence, said)
	}
	return p, notes, proposals, nil
}

type discovery struct {
	found *dict.Database
	old   schema.Plan            // that is extended
	known map[string]schema.Node // of the old plan, by each of its tables
	roots []string
	nodes map[string]*candidate
	order []string // in which they were found
	soft  []softReference

	restricted []string
	remarks,
	obstacles []live.Note
}

type candidate struct {
	table *dict.Table
	depth int // edges to the nearest root
	edges []*reference
	stays bool
}

// reference is a foreign key on its way to become an edge.
type reference struct {
	dict.ForeignKey
	action schema.Action
	soft   bool   // a person says so, and no foreign key
	old    bool   // the plan has it
	why    string // for the note, where the action is not what the rule says
}

func (r *reference) edge() schema.Edge {
	return schema.Edge{Table: r.To, Columns: r.Columns, References: r.References, OnDelete: r.action}
}

// same says whether the other is between the same columns.
func (r *reference) same(o *reference) bool {
	return o.Table == r.Table && o.To == r.To && slices.Equal(colset.Lower(o.Columns), colset.Lower(r.Columns)) && slices.Equal(colset.Lower(o.References), colset.Lower(r.References))
}

func (d *discovery) remark(table, format string, args ...any) {
	d.remarks = append(d.remarks, live.Note{Table: table, Text: fmt.Sprintf(format, args...)})
}

func (d *discovery) obstacle(table, format string, args ...any) {
	d.obstacles = append(d.obstacles, live.Note{Table: table, Text: fmt.Sprintf(format, args...)})
}

func (d *discovery) plan() ([]*reference, error) {
	named := d.roots
	if len(named)+len(d.known) == 0 {
		return nil, fmt.Errorf("%w: name at least one table to begin with", ErrNoPlan)
	}
	d.roots = nil
	for _, name := range named {
		t := d.found.Table(name)
		if t == nil {
			return nil, fmt.Errorf("%w: %q; the database %q has none that this user may see", ErrUnknownTable, name, d.found.Name)
		}
		if shape.IsToolkits(t.Name) {
			return nil, fmt.Errorf("%w: %q is one of the toolkit's own", ErrNoPlan, t.Name)
		}
		if name := d.activeTable(t.Name); !slices.Contains(d.roots, name) {
			d.roots = append(d.roots, name)
		}
	}
	for _, n := range d.old.Nodes() {
		if name := d.found.Table(n.Tables[0]).Name; !n.Stays && !slices.Contains(d.roots, name) {
			d.roots = append(d.roots, name)
		}
	}
	references, err := d.withDeclared(d.withOld(d.references()))
	if err != nil {
		return nil, err
	}
	d.reach(references)
	if err := d.breakLoops(references); err != nil {
		return nil, err
	}
	d.reach(references) // an edge that detaches is not followed any more
	for _, name := range d.order {
		if _, known := d.known[name]; !known {
			d.checkTable(d.nodes[name])
		}
	}
	if len(d.obstacles) == 0 {
		return references, nil
	}
	var errs []error
	for _, o := range d.obstacles {
		errs = append(errs, fmt.Errorf("table %q: %s", o.Table, o.Text))
	}
	return nil, fmt.Errorf("%w: %w", ErrNoPlan, errors.Join(errs...))
}

func (d *discovery) tableNames() []string {
	var names []string
	for _, t := range d.found.Tables {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// references are the foreign keys within the database. Of two with the same columns
// the one that deletes counts.
func (d *discovery) references() []*reference {
	var all []*reference
	for _, f := range d.found.Foreign {
		if f.Schema != d.found.Name || f.ToSchema != d.found.Name {
			continue
		}
		child, parent := d.found.Table(f.Table), d.found.Table(f.To)
		if child == nil || parent == nil || len(f.Columns) == 0 {
			continue
		}
		f.Table, f.To = d.activeTable(child.Name), d.activeTable(parent.Name)
		r := &reference{ForeignKey: f, action: schema.OnDeleteDelete}
		if strings.EqualFold(f.OnDelete, "SET NULL") {
			r.action = schema.OnDeleteDetach
		}
		twin := slices.IndexFunc(all, r.same)
		switch {
		case twin < 0:
			all = append(all, r)
		case r.action == schema.OnDeleteDelete:
			all[twin].action = schema.OnDeleteDelete
		}
	}
	return all
}

func (d *discovery) reach(references []*reference) {
	d.nodes, d.order = map[string]*candidate{}, nil
	add := func(name string, depth int) *candidate {
		n := &candidate{table: d.found.Table(name), depth: depth}
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
			if r.To == above.table.Name && r.action == schema.OnDeleteDelete && d.nodes[r.Table] == nil {
				add(r.Table, above.depth+1)
			}
		}
	}
	followed := slices.Clone(d.order)
	for _, r := range references {
		if !slices.Contains(followed, r.To) || r.action == schema.OnDeleteKeep {
			continue
		}
		if d.nodes[r.Table] == nil {
			add(r.Table, d.nodes[r.To].depth+1).stays = true
		}
		d.nodes[r.Table].edges = append(d.nodes[r.Table].edges, r)
	}
}

// newEdges are the edges of a table that the old plan has not.
func (d *discovery) newEdges(n *candidate) (edges []schema.Edge) {
	for _, r := range n.edges {
		if r.old {
			continue
		}
		e := r.edge()
		if slices.Equal(colset.Lower(e.References), d.found.Table(e.Table).Primary()) {
			e.References = nil // the default
		}
		if e.OnDelete == schema.OnDeleteDelete {
			e.OnDelete = ""
		}
		e.Table = d.nameInPlan(e.Table)
		edges = append(edges, e)
	}
	return edges
}

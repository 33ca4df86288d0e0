// Package verify compares a database with a plan: each difference has its kind, and a fix that a test has
// tried. live.Verify tells a program of the differences, package adopt makes steps of them.
//
// Open this package when a difference between plan and database is missed, or its fix is wrong.
package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Compare reads the database, and returns it with the differences between it and the plan.
func Compare(ctx context.Context, db onerow.DB, plan schema.Plan) (*dict.Database, []Finding, error) {
	read, err := dict.Read(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	found := &seen{Database: read}
	if err := found.probe(ctx, db, plan); err != nil {
		return nil, nil, err
	}
	if err := found.readCounters(ctx, db, plan); err != nil {
		return nil, nil, err
	}
	said := found.verify(plan)
	if asked := read.MissingDefinitions(); len(asked) > 0 {
		if err := read.ReadDefinitions(ctx, db, asked); err != nil {
			return nil, nil, err
		}
		said = found.verify(plan)
	}
	return read, said, nil
}

// seen is what the database says that no catalog has.
type seen struct {
	*dict.Database
	hidden   map[string]bool   // tables that were asked for and on which the user has no right
	counted  bool              // whether there was anything to read of these:
	counters map[string]uint64 // the next id of tables that number their rows
	highest  map[idKept]uint64 // the highest id that is kept
	unread   map[string]bool   // tables whose ids the user may not read
}

// verifier collects differences.
type verifier struct {
	found    *seen
	findings []Finding
	wrong    map[columnOf]bool // columns that differ; whether a person has to see to it
}

type columnOf struct {
	table  *dict.Table
	column string // lower case
}

// verify names the differences. What it asks for in asked is not known yet: it is read,
// and verify runs again.
func (s *seen) verify(plan schema.Plan) []Finding {
	v := verifier{found: s, wrong: map[columnOf]bool{}}
	for _, r := range resources(plan) {
		v.resource(r)
	}
	for _, t := range plan.Tables {
		v.foreign(t)
	}
	nodes := plan.Nodes()
	for _, n := range nodes {
		for _, e := range n.Parents {
			if !isParent(plan, n, e) {
				v.edge(nodes, n, e)
			}
		}
	}
	v.foreignKeys(nodes)
	v.trash(nodes)
	v.retention(nodes)
	v.counters(plan)
	v.toolkit()
	slices.SortStableFunc(v.findings, v.byTable(nodes))
	return v.findings
}

// resources are those of the plan, with their defaults.
func resources(plan schema.Plan) []schema.Resource {
	var all []schema.Resource
	for _, r := range plan.Resources {
		if filled, err := plan.Resource(r.Name); err == nil { // it is one of the plan
			all = append(all, filled)
		}
	}
	return all
}

// isParent says whether the edge is a resource's Parent, not one of its Parents: its columns are looked at
// with the resource.
func isParent(plan schema.Plan, n schema.Node, e schema.Edge) bool {
	return slices.ContainsFunc(plan.Resources, func(r schema.Resource) bool {
		return r.Name == n.Name && r.Parent.Resource == e.Table && slices.Equal(e.Columns, []string{r.Parent.Column})
	})
}

// byTable orders differences by their tables, in the order of the plan; the toolkit's
// and others are last.
func (v *verifier) byTable(nodes []schema.Node) func(a, b Finding) int {
	rank := map[string]int{}
	for _, n := range nodes {
		for _, name := range n.Tables {
			rank[v.found.Key(name)] = len(rank) - 1000
		}
	}
	return func(a, b Finding) int { return rank[v.found.Key(a.Table)] - rank[v.found.Key(b.Table)] }
}

// resource holds the resource's tables against what DDL would make.
func (v *verifier) resource(r schema.Resource) {
	tables := r.Shape()
	for i, want := range tables {
		have := v.table(want.Name, "run the CREATE TABLE that Plan.DDL returns for it")
		if have == nil {
			continue
		}
		v.columns(r, want, have)
		v.unknownColumns(r, want, have)
		v.indexes(want, have)
		v.unknownIndexes(want, have)
		v.triggers(have)
		if active := v.found.Table(r.Active); i > 0 && active != nil {
			v.sameColumns(r, active, have)
			v.sameOrder(r, active, have)
		}
	}
}

// table says what is wrong with the table itself, and returns it unless it is
// missing.
func (v *verifier) table(name, create string) *dict.Table {
	have := v.found.Table(name)
	switch {
	case have == nil && v.found.hidden[name]:
		v.report(TableHidden, Difference{Table: name, Problem: "the user has no right on it, so it is not shown, if it exists", Fix: "see cascade-worker verify, which says what to GRANT"}, "")
	case have == nil:
		v.report(TableMissing, Difference{Table: name, Problem: Absent, Fix: create}, "")
	case !have.IsTable():
		v.report(TableView, Difference{Table: name, Problem: fmt.Sprintf("it is a %s; rows are locked and moved in it", strings.ToLower(have.Kind)), Fix: "make it a table: " + create}, "")
		return nil
	case !strings.EqualFold(have.Engine, "InnoDB"):
		v.report(TableEngine, Difference{Table: name, Problem: fmt.Sprintf("its engine is %s, which has no transactions that the toolkit could rely on", have.Engine)},
			fmt.Sprintf("ALTER TABLE %s ENGINE=InnoDB", schema.Quote(have.Name)))
	}
	return have
}

func (v *verifier) triggers(have *dict.Table) {
	for _, tr := range have.Triggers {
		v.report(TableTrigger, Difference{Table: have.Name, Problem: fmt.Sprintf("the trigger %q runs with the toolkit's writes, a move from one table to the other among them", tr.Name),
			Fix: "do its work where the rows are written, then"}, "DROP TRIGGER "+schema.Quote(tr.Name))
	}
}

// toolkit looks for the tables of package migrations.
func (v *verifier) toolkit() {
	const migrate = "run cascade-worker migrate up, or migrations.Up; where that finds nothing to do, make it again as its migration does"
	for _, want := range ToolkitTables() {
		if v.found.hidden[want.Name] {
			continue // it is another workflow's, or VerifyPrivileges says what is missing
		}
		have := v.table(want.Name, migrate)
		if have == nil {
			continue
		}
		for _, c := range want.Columns {
			if problem := c.Problem(have.Column(c.Name)); problem != "" {
				v.wrong[columnOf{have, c.Name}] = true
				v.report(ToolkitColumn, Difference{Table: want.Name, Column: c.Name, Problem: problem, Fix: migrate}, "")
			}
		}
		v.indexes(shape.Table{Name: want.Name, Indexes: want.Indexes}, have)
		v.triggers(have)
	}
}

// probe asks the server whether tables that are not shown are not there, or not for this
// user.
func (s *seen) probe(ctx context.Context, db onerow.DB, plan schema.Plan) error {
	var names []string
	for _, n := range plan.Nodes() {
		names = append(names, n.Tables...)
	}
	for _, t := range ToolkitTables() {
		names = append(names, t.Name)
	}
	s.hidden = map[string]bool{}
	for _, name := range names {
		if s.Table(name) != nil {
			continue
		}
		denied, err := dict.IsDenied(ctx, db, "EXPLAIN SELECT 1 FROM "+schema.Quote(name)+" WHERE FALSE")
		if err != nil {
			return err
		}
		s.hidden[name] = denied
	}
	return nil
}

// Package verify compares a database with a plan: each difference has its kind, and a fix that a test has
// tried. live.Verify tells a program of the differences, package adopt makes steps of them.
//
// Open this package when a difference between plan and database is missed, or its fix is wrong.
package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
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
	v := verifier{found: found, wrong: map[*dict.Column]bool{}, definition: func(t *dict.Table, c *dict.Column) (dict.Definition, bool) {
		create, cerr := read.Create(ctx, db, t.Name)
		err = errors.Join(err, cerr)
		return read.Definition(create, c)
	}}
	if v.verify(plan); err != nil {
		return nil, nil, err
	}
	return read, v.findings, nil
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

type verifier struct {
	found      *seen
	findings   []Finding
	wrong      map[*dict.Column]bool // that differ; whether a person has to see to it
	definition func(t *dict.Table, c *dict.Column) (dict.Definition, bool)
}

// verify names the differences. This is all that is looked at.
func (v *verifier) verify(plan schema.Plan) {
	for _, r := range plan.Resources {
		if filled, err := plan.Resource(r.Name); err == nil { // it is one of the plan
			v.resource(filled)
		}
	}
	nodes := plan.Nodes()
	for _, n := range nodes[len(plan.Resources):] {
		v.existing(n)
	}
	for i, n := range nodes {
		edges := n.Parents
		if i < len(plan.Resources) && plan.Resources[i].Parent.Column != "" {
			edges = edges[1:] // the columns of the first are looked at with the resource
		}
		for _, e := range edges {
			v.edge(nodes, n, e)
		}
	}
	v.foreignKeys(nodes)
	v.trash(nodes)
	v.retention(nodes)
	v.counters(plan)
	v.toolkit()
	slices.SortStableFunc(v.findings, v.byTable(nodes))
}

// byTable orders differences by their tables, in the order of the plan; the toolkit's and others are last.
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
		}
	}
}

// table says what is wrong with the table itself, and returns it unless it is missing.
func (v *verifier) table(name, create string) *dict.Table {
	have := v.found.Table(name)
	switch {
	case have == nil && v.found.hidden[name]:
		v.report(TableHidden, Difference{Table: name, Problem: "the user has no right on it, so it is not shown, if it exists", Fix: "see cascade-worker verify, which says what to GRANT"}, "")
	case have == nil:
		v.report(TableMissing, Difference{Table: name, Problem: "it does not exist", Fix: create}, "")
	case !have.IsTable():
		v.report(TableView, Difference{Table: name, Problem: fmt.Sprintf("it is a %s; rows are locked and moved in it", strings.ToLower(have.Kind)), Fix: "make it a table: " + create}, "")
		return nil
	case !strings.EqualFold(have.Engine, "InnoDB"):
		v.report(TableEngine, Difference{Table: name, Problem: fmt.Sprintf("its engine is %s, which has no transactions that the toolkit could rely on", have.Engine)},
			fmt.Sprintf("ALTER TABLE %s ENGINE=InnoDB", ident.Quote(have.Name)))
	}
	return have
}

func (v *verifier) triggers(have *dict.Table) {
	for _, tr := range have.Triggers {
		v.report(TableTrigger, Difference{Table: have.Name, Problem: fmt.Sprintf("the trigger %q runs with the toolkit's writes, a move from one table to the other among them", tr.Name),
			Fix: "do its work where the rows are written, then"}, "DROP TRIGGER "+ident.Quote(tr.Name))
	}
}

// probe asks the server whether tables that are not shown are not there, or not for this user.
func (s *seen) probe(ctx context.Context, db onerow.DB, plan schema.Plan) error {
	var names []string
	for _, n := range plan.Nodes() {
		names = append(names, n.Tables...)
	}
	for _, t := range ddl.Tables() {
		names = append(names, t.Name)
	}
	s.hidden = map[string]bool{}
	for _, name := range names {
		if s.Table(name) != nil {
			continue
		}
		denied, err := dict.IsDenied(ctx, db, "EXPLAIN SELECT 1 FROM "+ident.Quote(name)+" WHERE FALSE")
		if err != nil {
			return err
		}
		s.hidden[name] = denied
	}
	return nil
}

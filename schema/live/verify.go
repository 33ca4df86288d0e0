package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// ErrVerify says that the database is not as the plan declares it. [VerifyError] says in
// which points.
var ErrVerify = errors.New("schema: the database is not as the plan declares it")

// Difference is one point in which a database is not as declared.
type Difference struct {
	// Table is the table that is concerned.
	Table string `json:"table"`
	// Column and Index name what is concerned within the table; empty: the table.
	Column string `json:"column,omitempty"`
	Index  string `json:"index,omitempty"`
	// Problem says what is, and what depends on its being otherwise.
	Problem string `json:"problem"`
	// Fix says what to do. It ends with the statement, where one does it without harm.
	Fix string `json:"fix"`
	// SQL is that statement, or empty. It changes no value, default, comment, collation or
	// key but what it is about, in a session of any time zone and sql_mode; where it cannot do its work
	// on the rows that there are, it fails and has changed nothing.
	SQL string `json:"sql,omitempty"`
}

// String is the difference on one line.
func (d Difference) String() string {
	where := fmt.Sprintf("table %q", d.Table)
	if d.Column != "" {
		where += fmt.Sprintf(", column %q", d.Column)
	}
	if d.Index != "" {
		where += fmt.Sprintf(", index %q", d.Index)
	}
	return where + ": " + d.Problem + "; " + d.Fix
}

// Absent says whether the difference is that the table is not there at all.
func (d Difference) Absent() bool {
	return d.Column == "" && d.Index == "" && strings.HasPrefix(d.Problem, absent)
}

// VerifyError is the detail of [ErrVerify].
type VerifyError struct {
	// Database is the schema that was looked at.
	Database string
	// Differences are at least one, table by table in the order of the plan, the
	// toolkit's tables last.
	Differences []Difference
}

// Error lists all differences, one on a line.
func (e *VerifyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schema: the database %q is not as the plan declares it (%d):", e.Database, len(e.Differences))
	for _, d := range e.Differences {
		b.WriteString("\n  " + d.String())
	}
	return b.String()
}

// Is makes errors.Is(err, ErrVerify) true.
func (e *VerifyError) Is(target error) bool { return target == ErrVerify }

// Verify holds the current database of db against the plan and the toolkit's own
// tables, and returns a [VerifyError] that names each difference and what to do
// about it, or nil. A program calls it when it starts and does not go on otherwise.
//
// It looks for what the toolkit relies on: tables and columns, types where they
// matter, indexes that do what the declared ones do (under any name; a unique one
// needs exactly the declared columns), InnoDB; and for what would get in the way:
// unique indexes, foreign keys, triggers and columns that the plan does not know.
// Allowed is a foreign key from a table of the plan to one outside that only
// restricts. Defaults, collations and the order of columns are not looked at.
//
// Of a [Table] and of further parents it looks at less and more: the primary key and
// whether its values can be held; for each edge its columns, their types and
// collations against those above, an index that begins with them, a unique key
// above, NULL where it detaches; an archive that holds all columns; triggers that run
// with the worker's writes, unless the plan accepts them; and that each foreign key that
// leads to a row that is deleted is an edge of the plan. A CASCADE that is an edge that
// deletes is allowed, for the worker deletes the rows before it could fire, and so
// is a SET NULL that is an edge that detaches; any other one is hidden, and refused.
//
// It begins with [onerow.Check] and refuses settings of the session or the server under which a promise
// cannot hold, with [onerow.ErrSetting]. So it does with a server of Galera, or of Group Replication with
// several primaries, where the plan has parents and does not say [Plan.Cluster].
//
// An id is given once: an AUTO_INCREMENT at or below the highest id in the archive, or in what the toolkit
// keeps of its jobs and deletions, is a difference. Tools that rebuild a table by a copy, and restores of
// data alone, leave it so. Of deletions only the last hundred jobs are looked at, open and archived. Rows are
// not read otherwise, so it does not know ids that both tables have.
//
// The statement that ends a Fix has been tried on tables with rows, see [Difference]. What could change a
// value (TIMESTAMP to DATETIME, NULL to NOT NULL, another character set, a key of names that is not there) is
// said in words, in order; Verify then says what is next.
//
// Nine statements, however many tables there are, and two for the ids: on MySQL the second is one for each
// table with an archive, and one each for jobs and deletions. One more for each table that is not shown, and
// for each of which a column is to be changed; no writes. SELECT on the tables is enough to read what is
// there; but information_schema shows a user no table on which it has no right, so neither its foreign keys,
// and no triggers without the right TRIGGER: [VerifyPrivileges] says whether that is so. Toolkit tables on
// which the user has no right are left out. Other errors: [ErrInvalidPlan], and the driver's.
func Verify(ctx context.Context, db onerow.DB, plan Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	if err := onerow.Check(ctx, db, needs(plan)...); err != nil {
		return fmt.Errorf("schema: verify: %w", err)
	}
	found, said, err := lookAt(ctx, db, plan)
	if err != nil {
		return fmt.Errorf("schema: verify: %w", err)
	}
	if len(said) == 0 {
		return nil
	}
	e := &VerifyError{Database: found.name}
	for _, s := range said {
		e.Differences = append(e.Differences, Difference(s.difference))
	}
	return e
}

// lookAt reads what verify needs to know, and what of it turns out to be needed.
func lookAt(ctx context.Context, db onerow.DB, plan Plan) (*database, []said, error) {
	read, err := readDatabase(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	found := &seen{database: read}
	if err := found.probe(ctx, db, plan); err != nil {
		return nil, nil, err
	}
	if err := found.readCounters(ctx, db, plan); err != nil {
		return nil, nil, err
	}
	said := found.verify(plan)
	if asked := read.wanting(); len(asked) > 0 {
		if err := read.readDefinitions(ctx, db, asked); err != nil {
			return nil, nil, err
		}
		said = found.verify(plan)
	}
	return read, said, nil
}

// verify names the differences. What it asks for in asked is not known yet: it is read,
// and verify runs again.
func (s *seen) verify(plan Plan) []said {
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
	slices.SortStableFunc(v.said, v.byTable(nodes))
	return v.said
}

// resources are those of the plan, with their defaults.
func resources(plan Plan) []Resource {
	var all []Resource
	for _, r := range plan.Resources {
		if filled, err := plan.Resource(r.Name); err == nil { // it is one of the plan
			all = append(all, filled)
		}
	}
	return all
}

// isParent says whether the edge is a resource's Parent, not one of its Parents: its columns are looked at
// with the resource.
func isParent(plan Plan, n Node, e Edge) bool {
	return slices.ContainsFunc(plan.Resources, func(r Resource) bool {
		return r.Name == n.Name && r.Parent.Resource == e.Table && slices.Equal(e.Columns, []string{r.Parent.Column})
	})
}

// byTable orders differences by their tables, in the order of the plan; the toolkit's
// and others are last.
func (v *verifier) byTable(nodes []Node) func(a, b said) int {
	rank := map[string]int{}
	for _, n := range nodes {
		for _, name := range n.Tables {
			rank[v.found.key(name)] = len(rank) - 1000
		}
	}
	return func(a, b said) int { return rank[v.found.key(a.Table)] - rank[v.found.key(b.Table)] }
}

// seen is what the database says that no catalog has.
type seen struct {
	*database
	hidden   map[string]bool   // tables that were asked for and on which the user has no right
	counted  bool              // whether there was anything to read of these:
	counters map[string]uint64 // the next id of tables that number their rows
	highest  map[idKept]uint64 // the highest id that is kept
	unread   map[string]bool   // tables whose ids the user may not read
}

// verifier collects differences.
type verifier struct {
	found *seen
	said  []said
	wrong map[columnOf]bool // columns that differ; whether a person has to see to it
}

type columnOf struct {
	table  *foundTable
	column string // lower case
}

// resource holds the resource's tables against what DDL would make.
func (v *verifier) resource(r Resource) {
	tables := r.tables()
	for i, want := range tables {
		have := v.table(want.name, "run the CREATE TABLE that Plan.DDL returns for it")
		if have == nil {
			continue
		}
		v.columns(r, want, have)
		v.unknownColumns(r, want, have)
		v.indexes(want, have)
		v.unknownIndexes(want, have)
		v.triggers(have)
		if active := v.found.table(r.Active); i > 0 && active != nil {
			v.sameColumns(r, active, have)
			v.sameOrder(r, active, have)
		}
	}
}

// table says what is wrong with the table itself, and returns it unless it is
// missing.
func (v *verifier) table(name, create string) *foundTable {
	have := v.found.table(name)
	switch {
	case have == nil && v.found.hidden[name]:
		v.say(tableHidden, difference{Table: name, Problem: "the user has no right on it, so it is not shown, if it exists", Fix: "see cascade-worker verify, which says what to GRANT"}, "")
	case have == nil:
		v.say(tableMissing, difference{Table: name, Problem: absent, Fix: create}, "")
	case !have.isTable():
		v.say(tableView, difference{Table: name, Problem: fmt.Sprintf("it is a %s; rows are locked and moved in it", strings.ToLower(have.kind)), Fix: "make it a table: " + create}, "")
		return nil
	case !strings.EqualFold(have.engine, "InnoDB"):
		v.say(tableEngine, difference{Table: name, Problem: fmt.Sprintf("its engine is %s, which has no transactions that the toolkit could rely on", have.engine)},
			fmt.Sprintf("ALTER TABLE %s ENGINE=InnoDB", Quote(have.name)))
	}
	return have
}

// isTable says whether it is there and rows are kept in it.
func (t *foundTable) isTable() bool {
	return t != nil && (t.kind == "BASE TABLE" || t.kind == "SYSTEM VERSIONED")
}

func (v *verifier) triggers(have *foundTable) {
	for _, tr := range have.triggers {
		v.say(tableTrigger, difference{Table: have.name, Problem: fmt.Sprintf("the trigger %q runs with the toolkit's writes, a move from one table to the other among them", tr.name),
			Fix: "do its work where the rows are written, then"}, "DROP TRIGGER "+Quote(tr.name))
	}
}

// toolkit looks for the tables of package migrations.
func (v *verifier) toolkit() {
	const migrate = "run cascade-worker migrate up, or migrations.Up; where that finds nothing to do, make it again as its migration does"
	for _, want := range toolkitTables() {
		if v.found.hidden[want.name] {
			continue // it is another workflow's, or VerifyPrivileges says what is missing
		}
		have := v.table(want.name, migrate)
		if have == nil {
			continue
		}
		for _, c := range want.columns {
			if problem := c.problem(have.column(c.name)); problem != "" {
				v.wrong[columnOf{have, c.name}] = true
				v.say(toolkitColumn, difference{Table: want.name, Column: c.name, Problem: problem, Fix: migrate}, "")
			}
		}
		v.indexes(table{name: want.name, indexes: want.indexes}, have)
		v.triggers(have)
	}
}

// probe asks the server whether tables that are not shown are not there, or not for this
// user.
func (s *seen) probe(ctx context.Context, db onerow.DB, plan Plan) error {
	var names []string
	for _, n := range plan.Nodes() {
		names = append(names, n.Tables...)
	}
	for _, t := range toolkitTables() {
		names = append(names, t.name)
	}
	s.hidden = map[string]bool{}
	for _, name := range names {
		if s.table(name) != nil {
			continue
		}
		denied, err := isDenied(ctx, db, "EXPLAIN SELECT 1 FROM "+Quote(name)+" WHERE FALSE")
		if err != nil {
			return err
		}
		s.hidden[name] = denied
	}
	return nil
}

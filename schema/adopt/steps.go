package adopt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/internal/verify"
	"github.com/onerow/onerow/schema/live"
)

// Adoption is how a table with rows and other writers becomes a resource: a list of steps, each one statement
// of DDL, which are printed as migrations and never run here. See [Prepare].
type Adoption struct {
	// Resource is the resource of the plan, its defaults filled in.
	Resource schema.Resource
	// Steps in their order. Those that are Last come after the keys of names have been filled in.
	Steps []Step
	// Against is what no step may see to: a person does, and asks again. While there is any, there are no
	// steps.
	Against []live.Difference
	// Notes say what stays, such as foreign keys, and what the plan should know.
	Notes []string

	laterNotNull map[string][]string // by table, the columns that may be NULL until the last steps
	found        *dict.Database      // what was looked at
}

// Step is one statement of DDL with its way back, and what is to be known about it.
type Step struct {
	// Name says what it does, in a form for the name of a file: "add_name_key".
	Name string
	// Last says that it comes after the backfill.
	Last bool
	// What it does and why; Cost: what the server does meanwhile; Writers: what a program that knows nothing
	// of the toolkit has to do from now on; Back: what is lost on the way back.
	What, Cost, Writers, Back string
	// Up and Down are the change and its way back.
	Up, Down change
}

// change is a statement that is run unless the catalog shows that it was.
type change struct {
	// Done is a condition on information_schema.
	Done string
	// Refused is a condition on the table's rows under which it is not run, Because the text of the error
	// then, of at most 64 characters. Empty: there is none.
	Refused, Because string
	// SQL is the statement, or OtherSQL where the condition Other holds.
	SQL, Other, OtherSQL string
}

// Prepare compares the tables of a resource with the plan, as [live.Verify] does, and says how the tables
// that are there become the resource while others write: columns that may be NULL, the archive, indexes;
// then, once the keys are filled in, what those writers notice: foreign keys, times, NOT NULL. Types,
// defaults, collations and comments of the application's columns stay. What is done is not in the list, so an
// empty one means that the tables are the resource's.
//
// As many statements as [live.Verify], and one for each of the two tables; it only reads. Errors:
// [schema.ErrUnknownResource], [schema.ErrInvalidPlan], and the driver's.
func Prepare(ctx context.Context, db onerow.DB, plan schema.Plan, resource string) (*Adoption, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	r, err := plan.Resource(resource)
	if err != nil {
		return nil, err
	}
	found, findings, err := verify.Compare(ctx, db, plan)
	if err != nil {
		return nil, fmt.Errorf("schema: adopt %s: %w", resource, err)
	}
	for _, name := range r.Tables() {
		if t := found.Table(name); t.IsTable() {
			if _, err := found.Create(ctx, db, t.Name); err != nil {
				return nil, fmt.Errorf("schema: adopt %s: %w", resource, err)
			}
		}
	}
	return stepsOf(found, plan, r, findings), nil
}

type adopter struct {
	*Adoption
	findings []verify.Finding // what Verify says
	plan     schema.Plan
	defs     map[*dict.Column]dict.Definition // as the steps so far leave them
	planned  map[*dict.Table][]string
	notNull  map[*dict.Table][]lastColumn // what the last step of a table makes NOT NULL
}

// lastColumn is a column that may be NULL until the last step.
type lastColumn struct {
	name, before, after string // its definition before and after
}

// stepsOf makes the steps of what Verify has said.
func stepsOf(d *dict.Database, plan schema.Plan, r schema.Resource, findings []verify.Finding) *Adoption {
	a := &adopter{Adoption: &Adoption{Resource: r, laterNotNull: map[string][]string{}, found: d}, findings: findings, plan: plan, defs: map[*dict.Column]dict.Definition{},
		planned: map[*dict.Table][]string{}, notNull: map[*dict.Table][]lastColumn{}}
	for _, s := range findings {
		if !a.concerns(s) || a.seenTo(s) {
			continue
		}
		if c := d.TableOrEmpty(s.Table).Column(s.Column); s.Kind == verify.ColumnUnknown && c != nil {
			s.Fix = fmt.Sprintf("add it to the plan's columns, - {name: %s, type: %q}, or drop it", c.Name, plainType(c))
		}
		a.Against = append(a.Against, s.Difference)
	}
	active := d.Table(r.Active)
	if !active.IsTable() {
		return a.Adoption
	}
	a.blockComputed(active)
	a.blockUnreadable()
	each := func(do func(want shape.Table, have *dict.Table)) {
		for _, want := range r.Shape() {
			if have := d.Table(want.Name); have.IsTable() {
				do(want, have)
			}
		}
	}
	each(a.columns)
	if r.Archive != "" && d.Table(r.Archive) == nil {
		a.archive(active)
	}
	each(a.indexes)
	a.foreignKeys()
	each(a.times)
	for _, name := range slices.Backward(r.Tables()) {
		if have := d.Table(name); have.IsTable() {
			a.last(have)
		}
	}
	a.refuseEarly()
	if len(a.Against) > 0 {
		a.Steps = nil
	}
	return a.Adoption
}

// refuseEarly makes the first of the last steps refuse, as the very last does, while rows lack values: who
// runs all files at once stops there, before other writers notice anything.
func (a *adopter) refuseEarly() {
	first := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Last })
	if first < 0 {
		return
	}
	if end, up := a.Steps[len(a.Steps)-1].Up, &a.Steps[first].Up; up.Refused == "" {
		up.Refused, up.Because = end.Refused, end.Because
	}
}

// concerns says whether a difference is about the resource's tables.
func (a *adopter) concerns(s verify.Finding) bool {
	return slices.ContainsFunc(a.Resource.Tables(), func(name string) bool { return a.found.Key(name) == a.found.Key(s.Table) })
}

// seenTo says whether steps see to such a difference, or find out for themselves that they cannot.
func (a *adopter) seenTo(s verify.Finding) bool {
	switch s.Kind {
	case verify.TableMissing:
		return a.found.Key(s.Table) != a.found.Key(a.Resource.Active)
	case verify.IndexMissing:
		return s.Index != "PRIMARY"
	case verify.ColumnMissing, verify.ColumnWrong, verify.ForeignManaged, verify.ForeignOutward, verify.EdgeMissing, verify.EdgeUnindexed:
		return true
	}
	return false
}

func plainType(c *dict.Column) string {
	if c.Nullable {
		return c.Full + " NULL"
	}
	return c.Full + " NOT NULL"
}

// block adds what a person has to see to.
func (a *adopter) block(t *dict.Table, column, problem, fix string) {
	a.Against = append(a.Against, live.Difference{Table: t.Name, Column: column, Problem: problem, Fix: fix})
}

// blockComputed refuses computed columns of the plan, which neither a verb nor a move writes, and keys of
// several columns.
func (a *adopter) blockComputed(t *dict.Table) {
	for _, name := range a.Resource.Shared() {
		if c := t.Column(name); c != nil && c.Computed() {
			a.block(t, name, "it is generated, and the toolkit writes each column of the plan", "take it out of the plan; tables may have generated columns that the plan does not know")
		}
	}
	if primary := t.Primary(); len(primary) > 1 {
		a.block(t, "", fmt.Sprintf("its primary key has %d columns (%s), and a resource has one id", len(primary), strings.Join(t.Spelled(primary), ", ")),
			"let the cascade walk it as it is, among the plan's tables: see cascade-worker discover; or give it an id of one column")
	}
}

// blockUnreadable refuses tables whose definition is not shown whole, for it cannot be repeated.
func (a *adopter) blockUnreadable() {
	for _, name := range a.Resource.Tables() {
		if t := a.found.Table(name); t.IsTable() && a.found.Creates[t.Name] == "" {
			a.Against = append(a.Against, live.Difference{Table: name, Problem: "SHOW CREATE TABLE does not show it to this user, so its columns cannot be repeated", Fix: "GRANT SELECT on the whole table"})
		}
	}
	for _, mode := range []string{"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "NO_FIELD_OPTIONS"} {
		if strings.Contains(a.found.Mode, mode) && len(a.found.Creates) > 0 {
			a.Against = append(a.Against, live.Difference{Table: slices.Sorted(maps.Keys(a.found.Creates))[0],
				Problem: "the session's sql_mode has " + mode + ", so what SHOW CREATE TABLE shows is not the whole of a column, or means something else", Fix: "connect with another sql_mode"})
		}
	}
}

// def is a column as the steps so far leave it.
func (a *adopter) def(t *dict.Table, c *dict.Column) (dict.Definition, bool) {
	if def, ok := a.defs[c]; ok {
		return def, true
	}
	return dict.FindDefinition(a.found.Creates[t.Name], c)
}

func (a *adopter) step(s Step) { a.Steps = append(a.Steps, s) }

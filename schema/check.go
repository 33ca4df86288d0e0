package schema

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Check returns an error, [ErrInvalidPlan], that joins everything in the plan that is
// contradictory or incomplete, or nil. It does not look at a database.
func (p Plan) Check() error {
	c := &checker{plan: p, nodes: p.Nodes(), tables: map[string]string{}, limits: map[string]string{}}
	if len(c.nodes) == 0 {
		c.say("it declares no resource and no table")
	}
	for i, r := range p.Resources {
		c.about = fmt.Sprintf("resource %q: ", r.Name)
		r = p.filled(r)
		c.resource(r)
		c.keys(r)
		c.retention(r.Retention, false, func(col string) bool {
			return slices.Contains(r.Shared(), col) || col == ident.ColArchivedAt && r.Archive != ""
		})
		for _, l := range r.Limits {
			c.limit(r, l)
		}
		c.columns(r)
		c.indexes(r)
		c.parent(r, p.Resources[:i])
		c.claim(r.Name, r.Tables())
	}
	for i, t := range p.Tables {
		c.about = fmt.Sprintf("table %q: ", t.Name)
		c.table(t, i)
		c.retention(t.Retention, t.Stays, func(string) bool { return true })
		c.claim(t.Name, t.tables())
	}
	c.edges()
	c.about = ""
	for _, k := range p.Spared {
		if k.Table == "" || k.Column == "" || strings.TrimSpace(k.Because) == "" {
			c.say("spared: %q of %q: name the table, the column and why it stays (because)", k.Column, k.Table)
		}
	}
	if len(c.errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalidPlan, errors.Join(c.errs...))
}

type checker struct {
	plan           Plan
	nodes          []Node
	tables, limits map[string]string // by name, which resource or table has it
	about          string            // begins each mistake: the resource, the table or the edge
	errs           []error
}

func (c *checker) say(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s%w", c.about, fmt.Errorf(format, args...)))
}

// identifiers refuses names that cannot stand in a statement.
func (c *checker) identifiers(names []string) {
	for _, name := range names {
		if err := ident.Check(name); err != nil {
			c.say("%w", err)
		}
	}
}

// claim refuses tables of the toolkit's and of another resource.
func (c *checker) claim(name string, tables []string) {
	for _, table := range tables {
		if shape.IsToolkits(table) {
			c.say("the table %q is the toolkit's own, as all whose names begin with %s", table, shape.ToolkitPrefix)
		}
		if other, taken := c.tables[table]; taken {
			c.say("the table %q belongs to %q already", table, other)
		}
		c.tables[table] = name
	}
}

func (c *checker) resource(r Resource) {
	if r.Name == "" || len(r.Name) > shape.MaxResource {
		c.say("a name has 1 to %d bytes", shape.MaxResource)
	}
	shared := r.Shared()
	c.identifiers(append(r.Tables(), shared...))
	all := append(slices.Clone(shared), ident.ColArchivedAt, ident.ColDeletionID, ident.ColDeletedFrom)
	for i, col := range all {
		if colset.Has(all[:i], col) {
			c.say("the column %q is declared twice", col)
		}
	}
	if r.EditArchived && r.Archive == "" {
		c.say("archived rows can be edited, and it has no archive")
	}
	if r.Named() && len(r.Owners()) == 0 {
		c.say("a label needs an owner, whose names are unique")
	}
	if r.Named() && !r.Label.Kind.Valid() {
		c.say("label kind %q is neither %q nor %q", r.Label.Kind, names.KindName, names.KindFilename)
	}
	if r.Quota.Flag != "" && len(r.Owners()) == 0 {
		c.say("a quota needs an owner")
	}
	if r.Quota.Flag != "" && !slices.Contains(shared, r.Quota.By) {
		c.say("the quota is ordered by %q, which is no column", r.Quota.By)
	}
	if r.Asset != "" && !slices.Contains(shared, r.Asset) {
		c.say("the asset is named by %q, which is no column", r.Asset)
	}
	if r.Guard != "" && (!c.plan.Cluster || !c.plan.isAbove(r.Name)) {
		c.say("it has the guard %q, which is for parents in a plan that says cluster: true", r.Guard)
	}
}

// keys looks at the types of the columns that hold keys.
func (c *checker) keys(r Resource) {
	for _, col := range append([]string{r.ID, r.Parent.Column}, r.Owners()...) {
		declared := cmp.Or(r.keyType(col), shape.TypeID)
		kind, err := keytype.Parse(declared)
		switch {
		case err != nil:
			c.say("column %q: %w", col, err)
		case !isType(declared):
			c.say("column %q: %q is no type", col, declared)
		case kind.Auto && col != r.ID:
			c.say("column %q: its values are another row's, so it is not AUTO_INCREMENT", col)
		}
	}
	if tenant := r.Tenant.Name; tenant != "" && tenant == r.Parent.Column && !strings.EqualFold(r.Tenant.Type, r.Parent.Type) {
		c.say("the tenant %q is %s, the id of its parent %s", tenant, r.Tenant.Type, r.Parent.Type)
	}
}

// columns looks at the types of the application's own columns.
func (c *checker) columns(r Resource) {
	for _, col := range r.Columns {
		if !isType(col.Type) {
			c.say("column %q: %q is no type", col.Name, col.Type)
		}
	}
}

// columnType is what a type can look like. A column's type is DDL that a plan file may bring along, so it
// must not be able to end the statement.
var columnType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_ (),.'"-]*$`)

// isType says whether text can follow a column's name in CREATE TABLE and is that
// column's type alone: no comment, and no comma that would begin another column.
func isType(text string) bool {
	if !columnType.MatchString(text) || strings.Contains(text, "--") {
		return false
	}
	depth, quote := 0, rune(0)
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			return false
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0 && quote == 0
}

// limit looks at a hard limit. Its name is one in the whole plan.
func (c *checker) limit(r Resource, l Limit) {
	if other, taken := c.limits[l.Name]; taken {
		c.say("%q has a limit %q already; give this one a name", other, l.Name)
	}
	c.limits[l.Name] = r.Name
	if len(l.Name) > shape.MaxResource {
		c.say("limit %q: a name has 1 to %d bytes", l.Name, shape.MaxResource)
	}
	if len(r.Owners()) == 0 {
		c.say("limit %q: it needs an owner", l.Name)
	}
	if l.PerTenant && r.Tenant.Name == "" {
		c.say("limit %q: it is per tenant, and there is none", l.Name)
	}
	if l.Sum == "" {
		return
	}
	at := slices.IndexFunc(r.Columns, func(col Column) bool { return col.Name == l.Sum })
	if at < 0 {
		c.say("limit %q: it sums %q, which is not one of the columns", l.Name, l.Sum)
		return
	}
	sum := r.Columns[at].Type
	kind, err := keytype.Parse(sum)
	if err != nil || kind.Class != keytype.Integer || !strings.Contains(strings.ToUpper(sum), "NOT NULL") {
		c.say("limit %q: it sums %q, which is %s; it must be a whole number, NOT NULL", l.Name, l.Sum, sum)
	}
}

// retention looks at the policy of a resource or a table, if it has one.
func (c *checker) retention(r *Retention, stays bool, column func(string) bool) {
	if r == nil {
		return
	}
	if stays {
		c.say("retention: its rows stay, so none can be due; drop one of the two")
	}
	if err := ident.Check(r.Column); err != nil {
		c.say("retention: the column: %w", err)
	} else if !column(r.Column) {
		c.say("retention: there is no column %q; it is one of both its tables, or archived_at of an archive", r.Column)
	}
	if r.Keep <= 0 {
		c.say("retention: keep is %s; it should be an age as in 90d or 36h", r.Keep)
	}
	if r.Rate < 0 || r.Rate > mostRate || r.Rate != 0 && r.Rate < 0.001 || r.Rate != r.Rate {
		c.say("retention: rate is %g; it should be a number of rows per second, from 0.001 to %d", r.Rate, mostRate)
	}
	if _, err := r.location(); err != nil {
		c.say("retention: %w", err)
	}
	if _, err := r.windows(); err != nil {
		c.say("retention: %w", err)
	}
}

func (c *checker) indexes(r Resource) {
	owners, shared := r.Owners(), r.Shared()
	for _, x := range r.Indexes {
		for _, col := range x.Columns {
			if !slices.Contains(shared, col) {
				c.say("an index has the column %q, which is not declared", col)
			}
		}
		switch {
		case len(x.Columns) == 0:
			c.say("an index has no columns")
		case !x.Archived:
		case r.Archive == "":
			c.say("the index on %q is one of the archive too, and there is no archive", x.Columns)
		case x.Unique:
			c.say("the index on %q is unique, and archived rows may have the same values", x.Columns)
		case len(owners) == 0 || len(x.Columns) < len(owners) || !colset.Same(x.Columns[:len(owners)], owners):
			c.say("the index on %q is one of the archive too, so it begins with the owner's columns %q", x.Columns, owners)
		}
	}
}

// parent looks at the row above: parents come first, which also excludes cycles.
func (c *checker) parent(r Resource, earlier []Resource) {
	declared := func(name string) bool {
		return slices.ContainsFunc(earlier, func(e Resource) bool { return e.Name == name })
	}
	if declared(r.Name) {
		c.say("it is declared twice")
	}
	switch {
	case r.Parent.Resource == "" && r.Parent.Column == "":
	case r.Parent.Resource == "" || r.Parent.Column == "":
		c.say("a parent has a resource and a column")
	case !declared(r.Parent.Resource):
		c.say("its parent %q is not declared before it", r.Parent.Resource)
	}
}

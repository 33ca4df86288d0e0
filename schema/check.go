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
	"github.com/onerow/onerow/schema/internal/shape"
)

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

// Check returns an error, [ErrInvalidPlan], that joins everything in the plan that is
// contradictory or incomplete, or nil. It does not look at a database.
func (p Plan) Check() error {
	var errs []error
	if len(p.Resources)+len(p.Tables) == 0 {
		errs = append(errs, errors.New("it declares no resource and no table"))
	}
	tables, limits := map[string]string{}, map[string]string{}
	claim := func(kind, name string, names []string) {
		for _, table := range names {
			if shape.IsToolkits(table) {
				errs = append(errs, fmt.Errorf("%s %q: the table %q is the toolkit's own, as all whose names begin with %s", kind, name, table, shape.ToolkitPrefix))
			}
			if other, taken := tables[table]; taken {
				errs = append(errs, fmt.Errorf("%s %q: the table %q belongs to %q already", kind, name, table, other))
			}
			tables[table] = name
		}
	}
	for i, r := range p.Resources {
		for _, err := range p.checkResource(p.filled(r), i) {
			errs = append(errs, fmt.Errorf("resource %q: %w", r.Name, err))
		}
		claim("resource", r.Name, p.filled(r).Tables())
		for _, l := range p.filled(r).Limits {
			if other, taken := limits[l.Name]; taken {
				errs = append(errs, fmt.Errorf("resource %q: %q has a limit %q already; give this one a name", r.Name, other, l.Name))
			}
			limits[l.Name] = r.Name
		}
	}
	for i, t := range p.Tables {
		for _, err := range p.checkTable(t, i) {
			errs = append(errs, fmt.Errorf("table %q: %w", t.Name, err))
		}
		claim("table", t.Name, t.tables())
	}
	errs = append(errs, p.checkEdges()...)
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalidPlan, errors.Join(errs...))
}

func (p Plan) checkResource(r Resource, i int) []error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.Name == "" || len(r.Name) > shape.MaxResource {
		say("a name has 1 to %d bytes", shape.MaxResource)
	}
	for _, name := range append(r.Tables(), r.Shared()...) {
		if err := ident.Check(name); err != nil {
			say("%w", err)
		}
	}
	seen := map[string]bool{}
	for _, col := range append(r.Shared(), ColArchivedAt, ColDeletionID, ColDeletedFrom) {
		if seen[strings.ToLower(col)] { // the names of columns ignore case
			say("the column %q is declared twice", col)
		}
		seen[strings.ToLower(col)] = true
	}
	if r.EditArchived && r.Archive == "" {
		say("archived rows can be edited, and it has no archive")
	}
	if r.Named() && len(r.Owners()) == 0 {
		say("a label needs an owner, whose names are unique")
	}
	if r.Named() && !r.Label.Kind.Valid() {
		say("label kind %q is neither %q nor %q", r.Label.Kind, names.KindName, names.KindFilename)
	}
	if r.Quota.Flag != "" && len(r.Owners()) == 0 {
		say("a quota needs an owner")
	}
	if r.Quota.Flag != "" && !slices.Contains(r.Shared(), r.Quota.By) {
		say("the quota is ordered by %q, which is no column", r.Quota.By)
	}
	if r.Asset != "" && !slices.Contains(r.Shared(), r.Asset) {
		say("the asset is named by %q, which is no column", r.Asset)
	}
	if r.Guard != "" && (!p.Cluster || !p.isAbove(r.Name)) {
		say("it has the guard %q, which is for parents in a plan that says cluster: true", r.Guard)
	}
	errs = append(errs, r.checkKeys()...)
	errs = append(errs, checkRetention(r.Retention, false, func(col string) bool {
		return slices.Contains(r.Shared(), col) || col == ColArchivedAt && r.Archive != ""
	})...)
	errs = append(errs, r.checkLimits()...)
	for _, c := range r.Columns {
		if !isType(c.Type) {
			say("column %q: %q is no type", c.Name, c.Type)
		}
	}
	r.checkIndexes(say)
	return append(errs, p.checkParent(r, i)...)
}

// checkKeys says what is wrong with the types of the columns that hold keys.
func (r Resource) checkKeys() []error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, col := range append([]string{r.ID, r.Parent.Column}, r.Owners()...) {
		declared := r.KeyType(col)
		kind, err := keytype.Parse(cmp.Or(declared, shape.TypeID))
		switch {
		case err != nil:
			say("column %q: %w", col, err)
		case !isType(cmp.Or(declared, shape.TypeID)):
			say("column %q: %q is no type", col, declared)
		case kind.Auto && col != r.ID:
			say("column %q: its values are another row's, so it is not AUTO_INCREMENT", col)
		}
	}
	if tenant := r.TenantColumn(); tenant != "" && tenant == r.Parent.Column && !strings.EqualFold(r.Tenant.Type, r.Parent.Type) {
		say("the tenant %q is %s, the id of its parent %s", tenant, r.Tenant.Type, r.Parent.Type)
	}
	return errs
}

// checkParent says what is wrong with the parent: parents come first, which also excludes cycles.
func (p Plan) checkParent(r Resource, i int) []error {
	var errs []error
	for _, earlier := range p.Resources[:i] {
		if earlier.Name == r.Name {
			errs = append(errs, errors.New("it is declared twice"))
		}
	}
	switch {
	case r.Parent.Resource == "" && r.Parent.Column == "":
	case r.Parent.Resource == "" || r.Parent.Column == "":
		errs = append(errs, errors.New("a parent has a resource and a column"))
	case !slices.ContainsFunc(p.Resources[:i], func(e Resource) bool { return e.Name == r.Parent.Resource }):
		errs = append(errs, fmt.Errorf("its parent %q is not declared before it", r.Parent.Resource))
	}
	return errs
}

package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Limit is a hard limit of a resource, see package limit: how many rows, or which sum of a column, an owner
// may have at most. The maximum is the application's.
type Limit struct {
	// Name is what the limit is called in errors and in the toolkit's table, one in the whole plan. Default:
	// the resource's name, and Sum's behind a dot.
	Name string `yaml:"name,omitempty"`
	// Sum is the column whose values are added up: one of Columns, a whole number, NOT NULL and never
	// negative. Empty: the rows are counted.
	Sum string `yaml:"sum,omitempty"`
	// PerTenant lets all owners of a tenant share the limit.
	PerTenant bool `yaml:"per_tenant,omitempty"`
}

// LimitOwners are the columns of those who share a limit: the resource's owner columns, or the tenant's
// alone.
func (r Resource) LimitOwners(l Limit) []string {
	if l.PerTenant {
		return r.Owners()[:1]
	}
	return r.Owners()
}

// named are the limits with their names filled in.
func (r Resource) namedLimits() []Limit {
	limits := slices.Clone(r.Limits)
	for i, l := range limits {
		if l.Name == "" {
			limits[i].Name = r.Name
			if l.Sum != "" {
				limits[i].Name += "." + l.Sum
			}
		}
	}
	return limits
}

// checkLimits says what is wrong with a resource's limits.
func (r Resource) checkLimits() []error {
	var errs []error
	for _, l := range r.Limits {
		say := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("limit %q: %w", l.Name, fmt.Errorf(format, args...)))
		}
		if len(l.Name) > shape.MaxResource {
			say("a name has 1 to %d bytes", shape.MaxResource)
		}
		if len(r.Owners()) == 0 {
			say("it needs an owner")
		}
		if l.PerTenant && r.TenantColumn() == "" {
			say("it is per tenant, and there is none")
		}
		if l.Sum == "" {
			continue
		}
		at := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == l.Sum })
		if at < 0 {
			say("it sums %q, which is not one of the columns", l.Sum)
			continue
		}
		kind, err := keytype.Parse(r.Columns[at].Type)
		if err != nil || kind.Class != keytype.Integer || !strings.Contains(strings.ToUpper(r.Columns[at].Type), "NOT NULL") {
			say("it sums %q, which is %s; it must be a whole number, NOT NULL", l.Sum, r.Columns[at].Type)
		}
	}
	return errs
}

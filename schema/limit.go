package schema

import (
	"slices"
	"strings"
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
	// Owners are the columns of those who share the limit: the resource's owner columns, or the tenant's
	// alone. The plan fills them in.
	Owners []string `yaml:"-"`
}

// filledLimits are the limits with their names and owners filled in.
func (r Resource) filledLimits() []Limit {
	limits := slices.Clone(r.Limits)
	for i := range limits {
		l := &limits[i]
		if l.Name == "" {
			l.Name = strings.TrimSuffix(r.Name+"."+l.Sum, ".")
		}
		l.Owners = r.Owners()
		if l.PerTenant && len(l.Owners) > 1 {
			l.Owners = l.Owners[:1]
		}
	}
	return limits
}

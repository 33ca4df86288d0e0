package schema

import "slices"

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
	owners := r.Owners()
	if l.PerTenant && len(owners) > 1 {
		return owners[:1]
	}
	return owners
}

// namedLimits are the limits with their names filled in.
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

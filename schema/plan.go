package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
)

var (
	// ErrInvalidPlan means: a plan contradicts itself. The text says where.
	ErrInvalidPlan = errors.New("schema: invalid plan")
	// ErrUnknownResource means: a plan has no resource of that name.
	ErrUnknownResource = errors.New("schema: unknown resource")
)

// Plan is every resource of an application, every existing table, and what
// hangs below what.
type Plan struct {
	// Tenant is a column that each resource has, unless it says otherwise: see [Resource.Tenant]. Zero: there
	// is none.
	Tenant Column `yaml:"tenant,omitempty"`
	// Cluster says that several servers take writes for these tables: Galera, Group Replication with several
	// primaries. A row lock does not reach the other nodes, so each resource that is another's parent has a
	// [Resource.Guard], and rows that come below a row write it. On one server that is as right, and dearer:
	// rows below the same parent wait for each other.
	Cluster bool `yaml:"cluster,omitempty"`
	// Trash is how long rows are kept that the cascade deletes, in tables of their own, so that they can be
	// brought back; each resource and table may say otherwise. Zero: they are not.
	Trash Age `yaml:"trash,omitempty"`
	// Resources are what the toolkit made, in an order in which parents come before
	// their children.
	Resources []Resource `yaml:"resources,omitempty"`
	// Tables are what somebody else designed, in any order.
	Tables []Table `yaml:"tables,omitempty"`
	// Spared are columns that name a row above and stay as they are when it goes, where no edge says so: in
	// JSON, in a table without a key. `cascade-worker verify --erasure` asks for a decision on each.
	Spared []Spared `yaml:"spared,omitempty"`
}

// Spared is a column of any table of the database that stays as it is.
type Spared struct {
	Table  string `yaml:"table"`
	Column string `yaml:"column"`
	// Because says why it may stay, or what removes it.
	Because string `yaml:"because"`
}

// Spares says whether the column is among [Plan.Spared]. The case of names does not matter.
func (p Plan) Spares(table, column string) bool {
	return slices.ContainsFunc(p.Spared, func(k Spared) bool { return strings.EqualFold(k.Table, table) && strings.EqualFold(k.Column, column) })
}

// Resource returns the resource of that name, its defaults filled in, or
// [ErrUnknownResource].
func (p Plan) Resource(name string) (Resource, error) {
	for _, r := range p.Resources {
		if r.Name == name {
			return p.filled(r), nil
		}
	}
	for _, t := range p.Tables {
		if t.Name == name {
			return Resource{}, fmt.Errorf("%w: %q is one of the plan's tables; the cascade walks those, repositories and quotas are for resources", ErrUnknownResource, name)
		}
	}
	return Resource{}, p.unknown(name)
}

// filled is a resource of the plan with its defaults, those that the plan and its parent give among them.
func (p Plan) filled(r Resource) Resource {
	if r.Tenant == (Column{}) {
		r.Tenant = p.Tenant
	}
	for _, above := range p.Resources {
		if above.Name == r.Parent.Resource && r.Parent.Column != "" && r.Parent.Type == "" {
			r.Parent.Type = keytype.Plain(above.withDefaults().IDType)
		}
	}
	r.Trash = cmp.Or(r.Trash, p.Trash)
	if p.Cluster && r.Guard == "" && p.isAbove(r.Name) {
		r.Guard = ident.ColGuard
	}
	return r.withDefaults()
}

// unknown says what the name is, if not that of a resource.
func (p Plan) unknown(name string) error {
	for _, n := range p.Nodes() {
		if slices.Contains(n.Tables, name) {
			return fmt.Errorf("%w: %q is a table of %q", ErrUnknownResource, name, n.Name)
		}
	}
	return fmt.Errorf("%w: %q; the plan has %q", ErrUnknownResource, name, p.Names())
}

// Names returns the names of all resources and tables.
func (p Plan) Names() []string {
	names := make([]string, 0, len(p.Resources)+len(p.Tables))
	for _, r := range p.Resources {
		names = append(names, r.Name)
	}
	for _, t := range p.Tables {
		names = append(names, t.Name)
	}
	return names
}

// isAbove says whether the resource is the parent of another one.
func (p Plan) isAbove(name string) bool {
	return slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Parent.Resource == name })
}

package schema

import (
	"cmp"
	"slices"

	"github.com/onerow/onerow/internal/ident"
)

// Table is a table that somebody else designed, as the cascade sees it: `cascade-worker
// discover` writes it from the foreign keys, and a person adds what no foreign key says.
type Table struct {
	// Name of the table, and what it is called in jobs and messages.
	Name string `yaml:"name"`
	// Key are the columns of the primary key, in its order.
	Key []string `yaml:"key"`
	// Archive is a table of the same columns that rows move to and from with their
	// key: what is below them may be below either. Empty: there is none.
	Archive string `yaml:"archive,omitempty"`
	// Asset is a column that names an external asset, see [Resource].
	Asset string `yaml:"asset,omitempty"`
	// Parents are the rows above.
	Parents []Edge `yaml:"parents,omitempty"`
	// Trash is how long its deleted rows are kept. Default: [Plan.Trash]; [NoTrash]: not at all.
	Trash Age `yaml:"trash,omitempty"`
	// Retention has the worker delete rows that are old enough, see [Retention].
	Retention *Retention `yaml:"retention,omitempty"`
	// Stays says that no row of the table is deleted, neither as a root nor below one:
	// it is here only because its rows are detached, and nothing is said of what is
	// below them.
	Stays bool `yaml:"stays,omitempty"`
	// Triggers are the names of triggers that somebody has looked at and that may run
	// with the worker's writes. What they write is neither bounded nor counted.
	Triggers []string `yaml:"triggers,flow,omitempty"`
}

func (t Table) tables() []string {
	if t.Archive == "" {
		return []string{t.Name}
	}
	return []string{t.Name, t.Archive}
}

// Edge is a reference from a row to a row above it.
type Edge struct {
	// Table is the name of the table, or the resource, above.
	Table string `yaml:"table"`
	// Columns hold the reference, in the order of References.
	Columns []string `yaml:"columns,flow"`
	// References are the columns above that are referred to. Default: the primary key. They are unique, or a
	// foreign key that restricts says that rows with the same value there go only after the row.
	References []string `yaml:"references,flow,omitempty"`
	// When limits the edge to rows with these values: {owner_type: project} makes it
	// a polymorphic child.
	When map[string]string `yaml:"when,flow,omitempty"`
	// OnDelete says what becomes of the row when the row above is deleted.
	// Default: [OnDeleteDelete].
	OnDelete Action `yaml:"on_delete,omitempty"`
}

// Action is what becomes of a row when the row above it is deleted.
type Action string

// The actions of an edge.
const (
	OnDeleteDelete Action = "delete" // it is deleted too, with everything below it
	OnDeleteDetach Action = "detach" // its columns of the edge become NULL
	OnDeleteKeep   Action = "keep"   // nothing; possible only where no foreign key says otherwise
)

// Node is a resource or a table of a plan as the cascade sees it, defaults filled in.
type Node struct {
	Name string
	// Tables are the active table and, where there is one, the archive table.
	Tables []string
	// Key are the columns of the primary key.
	Key []string
	// Managed says that the toolkit made the tables: rows of the archive table may be
	// hidden by a deletion (deletion_id is set).
	Managed bool
	// Asset is the column that names an external asset, or empty.
	Asset string
	// Owner and Quota are the columns of the owner and the quota's flag, or empty.
	Owner, Quota string
	// Tenant is the column of the tenant, which stands before the owner's, or empty; Owners are both, as far
	// as there are any.
	Tenant string
	Owners []string
	// Limits are the hard limits that its rows count in, and how many of its Owners share each.
	Limits []nodeLimit
	// Parents are the edges to the nodes above.
	Parents []Edge
	// Stays says that no row of it is ever deleted, see [Table]; a job cannot begin
	// with one.
	Stays bool
	// Trash is how long its deleted rows, and references that are cut, are kept; 0: they are not.
	Trash Age
	// Retention says when its rows are due; nil: never. A running job does not depend on it. Retained are the
	// tables whose rows it finds.
	Retention *Retention
	Retained  []string
	// Triggers are those that somebody has accepted.
	Triggers []string
}

type nodeLimit = struct {
	Name   string
	Owners int
}

// Node returns the resource or table of that name, or [ErrUnknownResource].
func (p Plan) Node(name string) (Node, error) {
	for _, n := range p.Nodes() {
		if n.Name == name {
			return n, nil
		}
	}
	return Node{}, p.unknown(name)
}

// Nodes returns all resources and tables, in the order of the plan.
func (p Plan) Nodes() []Node {
	var nodes []Node
	keys := map[string][]string{}
	for _, r := range p.Resources {
		r = p.filled(r)
		n := Node{Name: r.Name, Tables: r.Tables(), Key: []string{r.ID}, Managed: true, Asset: r.Asset, Owner: r.Owner, Tenant: r.Tenant.Name, Owners: r.Owners(), Quota: r.Quota.Flag, Trash: max(r.Trash, 0), Retention: r.Retention}
		if r.Parent.Column != "" {
			n.Parents = append(n.Parents, Edge{Table: r.Parent.Resource, Columns: []string{r.Parent.Column}})
		}
		n.Parents = append(n.Parents, r.Parents...)
		for _, l := range r.Limits {
			n.Limits = append(n.Limits, nodeLimit{l.Name, len(l.Owners)})
		}
		keys[n.Name] = n.Key
		nodes = append(nodes, n)
	}
	for _, t := range p.Tables {
		n := Node{Name: t.Name, Tables: t.tables(), Key: t.Key, Asset: t.Asset, Parents: slices.Clone(t.Parents), Stays: t.Stays, Trash: max(cmp.Or(t.Trash, p.Trash), 0), Retention: t.Retention, Triggers: t.Triggers}
		keys[n.Name] = n.Key
		nodes = append(nodes, n)
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Retention != nil {
			n.Retained = n.Tables
			if n.Managed && n.Retention.Column == ident.ColArchivedAt {
				n.Retained = n.Tables[1:]
			}
		}
		for i := range n.Parents {
			e := &n.Parents[i]
			if len(e.References) == 0 {
				e.References = keys[e.Table]
			}
			if e.OnDelete == "" {
				e.OnDelete = OnDeleteDelete
			}
		}
	}
	return nodes
}

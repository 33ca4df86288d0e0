package schema

import (
	"cmp"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Resource is a kind of row that its owner sees: a project, a screen, a comment.
// The zero value of a field means what its comment says.
type Resource struct {
	// Name is what the resource is called in plans, jobs and messages: "project".
	Name string `yaml:"name"`
	// Active is the table of the active rows. Default: Name.
	Active string `yaml:"active,omitempty"`
	// Archive is the table of the archived rows. Empty: rows cannot be archived
	// and a delete cannot be undone.
	Archive string `yaml:"archive,omitempty"`
	// ID is the primary key. Default: "id".
	ID string `yaml:"id,omitempty"`
	// IDType is its type: an integer, CHAR(n), VARCHAR(n), BINARY(n) or VARBINARY(n). Without AUTO_INCREMENT
	// the application makes the ids: "BINARY(16)". Default: "BIGINT NOT NULL AUTO_INCREMENT".
	IDType string `yaml:"id_type,omitempty"`
	// Owner is the column that holds whose row it is; names are unique and quotas
	// are counted per owner. It may be the parent's column (file names are unique
	// within their project). Empty: no names, no quota, no lists by owner.
	Owner string `yaml:"owner,omitempty"`
	// OwnerType is its type, one that a key can have. Default: the type of the parent's id where it is the
	// parent's column, else "BIGINT NOT NULL".
	OwnerType string `yaml:"owner_type,omitempty"`
	// Tenant is a column that stands before the owner: names are unique, quotas are counted and lists are
	// read per tenant and owner, and a row's parent is of its tenant. A resource without an owner of its own
	// is the tenant's. Default: [Plan.Tenant]; [NoTenant] has none.
	Tenant Column `yaml:"tenant,omitempty"`
	// Label is the row's name. Zero: rows have no names.
	Label Label `yaml:"label,omitempty"`
	// Parent is the row above. Zero: a root.
	Parent Parent `yaml:"parent,omitempty"`
	// EditArchived lets Update and Rename write archived rows too; those that a deletion hides they never
	// write.
	EditArchived bool `yaml:"edit_archived,omitempty"`
	// Parents are further rows above, by columns that are among Columns: the folder
	// that a folder is in, what a comment is about. The DDL adds an index for each to
	// both tables, unless one of the others begins with its columns and those of
	// its condition. No foreign key may lead to a resource: Create, and an Update that
	// changes the reference, lock the row above, active or archived, and answer
	// repo.ErrParentNotFound where it is not there; not where the plan keeps what refers to
	// it, or the reference is NULL or in no field of the struct. Archive, Activate and Move
	// do not look: what they move below a row that is being deleted goes with it. To a
	// [Table] a foreign key may lead, and is what looks.
	Parents []Edge `yaml:"parents,omitempty"`
	// Guard is a column that counts what has come below a row, in a plan for a cluster: who adds, archives,
	// activates or moves a row below writes it, who deletes the row deletes it, and no two nodes can commit
	// both. No verb reads it. Default: "guard" where another resource has this one as its parent and the plan
	// says [Plan.Cluster], else none.
	Guard string `yaml:"guard,omitempty"`
	// Quota is the flag "over quota". Zero: not subject to a quota.
	Quota Quota `yaml:"quota,omitempty"`
	// Limits are what an owner may have at most; what is over is refused.
	Limits []Limit `yaml:"limits,omitempty"`
	// Asset is a column that names an external asset, a file or an object, which the
	// cascade deletes before it deletes the row. NULL and '' name none.
	Asset string `yaml:"asset,omitempty"`
	// Trash is how long deleted rows are kept, so that they can be brought back. A row that is deleted
	// itself, and not below another one, is hidden in the archive until the worker has kept it; without an
	// archive it can only be deleted for good. Default: [Plan.Trash]; [NoTrash]: not at all.
	Trash Age `yaml:"trash,omitempty"`
	// Retention has the worker delete rows that are old enough, see [Retention]. The DDL adds an index for
	// it.
	Retention *Retention `yaml:"retention,omitempty"`
	// Columns are the application's own columns, in both tables.
	Columns []Column `yaml:"columns,omitempty"`
	// Indexes are the application's own indexes, on the active table, and on the archive those that say so.
	Indexes []Index `yaml:"indexes,omitempty"`
}

// Label declares the columns of a row's name.
type Label struct {
	// Column holds the name as it was typed: "name".
	Column string `yaml:"column"`
	// Key holds the name key, which is unique per owner. Default: Column + "_key".
	Key string `yaml:"key,omitempty"`
	// Kind says which names are the same: [names.KindName] (the default) or [names.KindFilename].
	Kind names.Kind `yaml:"kind,omitempty"`
}

// Parent declares the row above.
type Parent struct {
	// Resource is the parent's name in the plan.
	Resource string `yaml:"resource"`
	// Column holds the parent's id.
	Column string `yaml:"column"`
	// Type is the column's type. Default: that of the parent's id.
	Type string `yaml:"type,omitempty"`
	// Archived lets rows be made below an archived row too, not below one that a deletion hides.
	Archived bool `yaml:"archived,omitempty"`
}

// Quota declares the flag of rows that are over their owner's limit.
type Quota struct {
	// Flag is the column: "is_over_quota".
	Flag string `yaml:"flag"`
	// By is the column by which rows are ordered; the first rows, up to the limit,
	// are within the quota. It must be NOT NULL. Default: the id, so that the oldest stay.
	By string `yaml:"by,omitempty"`
	// Descending turns the order around: the rows with the greatest values stay.
	Descending bool `yaml:"descending,omitempty"`
}

// Column is a column of the application's own.
type Column struct {
	// Name of the column.
	Name string `yaml:"name"`
	// Type is what follows the name in CREATE TABLE: "VARCHAR(80) NOT NULL DEFAULT ''". live.Verify refuses a
	// TIMESTAMP that is declared as something else, and the reverse: it is written and read otherwise.
	Type string `yaml:"type"`
}

// Index is an index of the application's own.
type Index struct {
	// Columns in their order. The index is named after them.
	Columns []string `yaml:"columns"`
	// Unique makes it a constraint.
	Unique bool `yaml:"unique,omitempty"`
	// Archived makes it for lists of archived rows too: the archive has it with deletion_id behind the
	// owner's columns, with which it begins, so rows that a deletion hides are passed over unread.
	Archived bool `yaml:"archived,omitempty"`
}

// NoTenant is the tenant of a resource that has none: the tenants themselves, what all of them share.
var NoTenant = Column{Name: "-"}

func (r Resource) withDefaults() Resource {
	if r.Active == "" {
		r.Active = r.Name
	}
	if r.ID == "" {
		r.ID = "id"
	}
	if r.Tenant.Name == NoTenant.Name {
		r.Tenant = Column{Type: NoTenant.Name} // no column, and none of the plan's where r is declared again
	}
	r.keyTypes()
	if r.Label.Column != "" {
		if r.Label.Key == "" {
			r.Label.Key = r.Label.Column + "_key"
		}
		if r.Label.Kind == "" {
			r.Label.Kind = names.KindName
		}
	}
	if r.Quota.Flag != "" && r.Quota.By == "" {
		r.Quota.By = r.ID
	}
	r.Limits = r.filledLimits()
	return r
}

// keyTypes fills in the types of the columns that hold keys.
func (r *Resource) keyTypes() {
	if r.IDType == "" {
		r.IDType = shape.TypeID + " AUTO_INCREMENT"
	}
	r.IDType = keytype.NotNull(r.IDType)
	if r.Parent.Column != "" {
		r.Parent.Type = keytype.NotNull(cmp.Or(r.Parent.Type, shape.TypeID))
	}
	switch r.Tenant.Name {
	case "":
	case r.Parent.Column: // the tenant is the row above
		r.Tenant.Type = keytype.NotNull(cmp.Or(r.Tenant.Type, r.Parent.Type))
	default:
		r.Tenant.Type = keytype.NotNull(cmp.Or(r.Tenant.Type, shape.TypeID))
	}
	switch r.Owner {
	case "":
	case r.Tenant.Name:
		r.OwnerType = r.Tenant.Type
	case r.Parent.Column:
		r.OwnerType = r.Parent.Type
	default:
		r.OwnerType = keytype.NotNull(cmp.Or(r.OwnerType, shape.TypeID))
	}
}

// Owners are the columns that say whose row it is: the tenant and the owner, as far as there are any.
func (r Resource) Owners() []string {
	cols := colset.Some(r.Tenant.Name)
	if r.Owner != "" && r.Owner != r.Tenant.Name {
		cols = append(cols, r.Owner)
	}
	return cols
}

// keyType is the declared type of a column that holds a key: the id, an owner's, the parent's. Empty: the
// column is none of these.
func (r Resource) keyType(column string) string {
	switch column {
	case "":
	case r.ID:
		return r.IDType
	case r.Tenant.Name:
		return r.Tenant.Type
	case r.Owner:
		return r.OwnerType
	case r.Parent.Column:
		return r.Parent.Type
	}
	return ""
}

// Named says whether rows have names.
func (r Resource) Named() bool { return r.Label.Column != "" }

// Tables returns the active table and, where there is one, the archive table.
func (r Resource) Tables() []string {
	if r.Archive == "" {
		return []string{r.Active}
	}
	return []string{r.Active, r.Archive}
}

// Shared returns the names of all columns that the two tables have in common, in the order of the DDL: those
// that the toolkit writes, then the application's own.
func (r Resource) Shared() []string {
	columns := r.columns(r.IDType)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// State is in which of its two tables a row is.
type State string

// The states of a row. A row whose deletion can still be cancelled is in the
// archive table too, but hidden: it has no state.
const (
	Active   State = "active"
	Archived State = "archived"
)

package verify

import (
	"fmt"
	"strings"
)

// Kind is what a difference is about. Each has a fix that a test has tried on tables with
// rows, see TestFixes: a new one fails there until it has a case of its own.
type Kind string

// The kinds, by what they are about.
const (
	TableHidden  Kind = "table hidden"
	TableMissing Kind = "table missing"
	TableView    Kind = "not a table"
	TableEngine  Kind = "engine"
	TableTrigger Kind = "trigger of a resource"

	ColumnMissing Kind = "column missing"
	ColumnWrong   Kind = "column wrong"
	ColumnUnknown Kind = "column unknown"
	ColumnsDiffer Kind = "columns of a pair differ"

	IndexMissing Kind = "index missing"
	IndexOff     Kind = "index switched off"
	IndexUnknown Kind = "unique index unknown"

	CounterBehind Kind = "counter behind"
	CounterSpent  Kind = "counter spent"
	CounterHidden Kind = "counter hidden"

	KeyMissing      Kind = "no primary key"
	KeyOther        Kind = "another primary key"
	KeyInexact      Kind = "key not exact"
	AssetMissing    Kind = "asset missing"
	ForeignTrigger  Kind = "trigger of a table"
	TriggerGone     Kind = "accepted trigger gone"
	ArchiveMissing  Kind = "archive's column missing"
	ArchiveDiffers  Kind = "archive's column differs"
	EdgeMissing     Kind = "edge's column missing"
	ReferenceGone   Kind = "reference missing"
	ReferenceTwice  Kind = "reference not unique"
	EdgeUnindexed   Kind = "edge without an index"
	EdgeType        Kind = "edge of another type"
	EdgeInexact     Kind = "edge not exact"
	DetachComputed  Kind = "detach a computed column"
	DetachNotNull   Kind = "detach NOT NULL"
	ForeignManaged  Kind = "foreign key to a resource"
	ForeignOutward  Kind = "foreign key to elsewhere"
	ForeignUnknown  Kind = "foreign key of an unknown table"
	ForeignEdgeless Kind = "foreign key without an edge"
	ForeignConflict Kind = "foreign key against the edge"
	ForeignUpdate   Kind = "foreign key to what is detached"

	RetentionColumn    Kind = "retention by another column"
	RetentionUnindexed Kind = "retention without an index"

	ToolkitColumn Kind = "toolkit's column"
)

// report adds a difference. The statement, where one does it, ends its fix: it may do no harm
// in any session, whatever its time zone and sql_mode, to any row. Where none can promise that, the fix
// says in words what to do, in which order.
func (v *verifier) report(k Kind, d Difference, statement string) {
	d.Absent = k == TableMissing
	if statement != "" {
		d.SQL, d.Fix = statement, strings.TrimSpace(d.Fix+" "+statement)
	}
	for _, said := range v.findings {
		if said.Difference == d {
			return
		}
	}
	v.findings = append(v.findings, Finding{d, k})
}

// Finding is a difference with its kind.
type Finding struct {
	Difference
	Kind Kind
}

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
	// Absent says that the table is not there at all.
	Absent bool `json:"-"`
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

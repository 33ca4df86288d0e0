package schema

import "strings"

// kind is what a difference is about. Each has a fix that a test has tried on tables with
// rows, see TestFixes: a new one fails there until it has a case of its own.
type kind string

const (
	tableHidden  kind = "table hidden"
	tableMissing kind = "table missing"
	tableView    kind = "not a table"
	tableEngine  kind = "engine"
	tableTrigger kind = "trigger of a resource"

	columnMissing kind = "column missing"
	columnWrong   kind = "column wrong"
	columnUnknown kind = "column unknown"
	columnsDiffer kind = "columns of a pair differ"

	indexMissing kind = "index missing"
	indexOff     kind = "index switched off"
	indexUnknown kind = "unique index unknown"

	counterBehind kind = "counter behind"
	counterSpent  kind = "counter spent"
	counterHidden kind = "counter hidden"

	keyMissing      kind = "no primary key"
	keyOther        kind = "another primary key"
	keyInexact      kind = "key not exact"
	assetMissing    kind = "asset missing"
	foreignTrigger  kind = "trigger of a table"
	triggerGone     kind = "accepted trigger gone"
	archiveMissing  kind = "archive's column missing"
	archiveDiffers  kind = "archive's column differs"
	edgeMissing     kind = "edge's column missing"
	referenceGone   kind = "reference missing"
	referenceTwice  kind = "reference not unique"
	edgeUnindexed   kind = "edge without an index"
	edgeType        kind = "edge of another type"
	edgeInexact     kind = "edge not exact"
	detachComputed  kind = "detach a computed column"
	detachNotNull   kind = "detach NOT NULL"
	foreignManaged  kind = "foreign key to a resource"
	foreignOutward  kind = "foreign key to elsewhere"
	foreignUnknown  kind = "foreign key of an unknown table"
	foreignEdgeless kind = "foreign key without an edge"
	foreignConflict kind = "foreign key against the edge"
	foreignUpdate   kind = "foreign key to what is detached"

	retentionColumn    kind = "retention by another column"
	retentionUnindexed kind = "retention without an index"

	toolkitColumn kind = "toolkit's column"
)

// say adds a difference. The statement, where one does it, ends its fix: it may do no harm
// in any session, whatever its time zone and sql_mode, to any row. Where none can promise that, the fix
// says in words what to do, in which order.
func (v *verifier) say(k kind, d difference, statement string) {
	if statement != "" {
		d.SQL, d.Fix = statement, strings.TrimSpace(d.Fix+" "+statement)
	}
	for _, said := range v.said {
		if said.difference == d {
			return
		}
	}
	v.said = append(v.said, said{d, k})
}

type said struct {
	difference
	kind kind
}

// difference is one point in which a database is not as declared, see live.Difference.
type difference struct {
	Table, Column, Index, Problem, Fix, SQL string
}

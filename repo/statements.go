package repo

import (
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// statements are the texts that depend on the declaration only, each beside the verb that runs it. All of
// them find their row by the primary key, unless they say otherwise.
type statements struct {
	rowStatements
	getStatements
	insertStatements
	editStatements
	archiveStatements
	copyStatements
	parentStatements
	madeBefore, madeBeforeCurrent string // by another Create of the id
	listByName                    string
	holder                        string // of a name
	hide, unhide, trash           string // a row that is deleted
	moving                        moving
}

func (r *tables) statements() statements {
	active, archived := r.readSQL()
	q := statements{
		rowStatements:     r.rowStatements(),
		getStatements:     r.getStatements(active, archived),
		insertStatements:  r.insertStatements(active),
		editStatements:    r.editStatements(active, archived),
		archiveStatements: r.archiveStatements(),
		copyStatements:    r.copyStatements(),
		parentStatements:  r.parentStatements(),
	}
	if r.makesIDs() {
		q.madeBefore, q.madeBeforeCurrent = r.madeBeforeSQL(""), r.madeBeforeSQL(" LOCK IN SHARE MODE")
	}
	if r.res.Named() {
		q.listByName, q.holder = r.listByNameSQL(), r.holderSQL()
	}
	if r.res.Archive != "" {
		q.hide, q.unhide, q.trash = r.hideSQL(), r.unhideSQL(), r.trashSQL()
	}
	q.moving = r.movingSQL(&q)
	return q
}

// shown is the condition on rows of the archive that no deletion hides.
const shown = " AND deletion_id IS NULL"

// ownerIs is the condition on the owner, or "".
func (r *tables) ownerIs() string {
	var conditions []string
	for _, column := range r.res.Owners() {
		conditions = append(conditions, ident.Quote(column)+" = ?")
	}
	return strings.Join(conditions, " AND ")
}

// nameColumns are the columns that a name is stored in.
func (r *tables) nameColumns() []string {
	if !r.res.Named() {
		return nil
	}
	return []string{r.res.Label.Column, r.res.Label.Key, schema.ColStemKey, schema.ColCopyNo}
}

// inUTC has a statement write times as UTC where the resource has a TIMESTAMP: MySQL copies one from table to
// table by what the session's zone reads, too.
func (r *tables) inUTC(statement string) string {
	if !slices.ContainsFunc(r.res.Columns, func(c schema.Column) bool { return typeWord(c.Type) == "timestamp" }) {
		return statement
	}
	return ident.InUTC(statement)
}

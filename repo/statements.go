package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// statements are the texts that depend on the declaration only. All of them find
// their row by the primary key, unless they say otherwise.
type statements struct {
	get, getCurrent, readActive, find            string
	listByName                                   string
	lockActive, lockArchived, lockToActivate     string
	where                                        string
	insert                                       string
	toArchive, toActive                          string
	deleteActive, deleteArchived, hide, unhide   string
	rename, update                               string
	holder, nextCopy, nextCopyCurrent            string
	parentCreate, parentCreateArchived           rung
	parentActive, parentArchived                 rung
	renameArchived, updateArchived, readArchived string
	madeBefore, madeBeforeCurrent                string
	trash, readForUpdate, readMade               string
	anybody                                      string // where, whoever owns the row
	moving                                       moving
}

// shown is the condition on rows of the archive that no deletion hides.
const shown = " AND deletion_id IS NULL"

func (r *tables) statements() statements {
	list, key := r.fields.selectList(), r.byID()
	q := statements{
		get:          fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s", list, r.active.table, key),
		lockActive:   r.lockSQL(r.active),
		deleteActive: fmt.Sprintf("DELETE FROM %s WHERE %s AND version = ?", r.active.table, key),
		where:        fmt.Sprintf("(SELECT 'active' FROM %s WHERE %s LOCK IN SHARE MODE)", r.active.table, key),
		insert:       r.insertSQL(),
		update:       r.updateSQL(r.active, ""),
	}
	q.readActive = q.get
	q.getCurrent = r.getSQL(" LOCK IN SHARE MODE")
	q.readForUpdate = q.get + " FOR UPDATE"
	q.readMade = fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s = LAST_INSERT_ID() FOR UPDATE", list, r.active.table, ident.Quote(r.res.ID))
	if r.res.Archive != "" {
		r.archiveStatements(&q)
	}
	if r.res.Named() {
		r.nameStatements(&q)
	}
	if r.makesIDs() {
		q.madeBefore, q.madeBeforeCurrent = r.madeBeforeSQL(""), r.madeBeforeSQL(" LOCK IN SHARE MODE")
	}
	if r.parent.Name != "" {
		r.parentStatements(&q)
	}
	q.moving = r.movingSQL(&q)
	return q
}

// archiveStatements are those of the archive, and the halves of those that ask both tables.
func (r *tables) archiveStatements(q *statements) {
	list, key := r.fields.selectList(), r.byID()
	archived := fmt.Sprintf("SELECT %s, version, 'archived' FROM %s WHERE %s AND deletion_id IS NULL", list, r.archive.table, key)
	q.get += " UNION ALL " + archived
	q.where += fmt.Sprintf(" UNION ALL (SELECT IF(deletion_id IS NULL, 'archived', 'trash') FROM %s WHERE %s LOCK IN SHARE MODE)", r.archive.table, key)
	q.lockArchived = r.lockSQL(r.archive)
	q.lockToActivate = r.lockToActivateSQL()
	if r.res.EditArchived {
		q.readArchived, q.updateArchived = archived, r.updateSQL(r.archive, shown)
	}
	q.deleteArchived = fmt.Sprintf("DELETE FROM %s WHERE %s AND version = ?", r.archive.table, key)
	q.toArchive, q.toActive = r.moveSQL()
	q.hide = fmt.Sprintf("UPDATE %s SET version = version + 1, updated_at = UTC_TIMESTAMP(6), deletion_id = ?, deleted_from = 'archived' WHERE %s AND version = ?", r.archive.table, key)
	q.unhide = fmt.Sprintf("UPDATE %s SET version = version + 1, updated_at = UTC_TIMESTAMP(6), deletion_id = NULL, deleted_from = NULL WHERE %s AND version = ?", r.archive.table, key)
	q.trash = fmt.Sprintf("SELECT deletion_id, %s FROM %s WHERE %s AND deletion_id IS NOT NULL", ident.Quote(r.res.ID), r.archive.table, key)
}

// nameStatements are those of rows with names.
func (r *tables) nameStatements(q *statements) {
	id, list, key := ident.Quote(r.res.ID), r.fields.selectList(), r.byID()
	owner, nameKey, label := r.ownerIs(), ident.Quote(r.res.Label.Key), ident.Quote(r.res.Label.Column)
	q.find = fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s AND %s = ?", list, r.active.table, owner, nameKey)
	q.listByName = fmt.Sprintf("SELECT /*+ INDEX(%s %s) */ %s, version, 'active' FROM %[1]s IGNORE INDEX (PRIMARY) WHERE %[4]s AND %[5]s >= ? AND %[5]s < ? ORDER BY %[5]s LIMIT ?",
		r.active.table, ident.Quote("one_name"), list, owner, nameKey)
	q.holder = fmt.Sprintf("SELECT %s FROM %s WHERE %s AND %s = ? LOCK IN SHARE MODE", id, r.active.table, owner, nameKey)
	nextCopy := func(lock string) string { // the highest copy number of the stem below one, and who has the name
		return fmt.Sprintf("SELECT COALESCE((SELECT copy_no FROM %s WHERE %s AND stem_key = ? AND copy_no < ? ORDER BY copy_no DESC LIMIT 1%s), 0), COALESCE((SELECT 1 FROM %[1]s WHERE %[2]s AND %[4]s = ?%[3]s), 0)",
			r.active.table, owner, lock, nameKey)
	}
	q.nextCopy, q.nextCopyCurrent = nextCopy(""), nextCopy(" LOCK IN SHARE MODE")
	rename := func(s side, condition string) string {
		return fmt.Sprintf("UPDATE %s SET %s = ?, %s = ?, stem_key = ?, copy_no = ?, version = version + 1, updated_at = UTC_TIMESTAMP(6) WHERE %s AND CAST(%[2]s AS BINARY) <> CAST(? AS BINARY)%[5]s",
			s.table, label, nameKey, key, condition)
	}
	q.rename = rename(r.active, "")
	if r.res.EditArchived {
		q.renameArchived = rename(r.archive, shown)
	}
}

// parentStatements lock the row above.
func (r *tables) parentStatements(q *statements) {
	parent := ident.Quote(r.parent.ID) + " = ?"
	q.parentCreate = rungOf(r.parent, r.parent.Active, "1", r.parentByID())
	q.parentActive = rungOf(r.parent, r.parent.Active, "1", parent)
	if r.parent.Archive != "" {
		q.parentCreateArchived = rungOf(r.parent, r.parent.Archive, "1", r.parentByID()+shown)
		q.parentArchived = rungOf(r.parent, r.parent.Archive, "1", parent+shown)
	}
}

// lockSQL reads and locks the row of one side: the struct, then what the verbs
// need to know of it (see held).
func (r *tables) lockSQL(s side, more ...string) string {
	cols := []string{r.fields.selectList(), "version"}
	if r.res.Named() {
		cols = append(cols, ident.Quote(r.res.Label.Column))
	} else {
		cols = append(cols, "''")
	}
	if s.state == schema.Archived {
		cols = append(cols, "COALESCE(deletion_id, 0)", "COALESCE(deleted_from, '')")
	} else {
		cols = append(cols, "0", "''")
	}
	// The end of a primary key: a job that is queued gets a higher id, unless AUTO_INCREMENT has fallen back.
	// Not MAX(id): MariaDB reads that before it locks the row, and with innodb_snapshot_isolation
	// answers 1020 if the row changed while this statement waited for it, at READ COMMITTED too.
	cols = append(cols, r.twinColumn(s), "COALESCE((SELECT id FROM onerow_job_archive ORDER BY id DESC LIMIT 1), 0)", ident.Quote(r.res.ID))
	for _, owner := range r.res.Owners() {
		cols = append(cols, ident.Quote(owner))
	}
	if r.res.Parent.Column != "" {
		cols = append(cols, ident.Quote(r.res.Parent.Column))
	}
	cols = append(cols, more...)
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s FOR UPDATE", strings.Join(cols, ", "), s.table, r.byID())
}

// ownerIs is the condition on the owner, or "".
func (r *tables) ownerIs() string {
	var conditions []string
	for _, column := range r.res.Owners() {
		conditions = append(conditions, ident.Quote(column)+" = ?")
	}
	return strings.Join(conditions, " AND ")
}

// insertSQL: the unique index (owner, name key) decides. Its parameters: the id where the
// application makes it, owner, parent (where it is not the owner), name, name key, stem key, copy number, the
// application's own columns.
func (r *tables) insertSQL() string {
	var cols, values []string
	add := func(col, value string) { cols, values = append(cols, ident.Quote(col)), append(values, value) }
	for _, col := range r.insertColumns() {
		add(col, "?")
	}
	add(schema.ColVersion, "1")
	add(schema.ColCreatedAt, "UTC_TIMESTAMP(6)")
	add(schema.ColUpdatedAt, "UTC_TIMESTAMP(6)")
	return r.inUTC(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", r.active.table, strings.Join(cols, ", "), strings.Join(values, ", ")))
}

// insertColumns are the columns whose values come with the statement.
func (r *tables) insertColumns() []string {
	var cols []string
	if r.makesIDs() {
		cols = append(cols, r.res.ID)
	}
	cols = append(cols, r.res.Owners()...)
	if r.res.Parent.Column != "" && !slices.Contains(cols, r.res.Parent.Column) {
		cols = append(cols, r.res.Parent.Column)
	}
	return append(cols, r.updateColumns()...)
}

// nameColumns are the columns that a name is stored in.
func (r *tables) nameColumns() []string {
	if !r.res.Named() {
		return nil
	}
	return []string{r.res.Label.Column, r.res.Label.Key, schema.ColStemKey, schema.ColCopyNo}
}

// updateColumns are the columns that an update writes, beside version and updated_at.
func (r *tables) updateColumns() []string {
	cols := r.nameColumns()
	for _, f := range r.fields.own {
		cols = append(cols, f.column)
	}
	return cols
}

// updateSQL writes the application's own columns and the name; the version that
// was read guards it. The quota's flag is not among them.
func (r *tables) updateSQL(s side, condition string) string {
	var set []string
	for _, col := range r.updateColumns() {
		set = append(set, ident.Quote(col)+" = ?")
	}
	set = append(set, "version = version + 1", "updated_at = UTC_TIMESTAMP(6)")
	return r.inUTC(fmt.Sprintf("UPDATE %s SET %s WHERE %s AND version = ?%s", s.table, strings.Join(set, ", "), r.byID(), condition))
}

// moveSQL copies a row, locked before, to the other table. Both are followed by
// a DELETE, see remove. toArchive takes the
// deletion's id and origin (NULL, NULL: merely archived) and the id; toActive
// takes the name's four columns, where there is a name, and the id. The flag
// "over quota" is not copied: archived rows do not count.
func (r *tables) moveSQL() (toArchive, toActive string) {
	var cols, plain, named []string
	for _, col := range r.res.Shared() {
		value := ident.Quote(col)
		cols = append(cols, value)
		switch col {
		case r.res.Quota.Flag:
			value = "0"
		case schema.ColVersion:
			value = "version + 1"
		case schema.ColUpdatedAt:
			value = "UTC_TIMESTAMP(6)"
		}
		plain = append(plain, value)
		switch col {
		case r.res.Label.Column, r.res.Label.Key:
			value = "?"
		case schema.ColStemKey, schema.ColCopyNo:
			if r.res.Named() {
				value = "?"
			}
		}
		named = append(named, value)
	}
	toArchive = fmt.Sprintf("INSERT INTO %s (%s, archived_at, deletion_id, deleted_from) SELECT %s, UTC_TIMESTAMP(6), ?, ? FROM %s WHERE %s",
		r.archive.table, strings.Join(cols, ", "), strings.Join(plain, ", "), r.active.table, r.byID())
	toActive = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s",
		r.active.table, strings.Join(cols, ", "), strings.Join(named, ", "), r.archive.table, r.byID())
	return r.inUTC(toArchive), r.inUTC(toActive)
}

// inUTC has a statement write times as UTC where the resource has a TIMESTAMP: MySQL copies one from table to
// table by what the session's zone reads, too.
func (r *tables) inUTC(statement string) string {
	if !slices.ContainsFunc(r.res.Columns, func(c schema.Column) bool { return typeWord(c.Type) == "timestamp" }) {
		return statement
	}
	return ident.InUTC(statement)
}

package repo

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/schema"
)

// scanRow reads one row of a statement that selects the struct and then more.
func (r *untyped) scanRow(rows *sql.Rows, row reflect.Value, more ...any) error {
	return rows.Scan(append(r.fields.targets(row), more...)...)
}

// setState fills the optional field for the state.
func (r *untyped) setState(row reflect.Value, state schema.State) {
	if r.fields.state != nil && row.IsValid() {
		row.FieldByIndex(r.fields.state).SetString(string(state))
	}
}

func (r *untyped) label(row reflect.Value) string {
	return row.FieldByIndex(r.fields.label).String()
}

// item is a row with what every read of it also tells.
type item struct {
	row     reflect.Value
	version int64
	state   schema.State
	more    bool // the statement has met another row as well
}

// sqlRead reads the struct, the version and the state of a row that no deletion hides, by its primary key.
const sqlRead = `SELECT {fields}, version, '{state}' FROM {table} WHERE {byID}{shown}{lock}`

// shown is the condition on rows of the archive that no deletion hides.
const shown = ` AND deletion_id IS NULL`

// read runs a statement that selects the struct, the version and the state, and returns its first row, or
// onerow.ErrNotFound.
func (r *untyped) read(ctx context.Context, db onerow.DB, query string, args ...any) (it item, err error) {
	err = onerow.Query(ctx, db, query, args, it.scan(r))
	return it, it.found(err)
}

// readAfter is read after a write.
func (r *untyped) readAfter(ctx context.Context, tx *onerow.Tx, write onerow.Stmt, query string, args ...any) (it item, err error) {
	err = packet.QueryAfter(ctx, tx, []onerow.Stmt{write}, query, args, it.scan(r))
	return it, it.found(err)
}

// scan takes the first row.
func (it *item) scan(r *untyped) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		if it.row.IsValid() {
			it.more = true
			return nil
		}
		it.row = reflect.New(r.typ).Elem()
		err := r.scanRow(rows, it.row, &it.version, &it.state)
		r.setState(it.row, it.state)
		return err
	}
}

func (it *item) found(err error) error {
	if err == nil && !it.row.IsValid() {
		return onerow.ErrNotFound
	}
	return err
}

type lockedRow struct {
	item
	home
	key         any // as the row has it: a collation may take other spellings for the same
	label       string
	deletionID  int64  // 0, or the deletion that hid the row
	deletedFrom string // where the row was before that
	finished    int64  // the highest id of a finished cascade job
	copyNo      int    // of its name, where that is taken: see lockToActivate
	twin        bool   // perhaps the other table has this id as well, see refuseTwin
	odd         bool   // a date of it is none, and a strict session would not write it again
}

// sqlLockActive and sqlLockArchived read a row by its primary key, and lock it: the struct, and then what the
// verbs need to know of it, see lockedRow. The look for the same id in the other table locks nothing.
const (
	sqlLockActive   = `SELECT {fields}, version, {label}, 0, '', {inArchive}, ` + lastFinished + `, {odd}, {keys} FROM {active} WHERE {byID} FOR UPDATE`
	sqlLockArchived = `SELECT ` + lockedArchived + ` FROM {archive} WHERE {byID} FOR UPDATE`

	lockedArchived = `{fields}, version, {label}, COALESCE(deletion_id, 0), COALESCE(deleted_from, ''), ` +
		`EXISTS (SELECT 1 FROM {active} AS twin WHERE twin.{id} = {archive}.{id}), ` + lastFinished + `, {odd}, {keys}`

	// lastFinished is the end of a primary key: a job that is queued gets a higher id, unless AUTO_INCREMENT
	// has fallen back. Not MAX(id): MariaDB reads that before it locks the row, and with
	// innodb_snapshot_isolation answers 1020 if the row changed while this statement waited for it, at READ
	// COMMITTED too.
	lastFinished = `COALESCE((SELECT id FROM onerow_job_archive ORDER BY id DESC LIMIT 1), 0)`
)

// lock reads and locks the row in the table of a state by its primary key, after writes if there are any:
// one statement. found is false where there is none.
func (r *untyped) lock(ctx context.Context, tx *onerow.Tx, state schema.State, id any, writes ...onerow.Stmt) (h lockedRow, found bool, err error) {
	switch {
	case state == schema.Active:
		return r.lockBy(ctx, tx, state, sqlLockActive, id, writes)
	case r.res.Archive == "":
		return h, false, nil
	}
	return r.lockBy(ctx, tx, state, sqlLockArchived, id, writes)
}

func (r *untyped) lockBy(ctx context.Context, tx *onerow.Tx, state schema.State, statement string, id any, writes []onerow.Stmt, more ...any) (h lockedRow, found bool, err error) {
	err = packet.QueryAfter(ctx, tx, writes, r.text(statement), []any{id}, func(rows *sql.Rows) error {
		found = true
		h.row = reflect.New(r.typ).Elem()
		targets := append(make([]any, 0, 16), &h.version, &h.label, &h.deletionID, &h.deletedFrom, &h.twin, &h.finished, &h.odd)
		return r.scanRow(rows, h.row, append(r.keyTargets(targets, &h), more...)...)
	})
	h.state = state
	r.setState(h.row, state)
	return h, found, notOneRow(err)
}

// keyTargets appends the Scan targets for the keys of a locked row.
func (r *untyped) keyTargets(targets []any, h *lockedRow) []any {
	h.owner = make([]any, len(r.fields.owners))
	targets = append(targets, r.fields.id.into(&h.key))
	for i, f := range r.fields.owners {
		targets = append(targets, f.into(&h.owner[i]))
	}
	if r.fields.parent.index != nil {
		targets = append(targets, r.fields.parent.into(&h.parent))
	}
	return targets
}

// lockEither locks the row in the table in which it is.
func (r *untyped) lockEither(ctx context.Context, tx *onerow.Tx, id any) (h lockedRow, found bool, err error) {
	if h, found, err = r.lock(ctx, tx, schema.Active, id); found || err != nil {
		return h, found, err
	}
	return r.lock(ctx, tx, schema.Archived, id)
}

// writeAndRead runs the writes of a verb, and is its answer: the row as it is then, read by its key.
func (r *untyped) writeAndRead(ctx context.Context, tx *onerow.Tx, state schema.State, id any, writes ...onerow.Stmt) (result, error) {
	h, found, err := r.lock(ctx, tx, state, id, writes...)
	if err == nil && !found {
		err = errMoved
	}
	return result{row: h.row, changed: true}, err
}

// sqlDelete works by the primary key; the version proves that the row is the one that this transaction has
// read, and locked.
const sqlDelete = `DELETE FROM {table} WHERE {byID} AND version = ?`

func (r *untyped) remove(h lockedRow, id any) onerow.Stmt {
	return guarded(r.textIn(h.state, sqlDelete), id, h.version)
}

// maxEmptyReads is how often both tables are asked before a row counts as gone: on a server the one statement
// sees either table's row, on a cluster a move may arrive in between.
const maxEmptyReads = 3

// bothTables is a statement that asks both tables for an id, or the one of the active table where there is no
// archive, and its arguments.
func (r *untyped) bothTables(both, active, lock string, id any) (query string, args []any) {
	if r.res.Archive == "" {
		return r.locked(active, lock), []any{id}
	}
	return r.locked(both, lock), []any{id, id}
}

// sqlWhere and, without an archive, sqlWhereActive say where a row is, by its primary key and current reads.
const (
	sqlWhere       = `(` + sqlWhereActive + `) UNION ALL (SELECT IF(deletion_id IS NULL, 'archived', 'trash') FROM {archive} WHERE {byID} LOCK IN SHARE MODE)`
	sqlWhereActive = `SELECT 'active' FROM {active} WHERE {byID} LOCK IN SHARE MODE`
)

// where asks both tables in one statement where the row is: "active", "archived", "trash" (a deletion in its
// grace period), or "" for gone.
func (r *untyped) where(ctx context.Context, db onerow.DB, id any) (place string, err error) {
	query, args := r.bothTables(sqlWhere, sqlWhereActive, "", id)
	for range maxEmptyReads {
		if there, err := found(onerow.QueryRow(ctx, db, query, args, &place)); there || err != nil {
			return place, err
		}
	}
	return "", nil
}

// found is whether a query had a row, by its error.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// sqlHasID asks a table for an id, by its primary key, with a lock: at this moment.
const sqlHasID = `SELECT 1 FROM {table} WHERE {id} = ? LOCK IN SHARE MODE`

// twinError is the error where the other table has another row of the id of a row that this transaction has
// locked in the table of a state; refused is what made the caller ask. One statement.
func (r *untyped) twinError(ctx context.Context, tx *onerow.Tx, state schema.State, id any, refused error) error {
	other, table := schema.Archived, r.res.Archive
	if state == schema.Archived {
		other, table = schema.Active, r.res.Active
	}
	there, err := found(onerow.QueryRow(ctx, tx, r.textIn(other, sqlHasID), []any{id}, new(int)))
	if err != nil || !there {
		return err
	}
	return &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: table, Err: refused}
}

// refuseTwin refuses a locked row that shares its id with another. That the lock has seen one is a hint, for
// its snapshot may show a row that has moved where it was. No statement, one where the hint says so.
func (r *untyped) refuseTwin(ctx context.Context, tx *onerow.Tx, h lockedRow, id any) error {
	if !h.twin {
		return nil
	}
	return r.twinError(ctx, tx, h.state, id, nil)
}

// twinFirst is the error of a move from the active table: where a row was in its way, the one of the same id.
func (r *untyped) twinFirst(ctx context.Context, tx *onerow.Tx, id any, err error) error {
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return err
	}
	return cmp.Or(r.twinError(ctx, tx, schema.Active, id, err), err)
}

package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/schema"
)

// scanRow reads one row of a statement that selects the struct and then more.
func (r *tables) scanRow(rows *sql.Rows, row reflect.Value, more ...any) error {
	return rows.Scan(append(r.fields.targets(row), more...)...)
}

// setState fills the optional field for the state.
func (r *tables) setState(row reflect.Value, state schema.State) {
	if r.fields.state != nil && row.IsValid() {
		row.FieldByIndex(r.fields.state).SetString(string(state))
	}
}

func (r *tables) label(row reflect.Value) string {
	return row.FieldByIndex(r.fields.label).String()
}

// item is a row with what every read of it also tells.
type item struct {
	row     reflect.Value
	version int64
	state   schema.State
	more    bool // the statement has met another row as well
}

// read runs a statement that selects the struct, the version and the state, and
// returns its first row, or onerow.ErrNotFound.
func (r *tables) read(ctx context.Context, db onerow.DB, query string, args ...any) (item, error) {
	return r.item(func(scan func(*sql.Rows) error) error { return onerow.Query(ctx, db, query, args, scan) })
}

// readAfter is read behind a write.
func (r *tables) readAfter(ctx context.Context, tx *onerow.Tx, write onerow.Stmt, query string, args ...any) (item, error) {
	return r.item(func(scan func(*sql.Rows) error) error {
		return packet.QueryAfter(ctx, tx, []onerow.Stmt{write}, query, args, scan)
	})
}

// item is the first row that a query calls scan for.
func (r *tables) item(query func(scan func(*sql.Rows) error) error) (it item, err error) {
	found := false
	err = query(func(rows *sql.Rows) error {
		if found {
			it.more = true
			return nil
		}
		found = true
		it.row = reflect.New(r.typ).Elem()
		return r.scanRow(rows, it.row, &it.version, &it.state)
	})
	if err == nil && !found {
		err = onerow.ErrNotFound
	}
	r.setState(it.row, it.state)
	return it, err
}

// held is a row that this transaction has locked.
type held struct {
	item
	key, parent any // as the row has them: a collation may take other spellings for the same
	owner       []any
	label       string
	deletionID  int64  // 0, or the deletion that hid the row
	deletedFrom string // where the row was before that
	finished    int64  // the highest id of a finished cascade job
	copyNo      int    // of its name, where that is taken: see lockToActivate
	twin        bool   // perhaps the other table has this id as well, see single
}

// rowStatements lock a row, remove it, or say where it is.
type rowStatements struct {
	lockActive, lockArchived     string
	deleteActive, deleteArchived string
	where                        string
	anybody                      string // where, whoever owns the row
}

func (r *tables) rowStatements() rowStatements {
	key := r.byID()
	q := rowStatements{
		lockActive:   r.lockSQL(r.active),
		deleteActive: fmt.Sprintf("DELETE FROM %s WHERE %s AND version = ?", r.active.table, key),
		where:        fmt.Sprintf("(SELECT 'active' FROM %s WHERE %s LOCK IN SHARE MODE)", r.active.table, key),
	}
	if r.res.Archive != "" {
		q.lockArchived = r.lockSQL(r.archive)
		q.deleteArchived = fmt.Sprintf("DELETE FROM %s WHERE %s AND version = ?", r.archive.table, key)
		q.where += fmt.Sprintf(" UNION ALL (SELECT IF(deletion_id IS NULL, 'archived', 'trash') FROM %s WHERE %s LOCK IN SHARE MODE)", r.archive.table, key)
	}
	return q
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

// lock reads and locks the row of one side by its primary key, behind writes if there are any: one statement.
// found is false where there is none.
func (r *tables) lock(ctx context.Context, tx *onerow.Tx, s side, id any, writes ...onerow.Stmt) (held, bool, error) {
	query := r.sql.lockActive
	if s.state == schema.Archived {
		query = r.sql.lockArchived
	}
	return r.lockBy(ctx, tx, s, query, id, writes)
}

func (r *tables) lockBy(ctx context.Context, tx *onerow.Tx, s side, query string, id any, writes []onerow.Stmt, more ...any) (h held, found bool, err error) {
	if query == "" {
		return h, false, nil
	}
	err = packet.QueryAfter(ctx, tx, writes, query, []any{id}, func(rows *sql.Rows) error {
		found = true
		h.row = reflect.New(r.typ).Elem()
		targets := append(make([]any, 0, 16), &h.version, &h.label, &h.deletionID, &h.deletedFrom, &h.twin, &h.finished)
		return r.scanRow(rows, h.row, append(r.keyTargets(targets, &h), more...)...)
	})
	h.state = s.state
	r.setState(h.row, s.state)
	return h, found, moved(err)
}

// keyTargets appends the Scan targets for the keys of a locked row, see lockSQL.
func (r *tables) keyTargets(targets []any, h *held) []any {
	h.owner = make([]any, len(r.fields.owners))
	targets = append(targets, r.fields.id.into(&h.key))
	for i, f := range r.fields.owners {
		targets = append(targets, f.into(&h.owner[i]))
	}
	if r.fields.above.index != nil {
		targets = append(targets, r.fields.above.into(&h.parent))
	}
	return targets
}

// asks is how often an empty answer is asked again before a row counts as gone:
// on a server the one statement sees either table's row, on a cluster a move may
// arrive in between.
const asks = 3

// where asks both tables in one statement, by a current read, where the row is:
// "active", "archived", "trash" (a deletion in its grace period), or "" for gone.
func (r *tables) where(ctx context.Context, db onerow.DB, id any) (string, error) {
	return r.place(ctx, db, r.sql.where, id)
}

// place is where with one of its statements.
func (r *tables) place(ctx context.Context, db onerow.DB, query string, id any) (string, error) {
	args := []any{id}
	if r.res.Archive != "" {
		args = append(args, id)
	}
	for range asks {
		var place string
		err := onerow.QueryRow(ctx, db, query, args, &place)
		if !errors.Is(err, sql.ErrNoRows) {
			return place, err
		}
	}
	return "", nil
}

// errMoved: the row was in neither place when each was looked at, and yet is in one of them.
var errMoved = fmt.Errorf("repo: the row moves between its tables: %w", onerow.ErrMoved)

// followRow runs fn in a transaction, and again while the row keeps moving.
func (r *tables) followRow(ctx context.Context, db onerow.DB, verb string, id any, fn func(context.Context, *onerow.Tx) error) error {
	f := r.follower(id)
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return f.note(fn(ctx, tx)) })
	return r.wrap(verb, id, f.ended(ctx, err))
}

// follower makes the conflict of a row that moves in every run of its verb.
type follower struct{ conflict ConflictError }

func (r *tables) follower(id any) *follower {
	return &follower{ConflictError{Resource: r.res.Name, ID: r.errorID(id)}}
}

// note is what a run ends with. A unique key that refuses the row for nobody's sake may do so for ever.
func (f *follower) note(err error) error {
	if !errors.Is(err, errMoved) {
		return err
	}
	f.conflict.Attempts++
	var refused *duplicateError
	if f.conflict.Attempts < duplicates || !errors.As(err, &refused) {
		return err
	}
	f.conflict.Err = refused.err
	return &f.conflict
}

// ended is what the verb ends with.
func (f *follower) ended(ctx context.Context, err error) error {
	if errors.Is(err, errMoved) && ctx.Err() == nil {
		return &f.conflict
	}
	return err
}

// savepoint is where a verb of this package goes back to; none calls another.
const savepoint = "onerow_repo"

// followRowAtomically is followRow for a verb that writes more than once: in a joined transaction, whose
// owner may commit after the error, what a try wrote before it failed is taken back.
func (r *tables) followRowAtomically(ctx context.Context, db onerow.DB, verb string, id any, fn func(context.Context, *onerow.Tx) error) error {
	return r.followRow(ctx, db, verb, id, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, savepoint, func() error { return fn(ctx, tx) })
	})
}

// remove deletes the locked row; the version proves that it is the one that was
// read.
func (r *tables) remove(h held, id any) onerow.Stmt {
	query := r.sql.deleteActive
	if h.state == schema.Archived {
		query = r.sql.deleteArchived
	}
	return onerow.Stmt{Query: query, Args: []any{id, h.version}, One: true}
}

// moved turns the error of a guarded write that did not meet one row into errMoved.
func moved(err error) error {
	if errors.Is(err, onerow.ErrNotOneRow) {
		return fmt.Errorf("%w: a guarded write: %w", errMoved, err)
	}
	return err
}

// one turns the count of a guarded write into an error unless it is 1.
func (r *tables) one(n int64, err error) error {
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: a guarded write met %d rows", errMoved, n)
	}
	return err
}

// twinColumn says of a row of one table whether the other has its id too. It locks
// nothing, and may be read from a snapshot in which a row that has moved is still where
// it was: it is a hint, which twin asks about.
func (r *tables) twinColumn(s side) string {
	other, _ := r.other(s)
	if other.table == "" {
		return "0"
	}
	id := ident.Quote(r.res.ID)
	return fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS twin WHERE twin.%s = %s.%[2]s)", other.table, id, s.table)
}

// twinSQL asks the other table, by its primary key, with a lock: at this moment.
func (r *tables) twinSQL(s side) string {
	other, _ := r.other(s)
	return fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ? LOCK IN SHARE MODE", other.table, ident.Quote(r.res.ID))
}

// other is the other table and its name; both empty where a resource has but one.
func (r *tables) other(s side) (other side, name string) {
	switch {
	case r.res.Archive == "":
		return other, ""
	case s.state == schema.Active:
		return r.archive, r.res.Archive
	}
	return r.active, r.res.Active
}

// twin says whether the other table has another row of the id of a row that this
// transaction has locked; refused is what made the caller ask. One statement.
func (r *tables) twin(ctx context.Context, tx *onerow.Tx, s side, id any, refused error) error {
	var one int
	err := onerow.QueryRow(ctx, tx, r.twinSQL(s), []any{id}, &one)
	switch {
	case isNoRows(err):
		return nil
	case err != nil:
		return err
	}
	_, name := r.other(s)
	return &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: name, Err: refused}
}

// single refuses a locked row that shares its id with another. No statement, one where
// the hint says so.
func (r *tables) single(ctx context.Context, tx *onerow.Tx, h held, id any) error {
	if !h.twin {
		return nil
	}
	return r.twin(ctx, tx, r.sideOf(h.state), id, nil)
}

func (r *tables) sideOf(state schema.State) side {
	if state == schema.Archived {
		return r.archive
	}
	return r.active
}

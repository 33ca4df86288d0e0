package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// insert runs the statements that Create is made of.
func (r *tables) insert(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	if res, err = r.insertUnmarked(ctx, tx, w); err == nil && res.changed {
		err = r.mark(ctx, tx, w.owner)
	}
	return res, err
}

// insertUnmarked is insert without the mark, which comes last.
func (r *tables) insertUnmarked(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	if res, err = r.insertRow(ctx, tx, w); err == nil && res.changed {
		err = r.take(ctx, tx, w.row, w.owner, w.reserved)
	}
	return res, err
}

func (r *tables) insertRow(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	var tenant []any
	if r.withTenant() {
		tenant = w.owner[:1]
	}
	err = r.lockParent(ctx, tx, w.above, false, tenant...)
	if err == nil {
		err = r.lockFurther(ctx, tx, w.id, w.row, nil)
	}
	if err != nil {
		if r.makesIDs() && errors.Is(err, ErrParentNotFound) { // a repeat's row may be there, and need not care
			if res, serr := r.sameRow(ctx, tx, w, false); serr != nil || res.replayed {
				return res, serr
			}
		}
		return res, err
	}
	if !r.makesIDs() && w.readsBack() {
		return r.insertAndRead(ctx, tx, w)
	}
	done, err := tx.ExecContext(ctx, r.sql.insert, w.args...)
	if err != nil {
		return r.notInserted(ctx, tx, w, err)
	}
	id := w.id
	if r.makesIDs() {
		if res, err = r.firstOfItsID(ctx, tx, w); err != nil || res.replayed {
			return res, err
		}
	} else {
		n, err := done.LastInsertId()
		if err == nil {
			id, err = r.generated(n)
		}
		if err != nil {
			return res, fmt.Errorf("repo: the id of the new %s: %w", r.res.Name, err)
		}
	}
	if w.readsBack() {
		res = result{row: w.row, changed: true}
		it, err := r.read(ctx, tx, r.sql.readForUpdate, id)
		if err != nil {
			return res, err
		}
		res.row = it.row
		return res, nil
	}
	return r.made(w, id)
}

// insertAndRead inserts a row whose id the database makes, and reads it: LAST_INSERT_ID() is its id.
func (r *tables) insertAndRead(ctx context.Context, tx *onerow.Tx, w newRow) (result, error) {
	it, err := r.readAfter(ctx, tx, onerow.Stmt{Query: r.sql.insert, Args: w.args}, r.sql.readMade)
	if err != nil {
		return r.notInserted(ctx, tx, w, err)
	}
	return result{row: it.row, changed: true}, nil
}

// made is the row that was inserted, where nothing of it has to be read.
func (r *tables) made(w newRow, id any) (result, error) {
	res := result{row: w.answer, changed: true}
	if err := r.fields.id.typ.Set(res.row.FieldByIndex(r.fields.id.index), id); err != nil {
		return res, err
	}
	if r.res.Named() {
		res.row.FieldByIndex(r.fields.label).SetString(w.name.Display)
	}
	r.setState(res.row, schema.Active)
	return res, nil
}

// generated is the id that AUTO_INCREMENT gave.
func (r *tables) generated(n int64) (any, error) {
	if r.fields.id.typ.Unsigned {
		return r.fields.id.typ.Value(uint64(n)) //nolint:gosec // what is above the largest int64 comes as a negative one
	}
	return n, nil
}

// goesTogether says whether nothing has to be looked at between the statements of a create.
func (r *tables) goesTogether(w newRow) bool {
	return !r.makesIDs() && !w.readsBack() && r.parent.Name == "" && len(r.further) == 0 && len(r.limits) == 0 && len(w.reserved) == 0
}

// insertRequestMade is insertRequest behind the INSERT of the row, whose id is known then. The primary key
// decides there, too: whoever comes second has made a row, and takes it back.
const insertRequestMade = `INSERT INTO onerow_request
  (resource, owner, request_id, fingerprint, call_token, row_id, created_at)
  VALUES (?, ?, ?, ?, ?, LAST_INSERT_ID(), UTC_TIMESTAMP(6))`

// together runs a create in a transaction: in one packet with BEGIN and COMMIT, where the session takes that.
// If it is refused there, and not for its name, the statements one by one find out why, in another
// transaction.
func (r *tables) together(ctx context.Context, db onerow.DB, w newRow, q *request, inTx func(func(context.Context, *onerow.Tx) error) error,
	apart func(context.Context, *onerow.Tx, newRow) (result, error),
) (res result, err error) {
	var id int64
	may, did := r.goesTogether(w), false
	try := func(ctx context.Context, tx *onerow.Tx) (err error) {
		if did = may && tx.Together() && !tx.Joined(); did {
			return r.insertTogether(ctx, tx, w, q, &id)
		}
		res, err = apart(ctx, tx, w)
		return err
	}
	err = inTx(try)
	if err != nil && did && ctx.Err() == nil && !onerow.Retryable(err) && !errors.Is(err, onerow.ErrOutcomeUnknown) {
		if q == nil && mysqlerr.Classify(err) == mysqlerr.Duplicate {
			if taken := r.nameTaken(ctx, db, w, errors.Unwrap(err)); taken != nil {
				return result{}, r.wrap("create", nil, taken)
			}
		}
		may = false
		err = inTx(try)
	}
	if err != nil {
		return result{}, err
	}
	if !did {
		return res, nil
	}
	value, err := r.generated(id)
	if err != nil {
		return res, err
	}
	return r.made(w, value)
}

// nameTaken asks who has the name of a row that was refused; nil if nobody has it, or that is not known.
func (r *tables) nameTaken(ctx context.Context, db onerow.DB, w newRow, refused error) error {
	var holder any
	err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) (err error) {
		holder, err = r.holder(ctx, db, w.owner, w.name)
		return err
	})
	if err != nil || holder == nil {
		return nil //nolint:nilerr // the statements one by one say it
	}
	return &NameTakenError{Resource: r.res.Name, Name: w.name.Display, ID: r.typed(holder), Err: refused}
}

func (r *tables) insertTogether(ctx context.Context, tx *onerow.Tx, w newRow, q *request, id *int64) error {
	stmts := []onerow.Stmt{{Query: r.sql.insert, Args: w.args, ID: id}}
	if q != nil {
		stmts = append(stmts, onerow.Stmt{Query: insertRequestMade, Args: q.args(r.res.Name)})
	}
	if r.res.Quota.Flag != "" {
		mark, err := quota.MarkStmt(r.res.Name, w.owner...)
		if err != nil {
			return err
		}
		stmts = append(stmts, mark)
	}
	return packet.ExecLast(ctx, tx, stmts...)
}

// insertStatements make a row and read it back.
type insertStatements struct{ insert, readForUpdate, readMade string }

// insertStatements takes what readSQL gives.
func (r *tables) insertStatements(active string) insertStatements {
	return insertStatements{
		insert:        r.insertSQL(),
		readForUpdate: active + " FOR UPDATE",
		readMade:      fmt.Sprintf("SELECT %s, version, 'active' FROM %s WHERE %s = LAST_INSERT_ID() FOR UPDATE", r.fields.selectList(), r.active.table, ident.Quote(r.res.ID)),
	}
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

package repo

import (
	"context"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// sqlInsert makes the row; what stands in braces is in statements.go. The unique index (owner, name key)
// decides. Its parameters: the id where the application makes it, owner, parent (where it is not the owner),
// name, name key, stem key, copy number, the application's own columns.
const sqlInsert = `{inUTC}INSERT INTO {active} (version, created_at, updated_at{insert}) VALUES (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6){inserted})`

// insertColumns are the columns whose values come with the statement.
func (r *untyped) insertColumns() (columns []string) {
	if r.makesIDs() {
		columns = append(columns, r.res.ID)
	}
	columns = append(columns, r.home...)
	return append(columns, r.updateColumns()...)
}

// insert makes the row, in one packet with BEGIN and COMMIT where no statement needs an earlier answer and
// the session takes packets. If it is refused there, and not for its name, the statements one by one find out
// why, in another transaction. A COMMIT without an answer may be run again where a request id or an id of the
// application's tells the row.
func (r *untyped) insert(ctx context.Context, db onerow.DB, w newRow) (res result, err error) {
	c := call{verb: "create", id: w.id, repeats: w.request != nil || r.makesIDs()}
	c.oneShot = !c.repeats && r.res.Quota.Flag == "" && len(r.limits) == 0 // a mark is a second write
	var id int64
	needsLook := r.makesIDs() || w.readsBack() || r.parent.Name != "" || len(r.references) > 0 || len(r.limits) > 0 || len(w.reserved) > 0
	fits, packed := !needsLook, false
	attempt := func(ctx context.Context, tx *onerow.Tx) (result, error) {
		if packed = fits && tx.Together() && !tx.Joined(); packed {
			return result{}, r.insertPacket(ctx, tx, w, &id)
		}
		return r.insertSteps(ctx, tx, w)
	}
	res, err = r.run(ctx, db, c, attempt)
	if err != nil && packed && !onerow.Retryable(err) && !errors.Is(err, onerow.ErrOutcomeUnknown) {
		if w.request == nil && mysqlerr.Classify(err) == mysqlerr.Duplicate {
			if taken := r.nameTaken(ctx, db, w, errors.Unwrap(err)); taken != nil {
				return result{}, r.wrap(c.verb, nil, taken)
			}
		}
		fits = false
		first := err
		res, err = r.run(ctx, db, c, attempt)
		err = packet.KeepUnknown(ctx, first, err)
	}
	if err == nil && packed {
		return r.made(w, id)
	}
	return res, err
}

// insertPacket sends all statements of a create with COMMIT.
func (r *untyped) insertPacket(ctx context.Context, tx *onerow.Tx, w newRow, id *int64) error {
	stmts := []onerow.Stmt{{Query: r.text(sqlInsert), Args: w.args, ID: id}}
	if w.request != nil {
		stmts = append(stmts, onerow.Stmt{Query: sqlInsertRequestMade, Args: w.request.args(r.res.Name)})
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

// nameTaken asks who has the name of a row that was refused; nil if nobody has it, or that is not known.
func (r *untyped) nameTaken(ctx context.Context, db onerow.DB, w newRow, refused error) error {
	var holder any
	err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) (err error) {
		holder, err = r.nameHolder(ctx, db, w.owner, w.name)
		return err
	})
	if err != nil || holder == nil {
		return nil //nolint:nilerr // the statements one by one say it
	}
	return &NameTakenError{Resource: r.res.Name, Name: w.name.Display, ID: r.typed(holder), Err: refused}
}

// sqlSetRequestRow puts the id of the row that a request made on its record, by the primary key, which this
// transaction inserted.
const sqlSetRequestRow = `UPDATE onerow_request SET row_id = ? WHERE resource = ? AND owner = ? AND request_id = ?`

// insertSteps makes the row statement by statement: the record of its request, the locks on the rows above,
// the row, the room that it takes, its id on the record; the mark comes last.
func (r *untyped) insertSteps(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	if w.request != nil {
		_, err = tx.ExecContext(ctx, sqlInsertRequest, w.request.args(r.res.Name)...)
		if mysqlerr.Classify(err) == mysqlerr.Duplicate {
			return r.replay(ctx, tx, w.request)
		}
		if err != nil {
			return res, err
		}
	}
	if res, err = r.insertRow(ctx, tx, w); err != nil {
		return res, err
	}
	if res.changed {
		if err := r.take(ctx, tx, w.row, w.owner, w.reserved); err != nil {
			return res, err
		}
	}
	if w.request != nil {
		_, key, err := r.idOf(res.row)
		if err == nil {
			err = writeOne(ctx, tx, guarded(sqlSetRequestRow, key, r.res.Name, w.request.scope, w.request.id))
		}
		if err != nil {
			return res, err
		}
	}
	if res.changed {
		err = r.mark(ctx, tx, w.owner)
	}
	return res, err
}

// sqlReadMade reads the row that the INSERT before it made, whose id the database made.
const sqlReadMade = `SELECT {fields}, version, 'active' FROM {active} WHERE {id} = LAST_INSERT_ID() FOR UPDATE`

// insertRow locks the rows above, and makes the row; or answers with the row that has its id already.
func (r *untyped) insertRow(ctx context.Context, tx *onerow.Tx, w newRow) (res result, err error) {
	if err := r.lockParents(ctx, tx, w); err != nil {
		if r.makesIDs() && errors.Is(err, ErrParentNotFound) { // a repeat's row may be there, and need not care
			if res, serr := r.sameRow(ctx, tx, w); serr != nil || res.replayed {
				return res, serr
			}
		}
		return res, err
	}
	if !r.makesIDs() && w.readsBack() {
		it, err := r.readAfter(ctx, tx, onerow.Stmt{Query: r.text(sqlInsert), Args: w.args}, r.text(sqlReadMade))
		if err != nil {
			return r.notInserted(ctx, tx, w, err)
		}
		return result{row: it.row, changed: true}, nil
	}
	done, err := tx.ExecContext(ctx, r.text(sqlInsert), w.args...)
	if err != nil {
		return r.notInserted(ctx, tx, w, err)
	}
	if !r.makesIDs() {
		id, err := done.LastInsertId()
		if err != nil {
			return res, errtext.Wrap(err, "repo: the id of the new %s", r.res.Name)
		}
		return r.made(w, id)
	}
	if res, err = r.firstOfItsID(ctx, tx, w); err != nil || res.replayed {
		return res, err
	}
	if !w.readsBack() {
		return r.made(w, 0)
	}
	it, err := r.read(ctx, tx, r.locked(sqlRead, exclusive), w.id)
	return result{row: it.row, changed: true}, err
}

func (r *untyped) lockParents(ctx context.Context, tx *onerow.Tx, w newRow) error {
	var tenant []any
	if r.sharesTenant() {
		tenant = w.owner[:1]
	}
	if err := r.lockParent(ctx, tx, w.parent, false, tenant...); err != nil {
		return err
	}
	return r.lockReferences(ctx, tx, w.id, w.row, nil)
}

// made is the row that was inserted, where nothing of it has to be read. id is what AUTO_INCREMENT gave, 0
// where the application made it.
func (r *untyped) made(w newRow, id int64) (result, error) {
	res := result{row: w.answer, changed: true}
	if !r.makesIDs() {
		key := any(id)
		if r.fields.id.typ.Unsigned {
			key = uint64(id) //nolint:gosec // what is above the largest int64 comes as a negative one
		}
		key, err := r.fields.id.typ.Value(key)
		if err == nil {
			err = r.fields.id.typ.Set(res.row.FieldByIndex(r.fields.id.index), key)
		}
		if err != nil {
			return res, errtext.Wrap(err, "repo: the id of the new %s", r.res.Name)
		}
	}
	if r.res.Named() {
		res.row.FieldByIndex(r.fields.label).SetString(w.name.Display)
	}
	r.setState(res.row, schema.Active)
	return res, nil
}

package repo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// maxRequestID is the length in bytes of the column for request ids.
const maxRequestID = 255

// request is one call with a request id.
type request struct {
	scope       string // the owner, encoded
	id          string
	fingerprint [sha256.Size]byte
	firstForm   [sha256.Size]byte // what an earlier version would have stored
	token       [16]byte          // new for every call
}

func (r *tables) newRequest(scope, id string, w newRow) (request, error) {
	q := request{scope: scope, id: id, fingerprint: r.fingerprint(w), firstForm: firstForm(w.args)}
	if id == "" || len(id) > maxRequestID {
		return q, fmt.Errorf("%w: a request id has 1 to %d bytes, this one has %d", ErrRequestMismatch, maxRequestID, len(id))
	}
	rand.Read(q.token[:]) // never an error
	return q, nil
}

// insertRequest: the primary key (resource, owner, request id) decides which call
// makes the row; a second one waits here until the first has ended.
const insertRequest = `INSERT INTO onerow_request
  (resource, owner, request_id, fingerprint, call_token, created_at)
  VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6))`

// setRequestRow: by primary key, on the row that this transaction inserted.
const setRequestRow = `UPDATE onerow_request SET row_id = ? WHERE resource = ? AND owner = ? AND request_id = ?`

// readRequest: by primary key; a current read, because at REPEATABLE READ the
// snapshot may be older than the record that refused the INSERT.
const readRequest = `SELECT row_id, fingerprint, call_token FROM onerow_request
  WHERE resource = ? AND owner = ? AND request_id = ? LOCK IN SHARE MODE`

// createOnce is Create with a request id.
func (r *tables) createOnce(ctx context.Context, db onerow.DB, w newRow, requestID string) (result, error) {
	var none result
	scope, err := encodeOwner(w.owner)
	if err != nil {
		return none, err
	}
	q, err := r.newRequest(scope, requestID, w)
	if err != nil {
		return none, r.wrap("create", nil, err)
	}
	f := r.follower(nil)
	res, err := r.together(ctx, db, w, &q, func(fn func(context.Context, *onerow.Tx) error) error {
		return onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			return f.note(tx.Savepoint(ctx, savepoint, func() error { return fn(ctx, tx) }))
		})
	}, func(ctx context.Context, tx *onerow.Tx, w newRow) (result, error) {
		return r.createTx(ctx, tx, w, q)
	})
	if err != nil {
		return none, r.wrap("create", nil, f.ended(ctx, err))
	}
	return res, nil
}

func (q *request) args(resource string) []any {
	return []any{resource, q.scope, q.id, q.fingerprint[:], q.token[:]}
}

func (r *tables) createTx(ctx context.Context, tx *onerow.Tx, w newRow, q request) (res result, err error) {
	_, err = tx.ExecContext(ctx, insertRequest, q.args(r.res.Name)...)
	if mysqlerr.Classify(err) == mysqlerr.Duplicate {
		return r.replay(ctx, tx, q)
	}
	if err != nil {
		return res, err
	}
	if res, err = r.insertUnmarked(ctx, tx, w); err != nil {
		return res, err
	}
	id, err := r.fields.id.of(res.row)
	if err != nil {
		return res, err
	}
	rowID, err := onerow.EncodeKey(id)
	if err != nil {
		return res, err
	}
	if err := r.one(onerow.Affected(ctx, tx, setRequestRow, rowID, r.res.Name, q.scope, q.id)); err != nil || !res.changed {
		return res, err
	}
	return res, r.mark(ctx, tx, w.owner)
}

// replay answers a call whose request id is on record.
func (r *tables) replay(ctx context.Context, tx *onerow.Tx, q request) (res result, err error) {
	var rowID sql.NullString
	var print, token []byte
	err = onerow.QueryRow(ctx, tx, readRequest, []any{r.res.Name, q.scope, q.id}, &rowID, &print, &token)
	switch {
	case isNoRows(err): // its transaction was rolled back since, or a purge took it
		return res, errMoved
	case err != nil:
		return res, err
	case string(print) != string(q.fingerprint[:]) && string(print) != string(q.firstForm[:]):
		return res, fmt.Errorf("%w: %q made another %s; use a new request id for new work", ErrRequestMismatch, q.id, r.res.Name)
	}
	id, err := r.decodeID(rowID.String)
	if err != nil {
		return res, err
	}
	query := r.sql.get
	if tx.Joined() {
		query = r.sql.getCurrent // the snapshot may be older than the row
	}
	it, err := r.get(ctx, tx, query, id)
	if errors.Is(err, onerow.ErrNotFound) {
		return res, fmt.Errorf("%w: request %q made %s %s, which was deleted since", ErrGone, q.id, r.res.Name, r.show(id))
	}
	if err == nil && it.more { // nobody knows which of the two the request made
		err = &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: r.res.Archive}
	}
	if err == nil {
		err = r.sameOwner(q, it.row, id)
	}
	if err != nil {
		return res, err
	}
	mine := string(token) == string(q.token[:])
	return result{row: it.row, changed: mine, replayed: !mine}, nil
}

// sameOwner: the row that a request made may be another's by now, see [Of.Move], or its id, [ErrIDReused].
func (r *tables) sameOwner(q request, row reflect.Value, id any) error {
	owner, err := r.ownerOf(row)
	if err != nil {
		return err
	}
	scope, err := encodeOwner(owner)
	if err == nil && scope != q.scope {
		err = fmt.Errorf("%w: request %q made %s %s, which was moved to another owner, or deleted and its id is another owner's row's now", ErrGone, q.id, r.res.Name, r.show(id))
	}
	return err
}

// decodeID is the id that an encoded key names.
func (r *tables) decodeID(key string) (any, error) {
	parts, err := onerow.DecodeKey(key)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, fmt.Errorf("%w: %q is not the id of a %s", onerow.ErrInvalidKey, key, r.res.Name)
	}
	return r.fields.id.typ.Value(parts[0])
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

package repo

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx/reflectx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/purge"
)

// maxRequestID is the length in bytes of the column for request ids.
const maxRequestID = 255

type request struct {
	scope       string // the owner, encoded
	id          string
	fingerprint [sha256.Size]byte
	token       [16]byte // new for every call
}

func (r *untyped) newRequest(id string, w newRow) (*request, error) {
	if len(id) > maxRequestID {
		return nil, fmt.Errorf("%w: a request id has 1 to %d bytes, this one has %d", onerow.ErrInvalidKey, maxRequestID, len(id))
	}
	q := &request{scope: w.scope, id: id, fingerprint: r.fingerprint(w)}
	rand.Read(q.token[:]) // never an error
	return q, nil
}

// sqlInsertRequest decides by the primary key (resource, owner, request id) which call makes the row; a
// second one waits here until the first has ended. sqlInsertRequestMade follows the INSERT of the row, whose
// id is known then: whoever comes second has made a row, and takes it back.
const (
	sqlInsertRequest = `INSERT INTO onerow_request
  (resource, owner, request_id, fingerprint, call_token, created_at)
  VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6))`
	sqlInsertRequestMade = `INSERT INTO onerow_request
  (resource, owner, request_id, fingerprint, call_token, row_id, created_at)
  VALUES (?, ?, ?, ?, ?, LAST_INSERT_ID(), UTC_TIMESTAMP(6))`
)

func (q *request) args(resource string) []any {
	return []any{resource, q.scope, q.id, q.fingerprint[:], q.token[:]}
}

// sqlReadRequest reads by the primary key; a current read, because at REPEATABLE READ the snapshot may be
// older than the record that refused the INSERT.
const sqlReadRequest = `SELECT row_id, fingerprint, call_token FROM onerow_request
  WHERE resource = ? AND owner = ? AND request_id = ? LOCK IN SHARE MODE`

// replay answers a call whose request id is on record.
func (r *untyped) replay(ctx context.Context, tx *onerow.Tx, q *request) (res result, err error) {
	var rowID sql.NullString
	var print, token []byte
	recorded, err := found(onerow.QueryRow(ctx, tx, sqlReadRequest, []any{r.res.Name, q.scope, q.id}, &rowID, &print, &token))
	switch {
	case err != nil:
		return res, err
	case !recorded: // its transaction was rolled back since, or a purge took it
		return res, errMoved
	case string(print) != string(q.fingerprint[:]):
		return res, fmt.Errorf("%w: %q made another %s; use a new request id for new work", ErrRequestMismatch, q.id, r.res.Name)
	}
	id, err := r.decodeID(rowID.String)
	if err != nil {
		return res, err
	}
	it, err := r.getEither(ctx, tx, ifJoined(tx, shared), id) // a caller's snapshot may be older than the row
	if err == nil && it.more {                                // or a row that moves: a snapshot of MariaDB may show it on both sides
		it, err = r.getEither(ctx, tx, shared, id)
	}
	if errors.Is(err, onerow.ErrNotFound) {
		return res, fmt.Errorf("%w: request %q made %s %s, which was deleted since", ErrGone, q.id, r.res.Name, r.show(id))
	}
	if err == nil && it.more { // nobody knows which of the two the request made
		err = &IDReusedError{Resource: r.res.Name, ID: r.typed(id), Active: r.res.Active, Table: r.res.Archive}
	}
	if err != nil {
		return res, err
	}
	scope, err := r.scopeOf(it.row)
	if err != nil {
		return res, err
	}
	if scope != q.scope { // see Move; or its id is another's, see ErrIDReused
		return res, fmt.Errorf("%w: request %q made %s %s, which was moved to another owner, or deleted and its id is another owner's row's now", ErrGone, q.id, r.res.Name, r.show(id))
	}
	mine := string(token) == string(q.token[:])
	return result{row: it.row, changed: mine, replayed: !mine}, nil
}

func (r *untyped) decodeID(key string) (any, error) {
	parts, err := onerow.DecodeKey(key)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, fmt.Errorf("%w: %q is not the id of a %s", onerow.ErrInvalidKey, key, r.res.Name)
	}
	return r.fields.id.typ.Value(parts[0])
}

// form is the first byte of a fingerprint, before the hash: so a later form can tell the rows of this one.
const form = 2

// fingerprint hashes what the row to be created holds: column and value, sorted by the column, so that
// neither the order of Go fields nor a field that is new and zero makes another payload. The id is not part
// of it, for a retry may have made another one. NULL and Go's zero values are left out, for a struct without
// the field means the same; a pointer to 0 and a valid sql.Null of 0 are values. A value is written as a
// column takes it, so that its Go type may change. Name key, stem and copy number follow from the name.
func (r *untyped) fingerprint(w newRow) [sha256.Size]byte {
	type pair struct{ column, value string }
	var pairs []pair
	derived := r.nameColumns()
	for i, column := range r.insertColumns() {
		if column == r.res.ID || isNull(w.args[i]) || slices.Contains(derived, column) && column != r.res.Label.Column || r.isZero(w, column) {
			continue
		}
		pairs = append(pairs, pair{column, string(plainText(w.args[i]))})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.column, b.column) })
	var text []byte
	for _, p := range pairs {
		text = appendSized(appendSized(text, p.column), p.value)
	}
	sum := sha256.Sum256(text)
	copy(sum[1:], sum[:])
	sum[0] = form
	return sum
}

// appendSized writes the length too, so that no two lists share their bytes. (Not %q: which characters that
// escapes depends on the version of Go.)
func appendSized(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(text))), text...)
}

// isZero says whether the field of a column has Go's zero value.
func (r *untyped) isZero(w newRow, column string) bool {
	f, _ := r.fields.byColumn([]string{column})
	v := reflectx.FieldByIndexesReadOnly(w.row, f[0].index)
	if at, isTime := v.Interface().(time.Time); isTime {
		return at.IsZero()
	}
	return v.IsZero()
}

// oldRequests are found by the index created_at, oldest first and without a lock, and deleted by the primary
// key.
var oldRequests = purge.Table{
	Find: `SELECT resource, owner, request_id FROM onerow_request FORCE INDEX (created_at)
 WHERE created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY created_at LIMIT ?`,
	Delete: `DELETE r FROM onerow_request AS r FORCE INDEX (PRIMARY) WHERE created_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
	Key:    `resource = ? AND owner = ? AND request_id = ?`,
}

// PurgeRequests forgets at most limit request ids, of all resources, that are older than age by the
// database's clock, and returns how many it forgot; fewer than limit means that no more are that old. A
// create with a forgotten request id makes a new row, so age must be longer than any client retries. Nothing
// is forgotten unless this is called, or cascade-worker runs, which forgets them after 30 days. On a pool
// each 200 commit by themselves, so that an error may leave some of them forgotten, which the number says.
// Two statements for each 200.
func PurgeRequests(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	if age <= 0 || limit <= 0 {
		return 0, fmt.Errorf("%w: purging requests older than %v, %d at most", ErrUnsupported, age, limit)
	}
	n, err := oldRequests.Purge(ctx, db, limit, age.Microseconds())
	return n, errtext.Wrap(err, "repo: purge requests")
}

// RequestsToPurge is how many request ids are older than age, limit at most. One statement.
func RequestsToPurge(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	n, err := oldRequests.Waiting(ctx, db, limit, age.Microseconds())
	return n, errtext.Wrap(err, "repo: count old requests")
}

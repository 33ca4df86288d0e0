package repo

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
)

// Cursor is where a page ended. The zero value is the beginning of the list. Its
// text is meant for URLs; a text that no page of the list returned is an error of List. It holds the value by
// which the list is ordered and the id of the page's last row, and is as long as these.
type Cursor string

// ErrInvalidCursor means: a cursor is not one that a page of this list returned: of this resource, owner,
// state, Where and Sort, its bounds apart. (Those of lists by the id alone are of any owner and state.)
var ErrInvalidCursor = errors.New("repo: not a cursor of this list")

// cursor is the place behind a row, of which the statement has the value that the list is ordered by.
func (r *untyped) cursor(l *listing, row reflect.Value, value sql.NullString) (Cursor, error) {
	id, err := r.fields.id.of(row)
	if err != nil {
		return "", err
	}
	key, err := onerow.EncodeKey(id)
	if err != nil || l.plain() {
		return Cursor(key), err
	}
	kind, text := byte('v'), value.String
	if !value.Valid {
		kind = 'n'
	} else if !l.byID {
		if _, err := l.sort.read(text); err != nil { // the plan has another type than the database
			return "", err
		}
	}
	return r.seal(l, string(kind), text, key)
}

// position is what a cursor says.
func (r *untyped) position(l *listing, c Cursor) (p position, err error) {
	if c == "" {
		return position{begin: true}, nil
	}
	defer func() {
		if err != nil && !errors.Is(err, ErrInvalidCursor) {
			err = fmt.Errorf("%w: %q: %w", ErrInvalidCursor, c, err)
		}
	}()
	if l.plain() {
		p.id, err = r.decodeID(string(c))
		return p, err
	}
	parts, err := r.unseal(l, c)
	if err != nil {
		return p, err
	}
	if len(parts) != 3 || parts[0] != "v" && (parts[0] != "n" || l.byID || !l.sort.null) {
		return p, fmt.Errorf("%w: %q", ErrInvalidCursor, c)
	}
	if parts[0] == "v" && !l.byID {
		p.value, err = l.sort.read(parts[1])
	}
	if err == nil {
		p.id, err = r.decodeID(parts[2])
	}
	return p, err
}

// seal writes texts as a cursor of a list.
func (r *untyped) seal(l *listing, texts ...string) (Cursor, error) {
	mark, err := r.listMark(l)
	if err != nil {
		return "", err
	}
	return Cursor(base64.RawURLEncoding.EncodeToString(append(mark, joined(texts...)...))), nil
}

// unseal is the inverse of seal.
func (r *untyped) unseal(l *listing, c Cursor) ([]string, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	mark, merr := r.listMark(l)
	if err = errors.Join(err, merr); err != nil {
		return nil, err
	}
	if len(raw) < len(mark) || string(raw[:len(mark)]) != string(mark) {
		return nil, fmt.Errorf("%w: %q is one of another list", ErrInvalidCursor, c)
	}
	var texts []string
	for raw = raw[len(mark):]; len(raw) > 0; {
		n, size := binary.Uvarint(raw)
		if size <= 0 || n > uint64(len(raw)-size) { //nolint:gosec // size is at most the length
			return nil, fmt.Errorf("%w: %q is cut", ErrInvalidCursor, c)
		}
		texts, raw = append(texts, string(raw[size:size+int(n)])), raw[size+int(n):] //nolint:gosec // it is not more than there are
	}
	return texts, nil
}

// joined writes texts so that no other ones are written so.
func joined(texts ...string) []byte {
	var b []byte
	for _, text := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return b
}

// listMark are eight bytes that say of which list a cursor is. The bounds of Sort are no part of it.
func (r *untyped) listMark(l *listing) ([]byte, error) {
	owner, err := encodeOwner(l.owner)
	if err != nil {
		return nil, err
	}
	texts := []string{r.res.Name, owner, string(l.state), l.sort.name, fmt.Sprint(l.desc)}
	for _, f := range l.where {
		texts = append(texts, f.name, fmt.Sprintf("%T %v", f.value, f.value))
	}
	sum := sha256.Sum256(joined(texts...))
	return sum[:8], nil
}

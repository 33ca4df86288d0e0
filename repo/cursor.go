package repo

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/errtext"
)

// Cursor is where a page ended. The zero value is the beginning of the list. Its
// text is meant for URLs; a text that no page of the list returned is an error of List. It holds the value by
// which the list is ordered and the id of the page's last row, and is as long as these.
type Cursor string

// ErrInvalidCursor means: a cursor is not one that a page of this list returned: of this resource, owner,
// state, Where and Sort, its bounds apart. (Those of lists by the id alone are of any owner and state.)
var ErrInvalidCursor = answers.New(400, "not a cursor of this list", "repo: not a cursor of this list")

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
	at := sealed{ID: key}
	if !l.byID && value.Valid {
		at.Value = &value.String
		if _, err := l.sort.read(value.String); err != nil { // the plan has another type than the database
			return "", err
		}
	}
	return r.seal(l, at)
}

func (r *untyped) position(l *listing, c Cursor) (p position, err error) {
	switch {
	case c == "":
		return position{begin: true}, nil
	case l.plain():
		p.id, err = r.decodeID(string(c))
	default:
		p, err = r.unseal(l, c)
	}
	if err != nil {
		return p, errtext.Errorf("%w: %q: %w", ErrInvalidCursor, c, err)
	}
	return p, nil
}

// sealed is what the cursor of a list holds, unless that is a plain one.
type sealed struct {
	Value *string `json:"v,omitempty"` // by which the list is ordered, as listColumn.text reads it; nil for NULL
	ID    string  `json:"i"`           // encoded
}

// seal writes a place as a cursor of a list.
func (r *untyped) seal(l *listing, at sealed) (Cursor, error) {
	mark, err := r.listMark(l)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(at)
	return Cursor(base64.RawURLEncoding.EncodeToString(append(mark, text...))), err
}

// unseal is the inverse of seal, and refuses what that does not write.
func (r *untyped) unseal(l *listing, c Cursor) (p position, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil {
		return p, err
	}
	var at sealed
	if err := json.Unmarshal(raw[min(len(raw), markSize):], &at); err != nil {
		return p, err
	}
	again, err := r.seal(l, at)
	switch {
	case err != nil:
		return p, err
	case again != c, at.Value == nil && !l.byID && !l.sort.null:
		return p, errors.New("it is another list's")
	}
	if at.Value != nil {
		if p.value, err = l.sort.read(*at.Value); err != nil {
			return p, err
		}
	}
	if key, _ := p.value.([]byte); l.byName && !bytes.HasPrefix(key, l.prefix) {
		return p, errors.New("it is another prefix's")
	}
	p.id, err = r.decodeID(at.ID)
	return p, err
}

const markSize = 8

// listMark says in a few bytes of which list a cursor is. The bounds of Sort are no part of it.
func (r *untyped) listMark(l *listing) ([]byte, error) {
	owner, err := encodeOwner(l.owner)
	if err != nil {
		return nil, err
	}
	texts := []string{r.res.Name, owner, string(l.state), l.sort.name, fmt.Sprint(l.desc)}
	for _, f := range l.where {
		texts = append(texts, f.name, fmt.Sprintf("%T %v", f.value, f.value))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+q", texts)) // which characters %q escapes depends on the version of Go
	return sum[:markSize], nil
}

package recount

import (
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
)

// Owner is an owner in the form of the toolkit's tables and as values for the application's, the same whether
// it comes from a caller or from a note.
type Owner struct {
	Key    string
	Values []any // of the owner's columns
}

// Value is the owner as an application's function gets it: its value, or all where it has several.
func (o Owner) Value() any {
	if len(o.Values) == 1 {
		return o.Values[0]
	}
	return o.Values
}

// Columns are the types of an owner's columns.
type Columns []keytype.Type

// ColumnsOf reads their declared types.
func ColumnsOf(names []string, declared func(column string) string) (c Columns, err error) {
	for _, name := range names {
		t, err := keytype.Parse(declared(name))
		if err != nil {
			return nil, err
		}
		c = append(c, t)
	}
	return c, nil
}

// Encode takes the values as the owner's columns hold them.
func (c Columns) Encode(owner []any) (o Owner, err error) {
	if len(owner) != len(c) {
		return o, fmt.Errorf("%w: the owner has %d parts, this one %d", onerow.ErrInvalidKey, len(c), len(owner))
	}
	for i, t := range c {
		value, err := t.Value(owner[i])
		if err != nil {
			return o, err
		}
		o.Values = append(o.Values, value)
	}
	o.Key, err = onerow.EncodeKey(o.Values...)
	return o, err
}

// Decode takes a key, and leaves it as whoever noted it has written it.
func (c Columns) Decode(key string) (Owner, error) {
	parts, err := onerow.DecodeKey(key)
	if err != nil {
		return Owner{}, err
	}
	o, err := c.Encode(parts)
	o.Key = key
	return o, err
}

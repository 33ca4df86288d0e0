package cascade

import (
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// row is a row as far as it is needed.
type row struct {
	key   rowkey.Key
	edge  rowkey.Key // what it refers to over the edge by which it was found
	refs  []rowkey.Key
	asset string
	owner rowkey.Key
}

// columns is what is read of a row: its key, its edge's columns unless e is nil, what
// edges refer to, the asset, the owner. scanner reads it.
func (t *table) columns(edge *rowkey.Codec) string {
	list := []string{t.key.Select("")}
	if edge != nil {
		list = append(list, edge.Select(""))
	}
	for _, c := range t.refs {
		list = append(list, c.Select(""))
	}
	if t.node.Asset != "" {
		list = append(list, ident.Quote(t.node.Asset))
	}
	if t.node.marks {
		list = append(list, t.owner.Select(""))
	}
	return strings.Join(list, ", ")
}

// scanner scans what table.columns lists, after some values of the caller's and before
// some others.
type scanner struct {
	t      *table
	edge   *rowkey.Codec
	first  []any
	values []sql.NullString
	dest   []any
}

var errNullKey = errors.New("cascade: a column of a primary key is NULL")

// reader is the scanner of source.readSQL.
func (s *source) reader() *scanner {
	extra := len(s.order)
	if s.outside != "" {
		extra++
	}
	return s.scanner(&s.columns, extra)
}

func (t *table) scanner(edge *rowkey.Codec, extra int, first ...any) *scanner {
	width := t.key.Width() + extra
	if edge != nil {
		width += edge.Width()
	}
	for _, c := range t.refs {
		width += c.Width()
	}
	if t.node.Asset != "" {
		width++
	}
	if t.node.marks {
		width += t.owner.Width()
	}
	s := &scanner{t: t, edge: edge, first: first, values: make([]sql.NullString, width), dest: slices.Clone(first)}
	for i := range s.values {
		s.dest = append(s.dest, &s.values[i])
	}
	return s
}

// scan returns the row, and the values that follow it.
func (s *scanner) scan(rows *sql.Rows) (v row, extra []sql.NullString, err error) {
	if err := rows.Scan(s.dest...); err != nil {
		return v, nil, err
	}
	at := 0
	next := func(c rowkey.Codec) (rowkey.Key, bool) {
		at += c.Width()
		return c.Key(s.values[at-c.Width() : at])
	}
	var ok bool
	if v.key, ok = next(s.t.key); !ok {
		return v, nil, errNullKey
	}
	if s.edge != nil {
		v.edge, _ = next(*s.edge)
	}
	if len(s.t.refs) > 0 {
		v.refs = make([]rowkey.Key, len(s.t.refs))
		for i, c := range s.t.refs {
			v.refs[i], _ = next(c)
		}
	}
	if s.t.node.Asset != "" {
		v.asset = s.values[at].String
		at++
	}
	if s.t.node.marks {
		v.owner, _ = next(s.t.owner)
	}
	return v, s.values[at:], nil
}

// gone is a row of which only the key is known. Rows that refer to other columns of it
// cannot be found any more; those that refer to the key as text can.
func (n *node) gone(key rowkey.Key) row {
	v := row{key: key, refs: make([]rowkey.Key, len(n.refs))}
	for i, set := range n.refs {
		if set.asText && slices.EqualFunc(set.columns, n.Key, strings.EqualFold) {
			v.refs[i] = n.tables[0].key.KeyAs(n.tables[0].refs[i], key)
		}
	}
	return v
}

// keysOf are the keys of rows.
func keysOf(rows []row) []rowkey.Key {
	keys := make([]rowkey.Key, len(rows))
	for i, v := range rows {
		keys[i] = v.key
	}
	return keys
}

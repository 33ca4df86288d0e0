package graph

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// Row is a row as far as it is needed.
type Row struct {
	Key   rowkey.Key
	Edge  rowkey.Key // what it refers to over the edge by which it was found
	Refs  []rowkey.Key
	Asset string
	Owner rowkey.Key
}

// codecs are those of what is read of a row: its key, the edge's columns unless that is nil, what edges refer
// to, the owner. The asset follows.
func (t *Table) codecs(edge *rowkey.Codec) []rowkey.Codec {
	list := []rowkey.Codec{t.Key}
	if edge != nil {
		list = append(list, *edge)
	}
	list = append(list, t.Refs...)
	if t.Node.Owned {
		list = append(list, t.Owner)
	}
	return list
}

// Columns is what is read of a row, by an edge unless that is nil. Scanner reads it.
func (t *Table) Columns(edge *rowkey.Codec) string {
	var list []string
	for _, c := range t.codecs(edge) {
		list = append(list, c.Select(""))
	}
	if t.Node.Asset != "" {
		list = append(list, ident.Quote(t.Node.Asset))
	}
	return strings.Join(list, ", ")
}

// RowScanner scans what Table.Columns lists, after some values of the caller's and before some others.
type RowScanner struct {
	t      *Table
	edge   *rowkey.Codec
	values []sql.NullString
	dest   []any
}

// errNullKey means that a row has no key, which no primary key allows.
var errNullKey = errors.New("cascade: a column of a primary key is NULL")

// Reader is the scanner of ReadSQL.
func (s *Source) Reader() *RowScanner {
	extra := s.order.Width()
	if s.Outside != "" {
		extra++
	}
	return s.Scanner(&s.Columns, extra)
}

// Scanner is the scanner of Columns(edge), which expects extra values behind them and puts what is before
// them into first.
func (t *Table) Scanner(edge *rowkey.Codec, extra int, first ...any) *RowScanner {
	width := extra
	for _, c := range t.codecs(edge) {
		width += c.Width()
	}
	if t.Node.Asset != "" {
		width++
	}
	s := &RowScanner{t: t, edge: edge, values: make([]sql.NullString, width), dest: slices.Clone(first)}
	for i := range s.values {
		s.dest = append(s.dest, &s.values[i])
	}
	return s
}

// Scan returns the row, and the values that follow it.
func (s *RowScanner) Scan(rows *sql.Rows) (v Row, extra []sql.NullString, err error) {
	if err := rows.Scan(s.dest...); err != nil {
		return v, nil, err
	}
	at := 0
	next := func(c rowkey.Codec) (rowkey.Key, bool) {
		at += c.Width()
		return c.Key(s.values[at-c.Width() : at])
	}
	var ok bool
	if v.Key, ok = next(s.t.Key); !ok {
		return v, nil, errNullKey
	}
	if s.edge != nil {
		v.Edge, _ = next(*s.edge)
	}
	if len(s.t.Refs) > 0 {
		v.Refs = make([]rowkey.Key, len(s.t.Refs))
		for i, c := range s.t.Refs {
			v.Refs[i], _ = next(c)
		}
	}
	if s.t.Node.Owned {
		v.Owner, _ = next(s.t.Owner)
	}
	if s.t.Node.Asset != "" {
		v.Asset = s.values[at].String
		at++
	}
	return v, s.values[at:], nil
}

// Gone is a row of which only the key is known. Rows that refer to other columns of it
// cannot be found any more; those that refer to the key as text can.
func (n *Node) Gone(key rowkey.Key) Row {
	v := Row{Key: key, Refs: make([]rowkey.Key, len(n.refs))}
	for i, set := range n.refs {
		if set.asText && slices.EqualFunc(set.columns, n.Key, strings.EqualFold) {
			v.Refs[i] = n.Tables[0].Key.KeyAs(n.Tables[0].Refs[i], key)
		}
	}
	return v
}

// KeysOf are the keys of rows.
func KeysOf(rows []Row) []rowkey.Key {
	keys := make([]rowkey.Key, len(rows))
	for i, v := range rows {
		keys[i] = v.Key
	}
	return keys
}

// ReadKeys runs a query that reads keys of the table, and calls each, unless it is nil, with what stands
// behind them. One statement.
func (t *Table) ReadKeys(ctx context.Context, db onerow.DB, query string, each func(k rowkey.Key, rest []sql.NullString)) (keys []rowkey.Key, err error) {
	err = ReadColumns(ctx, db, t.Key, query, nil, func(k rowkey.Key, rest []sql.NullString) error {
		if k == "" {
			return errNullKey
		}
		keys = append(keys, k)
		if each != nil {
			each(k, rest)
		}
		return nil
	})
	return keys, err
}

// ReadColumns runs a query that reads columns, and calls each with them, "" where one of them is NULL, and
// with what stands behind them. One statement.
func ReadColumns(ctx context.Context, db onerow.DB, c rowkey.Codec, query string, args []any, each func(k rowkey.Key, rest []sql.NullString) error) error {
	var values []sql.NullString
	var dest []any
	return onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		if values == nil {
			names, err := rows.Columns()
			if err != nil {
				return err
			}
			values = make([]sql.NullString, len(names))
			for i := range values {
				dest = append(dest, &values[i])
			}
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		k, _ := c.Key(values[:c.Width()])
		return each(k, values[c.Width():])
	})
}

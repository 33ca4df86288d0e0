package adopt

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/names"
)

const (
	pageRows  = 500 // that one statement reads
	writeRows = 100 // that one statement writes, and locks
)

// position is where a page begins: behind a row of a table. The zero value is the first row.
type position struct {
	table int
	after any
}

// Page is what a page has done.
type Page struct {
	// Table that it was of, and the id of its last row.
	Table string
	Last  any
	// Rows that were read, of which so many were Written, Copied (renamed) or have changed since they were
	// read.
	Rows, Written, Copied, Moved int
	// Left are those that stay as they are.
	Left []Left
	// Done says that it was the last one of the pass.
	Done bool

	next position // where the next page begins
}

// fillPage reads up to 500 rows by the primary key and writes those of which the key is missing or another
// name's, 100 at a time; each statement commits by itself, so none holds more locks than that, and a page
// that ends half way is simply made again. With copies, a row whose name is taken is renamed as a row is that
// is activated from the archive. Nothing is written over what somebody else writes meanwhile.
func (f *Filler) fillPage(ctx context.Context, db onerow.DB, at position, copies bool) (Page, error) {
	s := f.sides[at.table]
	var p Page
	err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) error {
		p = Page{Table: s.name, next: at}
		rows, err := f.read(ctx, db, s, at.after)
		if err != nil {
			return err
		}
		if p.Rows = len(rows); p.Rows > 0 {
			p.Last = rows[p.Rows-1].id
			p.next.after = p.Last
		}
		if p.Rows < pageRows {
			p.next = position{table: at.table + 1}
			p.Done = p.next.table == len(f.sides)
		}
		return f.fill(ctx, db, s, rows, &p, copies)
	})
	if err != nil {
		return Page{}, fmt.Errorf("adopt: %s: %w", s.name, err)
	}
	return p, nil
}

// read reads a page, and computes what belongs to its names.
func (f *Filler) read(ctx context.Context, db onerow.DB, s *side, after any) (rows []*row, err error) {
	where := ""
	if after != nil {
		where = " WHERE " + ident.Quote(f.res.ID) + " > " + keytype.Literal(after)
	}
	query := fmt.Sprintf("%s%s ORDER BY %s LIMIT %d", s.page, where, ident.Quote(f.res.ID), pageRows)
	err = onerow.Query(ctx, db, query, nil, func(r *sql.Rows) error {
		w := &row{owner: make([]any, len(f.owner))}
		into := []any{f.id.Scan(func(v any) error { w.id = v; return nil }), &w.label, &w.key, &w.stem, &w.copyNo, &w.lacksTime, &w.missing}
		for i, t := range f.owner {
			into = append(into, t.Scan(func(v any) error { w.owner[i] = v; return nil }))
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		if f.res.Named() && w.label != nil {
			w.want, w.wrong = f.parse(w.label)
		}
		rows = append(rows, w)
		return nil
	})
	return rows, err
}

func (f *Filler) parse(label []byte) (wanted, error) {
	n, err := f.res.Label.Kind.Parse(string(label))
	return wantedOf(n), err
}

func wantedOf(n names.Parsed) wanted { return wanted{[]byte(n.Key), []byte(n.StemKey), n.Copy} }

// behind says whether the key is not that of the name.
func (w *row) behind() bool {
	same := bytes.Equal(w.key, w.want.key) && bytes.Equal(w.stem, w.want.stem) && w.copyNo.Valid && w.copyNo.Int64 == int64(w.want.copyNo)
	return w.label != nil && w.wrong == nil && !same
}

// fill writes what a page lacks.
func (f *Filler) fill(ctx context.Context, db onerow.DB, s *side, rows []*row, p *Page, copies bool) error {
	if err := f.fillTimes(ctx, db, s, rows, p); err != nil {
		return err
	}
	var behind []*row
	for _, w := range rows {
		switch {
		case w.wrong != nil:
			p.Left = append(p.Left, f.left(s, w, nil, w.wrong))
		case w.behind():
			behind = append(behind, w)
		}
		if w.missing != "" {
			p.Left = append(p.Left, f.left(s, w, nil, fmt.Errorf("%w: %s", ErrLacks, w.missing)))
		}
	}
	for len(behind) > 0 {
		n := min(writeRows, len(behind))
		part := behind[:n]
		behind = behind[n:]
		written, err := f.write(ctx, db, s, part)
		if mysqlerr.Classify(err) == mysqlerr.Duplicate {
			for _, w := range part {
				if err := f.writeOne(ctx, db, s, w, p, copies); err != nil {
					return err
				}
			}
			continue
		}
		if err != nil {
			return err
		}
		p.Written += int(written)
		p.Moved += n - int(written)
	}
	return nil
}

func (f *Filler) left(s *side, w *row, holder any, err error) Left {
	return Left{Table: s.name, ID: w.id, Owner: w.owner, Name: string(w.label), Holder: holder, Err: err}
}

// write writes keys by the primary key, each only where the name is still that of which it was computed. It
// locks these rows and their keys in the indexes of names.
func (f *Filler) write(ctx context.Context, db onerow.DB, s *side, rows []*row) (int64, error) {
	var ids []string
	cases := func(value func(*row) string) string {
		var b strings.Builder
		for i, w := range rows {
			fmt.Fprintf(&b, " WHEN %s THEN %s", ids[i], value(w))
		}
		return "CASE " + ident.Quote(f.res.ID) + b.String() + " END"
	}
	for _, w := range rows {
		ids = append(ids, keytype.Literal(w.id))
	}
	query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s, stem_key = %s, copy_no = %s%s WHERE %s IN (%s) AND CAST(%s AS BINARY) = %s",
		ident.Quote(s.name), ident.Quote(f.res.Label.Key), cases(func(w *row) string { return keytype.Literal(w.want.key) }),
		cases(func(w *row) string { return keytype.Literal(w.want.stem) }), cases(func(w *row) string { return fmt.Sprint(w.want.copyNo) }), s.keepTimes,
		ident.Quote(f.res.ID), strings.Join(ids, ", "), ident.Quote(f.res.Label.Column), cases(func(w *row) string { return keytype.Literal(w.label) }))
	return onerow.Affected(ctx, db, query)
}

// fillTimes writes the server's time where there is none, by the primary key.
func (f *Filler) fillTimes(ctx context.Context, db onerow.DB, s *side, rows []*row, p *Page) error {
	var ids []string
	for _, w := range rows {
		if w.lacksTime {
			ids = append(ids, keytype.Literal(w.id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	for _, m := range s.times {
		column := ident.Quote(m.column)
		others := strings.ReplaceAll(s.keepTimes, fmt.Sprintf(", %s = %[1]s", column), "")
		query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s%s WHERE %s IN (%s) AND %[2]s IS NULL",
			ident.Quote(s.name), column, m.now, others, ident.Quote(f.res.ID), strings.Join(ids, ", "))
		written, err := onerow.Affected(ctx, db, query)
		if err != nil {
			return err
		}
		p.Written += int(written)
	}
	return nil
}

// nameError says whether the error is about the name alone.
func nameError(err error) bool {
	return errors.Is(err, names.ErrInvalid) || errors.Is(err, names.ErrEmpty) || errors.Is(err, names.ErrTooLong) || errors.Is(err, names.ErrTooManyCopies)
}

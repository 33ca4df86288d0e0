package adopt

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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

// pageDone is what has been done about a page of rows.
type pageDone struct {
	table, last string // last is the id of its last row, or empty: it had none

	// rows were read, of which so many were written, copied (renamed) or have changed since they were read.
	rows, written, copied, moved int

	left []Left   // rows that stay as they are
	done bool     // it was the last page of the pass
	next position // where the next page begins
}

type pageFiller struct {
	*filler
	*side
	pageDone

	db         onerow.DB
	withCopies bool // rows whose name is taken are renamed
}

type row struct {
	id               any
	owner            []any
	label, key, stem []byte
	copyNo           sql.NullInt64
	lacksTime        bool
	missing          string
	want             names.Parsed // what belongs to the name
	wrong            error        // why there is nothing that is wanted
}

// fillPage reads up to 500 rows by the primary key and writes those of which the key is missing or another
// name's, 100 at a time; each statement commits by itself, so none holds more locks than that, and a page
// that ends half way is simply made again. With copies, a row whose name is taken is renamed as a row is that
// is activated from the archive. Nothing is written over what somebody else writes meanwhile.
func (f *filler) fillPage(ctx context.Context, db onerow.DB, at position, copies bool) (filled pageDone, err error) {
	s := f.sides[at.table]
	err = onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) error {
		p := &pageFiller{f, s, pageDone{table: s.name, next: at}, db, copies}
		rows, err := p.read(ctx, at.after)
		if err != nil {
			return err
		}
		if p.rows = len(rows); p.rows > 0 {
			p.next.after = rows[p.rows-1].id
			p.last = show(p.next.after)
		}
		if p.rows < pageRows {
			p.next = position{table: at.table + 1}
			p.done = p.next.table == len(f.sides)
		}
		err = p.fill(ctx, rows)
		filled = p.pageDone
		return err
	})
	if err != nil {
		return pageDone{}, fmt.Errorf("adopt: %s: %w", s.name, err)
	}
	return filled, nil
}

// read reads a page, and computes what belongs to its names.
func (p *pageFiller) read(ctx context.Context, after any) (rows []*row, err error) {
	where := ""
	if after != nil {
		where = " WHERE " + ident.Quote(p.res.ID) + " > " + keytype.Literal(after)
	}
	query := fmt.Sprintf("%s%s ORDER BY %s LIMIT %d", p.page, where, ident.Quote(p.res.ID), pageRows)
	err = onerow.Query(ctx, p.db, query, nil, func(r *sql.Rows) error {
		w := &row{owner: make([]any, len(p.owner))}
		into := []any{p.id.Scan(func(v any) error { w.id = v; return nil }), &w.label, &w.key, &w.stem, &w.copyNo, &w.lacksTime, &w.missing}
		for i, t := range p.owner {
			into = append(into, t.Scan(func(v any) error { w.owner[i] = v; return nil }))
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		if p.res.Named() && w.label != nil {
			w.want, w.wrong = p.res.Label.Kind.Parse(string(w.label))
		}
		rows = append(rows, w)
		return nil
	})
	return rows, err
}

// behind says whether the key is not that of the name.
func (w *row) behind() bool {
	same := string(w.key) == w.want.Key && string(w.stem) == w.want.StemKey && w.copyNo.Valid && w.copyNo.Int64 == int64(w.want.Copy)
	return w.label != nil && w.wrong == nil && !same
}

func (p *pageFiller) fill(ctx context.Context, rows []*row) error {
	if err := p.fillTimes(ctx, rows); err != nil {
		return err
	}
	var behind []*row
	for _, w := range rows {
		switch {
		case w.wrong != nil:
			p.leave(w, nil, w.wrong)
		case w.behind():
			behind = append(behind, w)
		}
		if w.missing != "" {
			p.leave(w, nil, fmt.Errorf("%w: %s", errLacks, w.missing))
		}
	}
	for part := range slices.Chunk(behind, writeRows) {
		written, err := p.write(ctx, part)
		if mysqlerr.Classify(err) == mysqlerr.Duplicate {
			for _, w := range part {
				if err := p.writeOne(ctx, w); err != nil {
					return err
				}
			}
			continue
		}
		if err != nil {
			return err
		}
		p.written += int(written)
		p.moved += len(part) - int(written)
	}
	return nil
}

// leave lists a row that stays as it is.
func (p *pageFiller) leave(w *row, holder any, err error) {
	left := Left{Table: p.name, ID: show(w.id), Name: string(w.label), Err: err}
	for _, owner := range w.owner {
		if owner != nil {
			left.Owner = append(left.Owner, show(owner))
		}
	}
	if holder != nil {
		left.Holder = show(holder)
	}
	p.left = append(p.left, left)
}

// write writes keys by the primary key, each only where the name is still that of which it was computed. It
// locks these rows and their keys in the indexes of names.
func (p *pageFiller) write(ctx context.Context, rows []*row) (int64, error) {
	var ids []string
	cases := func(value func(*row) string) string {
		var b strings.Builder
		for i, w := range rows {
			fmt.Fprintf(&b, " WHEN %s THEN %s", ids[i], value(w))
		}
		return "CASE " + ident.Quote(p.res.ID) + b.String() + " END"
	}
	for _, w := range rows {
		ids = append(ids, keytype.Literal(w.id))
	}
	query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s, stem_key = %s, copy_no = %s%s WHERE %s IN (%s) AND CAST(%s AS BINARY) = %s",
		ident.Quote(p.name), ident.Quote(p.res.Label.Key), cases(func(w *row) string { return keytype.Literal([]byte(w.want.Key)) }),
		cases(func(w *row) string { return keytype.Literal([]byte(w.want.StemKey)) }), cases(func(w *row) string { return fmt.Sprint(w.want.Copy) }), p.keepTimes,
		ident.Quote(p.res.ID), strings.Join(ids, ", "), ident.Quote(p.res.Label.Column), cases(func(w *row) string { return keytype.Literal(w.label) }))
	return onerow.Affected(ctx, p.db, query)
}

// fillTimes writes the server's time where there is none, by the primary key.
func (p *pageFiller) fillTimes(ctx context.Context, rows []*row) error {
	var ids []string
	for _, w := range rows {
		if w.lacksTime {
			ids = append(ids, keytype.Literal(w.id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	for _, m := range p.times {
		column := ident.Quote(m.column)
		others := strings.ReplaceAll(p.keepTimes, fmt.Sprintf(", %s = %[1]s", column), "")
		query := fmt.Sprintf("UPDATE %s FORCE INDEX (PRIMARY) SET %s = %s%s WHERE %s IN (%s) AND %[2]s IS NULL",
			ident.Quote(p.name), column, m.now, others, ident.Quote(p.res.ID), strings.Join(ids, ", "))
		written, err := onerow.Affected(ctx, p.db, query)
		if err != nil {
			return err
		}
		p.written += int(written)
	}
	return nil
}

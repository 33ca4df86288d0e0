package featurefuzz

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// place is a row, by the table in which it was made and its number.
type place struct {
	table  string
	number int
}

func (p place) String() string { return fmt.Sprintf("%q number %d", p.table, p.number) }

// line is what a row holds.
type line struct {
	where string // the table in which it is
	cells map[string]sql.NullString
}

// image is every row of a world. Log and counts are of what triggers have done.
type image struct {
	rows   map[place]line
	twice  []place
	log    map[place]map[string]int
	counts map[string]int
}

// reads are the columns of a table that are compared, each with the SQL of its bytes.
func (t *table) reads() (columns, reads []string) {
	add := func(name, read string) {
		columns = append(columns, name)
		reads = append(reads, strings.ReplaceAll(fmt.Sprintf(strings.ReplaceAll(read, "%s", "%[1]s"), "\x00"), "\x00", ident.Quote(name)))
	}
	for _, p := range append(t.key[:len(t.key):len(t.key)], t.edge...) {
		add(p.name, asBytes)
	}
	add(colRoot, asMoney)
	add(colTouched, asMoney)
	if t.base != "" {
		add(t.base, asMoney)
	}
	for _, c := range t.data {
		add(c.name, c.read)
	}
	if t.archive != "" {
		add("name", asBytes)
	}
	return columns, reads
}

// read reads all rows, those that views show too.
func (w *world) read(ctx context.Context, db *sql.DB) (*image, error) {
	m := &image{rows: map[place]line{}, log: map[place]map[string]int{}, counts: map[string]int{}}
	for i, t := range w.tables {
		columns, reads := t.reads()
		for _, where := range []string{t.name, t.archive} {
			if where == "" {
				continue
			}
			if err := m.readTable(ctx, db, t.name, where, columns, reads); err != nil {
				return nil, err
			}
		}
		if w.has[ofViews] {
			c := t.data[0]
			all := *t
			all.data, all.key, all.edge, all.base, all.archive = []*column{c}, nil, nil, "", ""
			columns, reads := all.reads()
			if err := m.readTable(ctx, db, w.views[i], w.views[i], columns[1:], reads[1:]); err != nil {
				return nil, err
			}
		}
	}
	err := onerow.Query(ctx, db, "SELECT of_table, n, what FROM f_log", nil, func(rows *sql.Rows) error {
		var table, number int
		var what string
		err := rows.Scan(&table, &number, &what)
		p := place{w.tables[table].name, number}
		if m.log[p] == nil {
			m.log[p] = map[string]int{}
		}
		m.log[p][what]++
		return err //nolint:wrapcheck // it says all
	})
	if err == nil {
		err = onerow.Query(ctx, db, "SELECT of_table, n FROM f_count", nil, func(rows *sql.Rows) error {
			var table, n int
			err := rows.Scan(&table, &n)
			m.counts[w.tables[table].name] = n
			return err //nolint:wrapcheck // it says all
		})
	}
	return m, err //nolint:wrapcheck // it says all
}

func (m *image) readTable(ctx context.Context, db *sql.DB, of, where string, columns, reads []string) error {
	query := "SELECT " + colNumber + ", " + strings.Join(reads, ", ") + " FROM " + ident.Quote(where)
	return onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error { //nolint:wrapcheck // it says all
		p := place{table: of}
		cells := make([]sql.NullString, len(columns))
		into := []any{&p.number}
		for i := range cells {
			into = append(into, &cells[i])
		}
		if err := rows.Scan(into...); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		if _, there := m.rows[p]; there {
			m.twice = append(m.twice, p)
		}
		l := line{where, map[string]sql.NullString{}}
		for i, c := range columns {
			l.cells[c] = cells[i]
		}
		m.rows[p] = l
		return nil
	})
}

package restorefuzz

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest"
)

// row is one row, wherever it is.
type row struct {
	table string
	cells map[string]sql.NullString
}

// state are the rows of all tables.
type state map[schematest.Name]row

// same says whether the column is the same in both, or not in both.
func (r row) same(other row, column string) bool {
	a, in := r.cells[column]
	b, also := other.cells[column]
	return !in || !also || a == b
}

// live says whether a row still has a reference that it had.
func (r row) live(before row, ref schematest.Ref) bool {
	if mark := ref.Action.Mark(); mark != "" && r.cells[mark].Valid {
		return false
	}
	return !slices.ContainsFunc(ref.Columns, func(c string) bool { return !r.same(before, c) })
}

func (r row) sameAll(other row) bool {
	for c := range r.cells {
		if !r.same(other, c) {
			return false
		}
	}
	return true
}

// copies say what of the deletion the trash has.
type copies struct {
	rows, expired map[schematest.Name]bool // whole rows, alive or not
	cutLost       map[schematest.Name]bool // rows of which a copy with a reference is not there, or has expired
	live          int64                    // rows and references, as the notes count them
	over          map[string]int64         // rows that have expired, as the notes count them, by node
}

func sorted(s state) []schematest.Name {
	return slices.SortedFunc(maps.Keys(s), func(a, b schematest.Name) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// state reads all rows.
func (w *world) state(ctx context.Context) (state, error) {
	shot, err := w.shapes.Again(ctx, w.db)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	s := state{}
	for node, tables := range w.Tables() {
		for _, table := range tables {
			c := shot[table]
			for _, values := range c.Rows {
				r := row{table, map[string]sql.NullString{}}
				for i, v := range values {
					r.cells[c.Columns[i]] = v
				}
				n := schematest.Name{Node: node, Number: r.cells[schematest.NumberColumn].String}
				if twice, there := s[n]; there {
					w.found(brokenRow, "%s is there twice: %v, %v", n, twice, r)
				}
				s[n] = r
			}
		}
	}
	return s, nil
}

// look reads what the trash has.
func (w *world) look(ctx context.Context) error {
	t := &w.trial
	t.copies = copies{map[schematest.Name]bool{}, map[schematest.Name]bool{}, map[schematest.Name]bool{}, 0, map[string]int64{}}
	t.dropped = map[string]int64{}
	const alive = "step > 0 AND kept_rows > 0 AND expires_at > UTC_TIMESTAMP(6)"
	err := onerow.QueryRow(ctx, w.db, "SELECT COALESCE(SUM(kept_rows), 0) FROM onerow_trash WHERE "+alive+" AND job_id = ?", []any{w.job}, &t.copies.live)
	cuts := map[schematest.Name]int{} // copies of rows that lost a reference
	for node, tables := range w.Tables() {
		for _, table := range tables {
			var over int64
			if err == nil {
				err = onerow.QueryRow(ctx, w.db, "SELECT COALESCE(SUM(kept_rows), 0) FROM onerow_trash WHERE NOT ("+alive+") AND step > 0 AND cut = '' AND table_name = ? AND job_id = ?", []any{[]byte(table), w.job}, &over)
			}
			t.copies.over[node] += over
			if err != nil || t.unkept[node] {
				continue
			}
			shown := ident.Quote(ident.TrashTable(table))
			query := "SELECT k." + schematest.NumberColumn + ", cut, " + alive + " FROM " + shown + " AS k JOIN onerow_trash AS s ON s.job_id = k." + ident.ColTrashJob +
				" AND s.step = k." + ident.ColTrashStep + " WHERE s.job_id = ? AND s.step > 0 AND s.kept_rows > 0"
			err = onerow.Query(ctx, w.db, query, []any{w.job}, func(rows *sql.Rows) error {
				var number, cut string
				var alive bool
				err := rows.Scan(&number, &cut, &alive)
				n := schematest.Name{Node: node, Number: number}
				switch {
				case cut != "" && alive:
					cuts[n]++
				case cut != "":
				case alive:
					t.copies.rows[n] = true
				default:
					t.copies.expired[n] = true
				}
				return err
			})
			if c := w.shapes[table]; err == nil && !slices.Contains(c.Columns, "note") {
				var n int64
				err = onerow.QueryRow(ctx, w.db, "SELECT COUNT(note) FROM "+shown+" WHERE "+ident.ColTrashJob+" = ?", []any{w.job}, &n)
				if n > 0 {
					t.dropped[table] = n
				}
			}
		}
	}
	for n := range t.before {
		at, stayed := t.start[n]
		if first := w.cuts[n]; cuts[n] < first || first == 0 && stayed && !at.sameAll(t.before[n]) {
			t.copies.cutLost[n] = true
		}
	}
	if w.cuts == nil {
		w.cuts = cuts
	}
	return err //nolint:wrapcheck // it says all
}

func sameRows(a, b state) bool {
	for n, r := range a {
		if other, there := b[n]; !there || !r.sameAll(other) {
			return false
		}
	}
	return len(a) == len(b)
}

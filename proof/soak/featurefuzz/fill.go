package featurefuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema/catalog"
)

// row is one that was put into a table.
type row struct {
	table  *table
	number int
	root   int // -1: it is below none
	up     *row
	key    []string // literals
	marked bool     // its triggers, or its CHECK, refuse it
}

// refused is what colTouched says of rows that triggers refuse.
const refused = 13

// maxRows is how many rows a table has at most.
const maxRows = 40

// thing is a row of the resource, as verbs see it.
type thing struct {
	ID      int64  `db:"id"`
	Owner   int64  `db:"owner_id"`
	Name    string `db:"name"`
	Touched int64  `db:"touched"`
}

// create makes tables, rows and views.
func (w *world) create(ctx context.Context, db *sql.DB) error {
	if err := w.createTables(ctx, db); err != nil {
		return err
	}
	for i, t := range w.tables {
		w.draw(t, i)
		if len(t.rows) > 0 {
			if err := exec(ctx, db, t.insert(w.r)); err != nil {
				return err
			}
		}
	}
	if w.has[ofBrokenCheck] {
		if err := w.breakCheck(ctx, db); err != nil {
			return err
		}
	}
	for _, t := range w.tables {
		if !w.has[ofViews] {
			break
		}
		view := w.tableName("view")
		w.views = append(w.views, view)
		if err := exec(ctx, db, fmt.Sprintf("CREATE VIEW %s AS SELECT %s, %s, %s FROM %s WHERE %s >= 0", ident.Quote(view), colNumber, colTouched, ident.Quote(t.data[0].name), ident.Quote(t.name), colNumber)); err != nil {
			return err
		}
	}
	return nil
}

// errNotMade means that the server takes no such table: the drawing is at fault, and nothing is shown.
var errNotMade = errors.New("the server does not take the schema")

func (w *world) createTables(ctx context.Context, db *sql.DB) error {
	for i, t := range w.tables {
		var err error
		if t.archive == "" {
			for pad := 65530; ; pad -= 4 {
				if err = exec(ctx, db, t.ddl(pad)); err == nil || !t.fills || pad < 60000 {
					break
				}
			}
		} else {
			for _, query := range append(w.plan.DDL(), w.alters(t)...) {
				if err == nil {
					err = exec(ctx, db, query)
				}
			}
		}
		if err != nil {
			return err
		}
		if w.is(ofViewAsTable, i) {
			if err := w.hideBehindView(ctx, db, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideBehindView makes the table a view of another one.
func (w *world) hideBehindView(ctx context.Context, db *sql.DB, t *table) error {
	behind := w.tableName("behind")
	w.made = append(w.made, behind)
	w.hidden = append(w.hidden, t.name)
	if err := exec(ctx, db, "RENAME TABLE "+ident.Quote(t.name)+" TO "+ident.Quote(behind)); err != nil {
		return err
	}
	return exec(ctx, db, "CREATE VIEW "+ident.Quote(t.name)+" AS SELECT * FROM "+ident.Quote(behind))
}

// alters gives the tables of a resource what no plan declares.
func (w *world) alters(t *table) (list []string) {
	for _, name := range []string{t.name, t.archive} {
		alter := "ALTER TABLE " + ident.Quote(name) + " "
		for _, c := range t.data {
			if c.computed {
				list = append(list, alter+"ADD COLUMN "+ident.Quote(c.name)+" "+c.typ)
			}
		}
		for _, line := range t.lines {
			if strings.HasPrefix(line, "CONSTRAINT") {
				line = "CONSTRAINT " + ident.Quote(w.some("check")) + line[strings.Index(line, " CHECK"):]
				list = append(list, alter+"ADD "+line)
			}
		}
		if t.options != "" {
			list = append(list, alter+t.options)
		}
	}
	if t.engine != "InnoDB" {
		list = append(list, "ALTER TABLE "+ident.Quote(t.archive)+" ENGINE="+t.engine)
	}
	return list
}

// draw makes the rows of a table in memory, some below each row above.
func (w *world) draw(t *table, i int) {
	add := func(up *row, root int) {
		r := &row{table: t, number: len(t.rows), root: root, up: up}
		for _, p := range t.key {
			r.key = append(r.key, p.kind.value(r.number, samples[p.charset]))
		}
		if w.is(ofRefuseDelete, i) || w.is(ofRefuseInsert, i) || w.is(ofBrokenCheck, i) {
			r.marked = w.r.IntN(4) == 0
		}
		t.rows = append(t.rows, r)
	}
	if t.parent == nil {
		for root := range 3 + w.r.IntN(3) {
			add(nil, root)
		}
		return
	}
	for _, up := range t.parent.rows {
		for range w.r.IntN(4) {
			if len(t.rows) < maxRows {
				add(up, up.root)
			}
		}
	}
	if t.base == "" || t.computedPart() == t.key[0].name {
		add(nil, -1)
	}
}

// insert puts the rows of a table there.
func (t *table) insert(r *rand.Rand) string {
	var columns, rows []string
	for _, one := range t.rows {
		var values []string
		columns = nil
		add := func(name, value string) {
			columns, values = append(columns, ident.Quote(name)), append(values, value)
		}
		part := func(name, value string) {
			if name == t.computedPart() {
				name, value = t.base, value+" + 5"
			}
			add(name, value)
		}
		for i, p := range t.key {
			part(p.name, one.key[i])
		}
		for i, p := range t.edge {
			if one.up == nil {
				part(p.name, "NULL")
			} else {
				part(p.name, one.up.key[i])
			}
		}
		touched := 0
		if one.marked {
			touched = refused
		}
		add(colNumber, fmt.Sprint(one.number))
		add(colRoot, fmt.Sprint(one.root))
		add(colTouched, fmt.Sprint(touched))
		for _, c := range t.data {
			if !c.computed {
				add(c.name, c.value(r))
			}
		}
		if t.archive != "" {
			name := fmt.Sprintf("'row %d'", one.number)
			for _, c := range [][2]string{{"owner_id", "7"}, {"name", name}, {"name_key", name}, {"stem_key", name}, {"created_at", "UTC_TIMESTAMP(6)"}, {"updated_at", "UTC_TIMESTAMP(6)"}} {
				add(c[0], c[1])
			}
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", ident.Quote(t.name), strings.Join(columns, ", "), strings.Join(rows, ", "))
}

// exec tells the statement with its error.
func exec(ctx context.Context, db *sql.DB, query string) error {
	if _, err := db.ExecContext(ctx, query); err != nil {
		return fmt.Errorf("%w: %.2000s", err, query)
	}
	return nil
}

// trashTables makes what TrashDDL says. Its own error is the toolkit's refusal, one of the server is a
// finding.
func (w *world) trashTables(ctx context.Context, db *sql.DB) (refusal, server error) {
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	list, err := cat.TrashDDL(w.plan)
	if err != nil {
		return err, nil //nolint:wrapcheck // it says all
	}
	for _, query := range list {
		if err := exec(ctx, db, query); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// verbs moves rows of the resource to and fro, so that in the end each is active or archived.
func (w *world) verbs(ctx context.Context, db *sql.DB, t *table) error {
	things, err := repo.New[thing](w.plan, t.name)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for range 12 {
		one := t.rows[w.r.IntN(len(t.rows))]
		if err := w.verb(ctx, db, things, int64(7*one.number-20)); err != nil {
			return fmt.Errorf("row %d: %w", one.number, err)
		}
	}
	return nil
}

// isServers says whether an error is one that the server gave for a statement.
func isServers(err error) bool { return mysqlerr.Number(err) != 0 }

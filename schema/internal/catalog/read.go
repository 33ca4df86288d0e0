package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// database is what information_schema says of the current database.
type database struct {
	name    string
	fold    bool   // names of tables are not case-sensitive
	offBy   string // the column of information_schema that says which indexes are switched off, or empty
	tables  map[string]*foundTable
	foreign []foreignKey

	mode    string            // sql_mode of the session
	creates map[string]string // SHOW CREATE TABLE, "" where it is not shown
	asked   map[string]bool   // tables of which it is needed and not read yet
}

type foundTable struct {
	name, kind, engine string
	columns            []foundColumn
	indexes            []foundIndex
	triggers           []foundTrigger
}

type foundTrigger struct {
	name, timing, event string // BEFORE or AFTER; INSERT, UPDATE or DELETE
}

type foundColumn struct {
	name, data, full, charset, collation, extra string
	nullable, hasDefault                        bool
	rowEnd                                      bool  // the server's own, of a table with system versioning
	length, precision                           int64 // characters or bytes; digits of a second's fraction
}

type foundIndex struct {
	name    string
	columns []string // lower case; "" for an expression or a prefix
	unique  bool
	btree   bool
	falls   []bool // the columns that are descending
	off     bool   // INVISIBLE (MySQL) or IGNORED (MariaDB): it still refuses rows, but no read may use or name it
}

type foreignKey struct {
	name, schema, table, toSchema, to, onDelete, onUpdate string
	columns, references                                   []string // as they are declared, in one order
}

func (d *database) key(table string) string {
	if d.fold {
		return strings.ToLower(table)
	}
	return table
}

func (d *database) table(name string) *foundTable { return d.tables[d.key(name)] }

func (t *foundTable) column(name string) *foundColumn {
	i := slices.IndexFunc(t.columns, func(c foundColumn) bool { return strings.EqualFold(c.name, name) })
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}

func (t *foundTable) primary() []string {
	for _, x := range t.indexes {
		if x.name == "PRIMARY" {
			return x.columns
		}
	}
	return nil
}

// What says that an index is switched off: is_visible on MySQL since 8.0, ignored on
// MariaDB since 10.6.
const (
	visibleColumn = "IS_VISIBLE"
	ignoredColumn = "IGNORED"
)

// off is the expression that says that an index is switched off.
func (d *database) off() string {
	switch strings.ToUpper(d.offBy) {
	case visibleColumn:
		return "is_visible = 'NO'"
	case ignoredColumn:
		return "ignored = 'YES'"
	}
	return "0"
}

// isMariaDB says whether the server is MariaDB, by what its dictionary has.
func (d *database) isMariaDB() bool { return strings.EqualFold(d.offBy, ignoredColumn) }

// switchOn is the statement that switches an index on.
func (d *database) switchOn(table, index string) string {
	how := "VISIBLE"
	if d.isMariaDB() {
		how = "NOT IGNORED"
	}
	return "ALTER TABLE " + Quote(table) + " ALTER INDEX " + Quote(index) + " " + how
}

// MySQL returns the columns' names of information_schema in upper case, so
// everything is read by position. All statements are plain reads of the dictionary.
const (
	sqlDatabase = `SELECT DATABASE(), @@lower_case_table_names, @@sql_mode, COALESCE((SELECT MAX(column_name) FROM information_schema.columns
 WHERE table_schema = 'information_schema' AND table_name = 'STATISTICS' AND column_name IN ('` + visibleColumn + `', '` + ignoredColumn + `')), '')`

	sqlTables = `SELECT table_name, table_type, COALESCE(engine, '') FROM information_schema.tables
 WHERE table_schema = DATABASE()`

	// sqlColumns and sqlIndexes may be of some tables only.
	sqlColumns = `SELECT table_name, column_name, data_type, column_type, COALESCE(character_set_name, ''), COALESCE(collation_name, ''), COALESCE(extra, ''),
 is_nullable = 'YES', column_default IS NOT NULL, COALESCE(character_maximum_length, 0), COALESCE(datetime_precision, 0),
 COALESCE(generation_expression, '') = 'ROW END' FROM information_schema.columns WHERE table_schema = DATABASE()%s ORDER BY table_name, ordinal_position`

	sqlIndexes = `SELECT table_name, index_name, COALESCE(IF(sub_part IS NULL, column_name, NULL), ''), non_unique = 0, index_type = 'BTREE', COALESCE(collation, 'A') = 'D', %s
 FROM information_schema.statistics WHERE table_schema = DATABASE()%s ORDER BY table_name, index_name, seq_in_index`

	sqlTriggers = `SELECT event_object_table, trigger_name, action_timing, event_manipulation FROM information_schema.triggers
 WHERE event_object_schema = DATABASE() ORDER BY event_object_table, trigger_name`
)

var errNoDatabase = errors.New("the connection has no current database; name one in the DSN")

func readDatabase(ctx context.Context, db onerow.DB) (*database, error) {
	return readTables(ctx, db, nil)
}

// readTables leaves out the columns and indexes of other tables, if any are named: they are
// most of the work where there are thousands of tables.
func readTables(ctx context.Context, db onerow.DB, only []string) (*database, error) {
	some, args := "", make([]any, len(only))
	for i, name := range only {
		some, args[i] = some+", ?", name
	}
	if some != "" {
		some = " AND table_name IN (" + strings.TrimPrefix(some, ", ") + ")"
	}
	var name sql.NullString
	d := &database{tables: map[string]*foundTable{}, creates: map[string]string{}, asked: map[string]bool{}}
	if err := onerow.QueryRow(ctx, db, sqlDatabase, nil, &name, &d.fold, &d.mode, &d.offBy); err != nil {
		return nil, err
	}
	if !name.Valid {
		return nil, errNoDatabase
	}
	d.name = name.String
	for _, part := range []dictionaryRead{
		{sqlTables, nil, d.scanTable}, {fmt.Sprintf(sqlColumns, some), args, d.scanColumn}, {fmt.Sprintf(sqlIndexes, d.off(), some), args, d.scanIndex},
		{sqlTriggers, nil, d.scanTrigger},
	} {
		if err := part.run(ctx, db); err != nil {
			return nil, err
		}
	}
	return d, d.readForeign(ctx, db)
}

// dictionaryRead is a statement and what takes each of its rows.
type dictionaryRead struct {
	query string
	args  []any
	scan  func(*sql.Rows) error
}

func (r dictionaryRead) run(ctx context.Context, db onerow.DB) error {
	return onerow.Query(ctx, db, r.query, r.args, r.scan)
}

func (d *database) scanTable(rows *sql.Rows) error {
	t := &foundTable{}
	err := rows.Scan(&t.name, &t.kind, &t.engine)
	d.tables[d.key(t.name)] = t
	return err
}

// in finds the table of a row; one that was made since sqlTables ran is no matter.
func (d *database) in(table string) *foundTable {
	if t := d.table(table); t != nil {
		return t
	}
	return &foundTable{}
}

func (d *database) scanColumn(rows *sql.Rows) error {
	var table string
	var c foundColumn
	err := rows.Scan(&table, &c.name, &c.data, &c.full, &c.charset, &c.collation, &c.extra, &c.nullable, &c.hasDefault, &c.length, &c.precision, &c.rowEnd)
	t := d.in(table)
	t.columns = append(t.columns, c)
	return err
}

func (d *database) scanIndex(rows *sql.Rows) error {
	var table, name, column string
	var unique, btree, falls, off bool
	if err := rows.Scan(&table, &name, &column, &unique, &btree, &falls, &off); err != nil {
		return err
	}
	t := d.in(table)
	if n := len(t.indexes); n == 0 || t.indexes[n-1].name != name {
		t.indexes = append(t.indexes, foundIndex{name: name, unique: unique, btree: btree, off: off})
	}
	if c := t.column(column); c != nil && c.rowEnd && len(t.indexes[len(t.indexes)-1].columns) > 0 {
		return nil // the server puts it behind each unique key, so that the history may have a row again
	}
	x := &t.indexes[len(t.indexes)-1]
	x.columns = append(x.columns, strings.ToLower(column))
	x.falls = append(x.falls, falls)
	return nil
}

func (d *database) scanTrigger(rows *sql.Rows) error {
	var table string
	var tr foundTrigger
	err := rows.Scan(&table, &tr.name, &tr.timing, &tr.event)
	t := d.in(table)
	t.triggers = append(t.triggers, tr)
	return err
}

// keyable says whether the toolkit can hold the exact value of such a column in a key,
// whatever the session's settings: integers, decimals, text, bytes, dates and times
// without a zone, UUIDs and addresses. Not floating point, TIMESTAMP, BIT, JSON or
// BLOBs and TEXTs, of which an index holds a prefix only.
func (c *foundColumn) keyable() bool {
	switch strings.ToLower(c.data) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "char", "varchar", "enum", "set",
		"binary", "varbinary", "date", "datetime", "time", "year", "uuid", "inet4", "inet6":
		return true
	}
	return false
}

// timeType is how a column of times is read, "date", "datetime" or "timestamp"; "" is none of these.
func timeType(data string) string {
	if kind := strings.ToLower(data); slices.Contains([]string{"date", "datetime", "timestamp"}, kind) {
		return kind
	}
	return ""
}

// conditions are the columns of which each row over the edge has the same value.
func conditions(e Edge) map[string]string {
	all := map[string]string{}
	maps.Copy(all, e.When)
	if mark := e.OnDelete.Mark(); mark != "" {
		all[mark] = ""
	}
	return all
}

// keyProblem says why a column cannot be part of a key, "" if it can.
func (t *foundTable) keyProblem(col string) string {
	f := t.column(col)
	switch {
	case f == nil:
		return "only a prefix of it is in the key; a key that is cut names no row"
	case !f.keyable():
		return fmt.Sprintf("the exact value of a %s cannot be held; make it an integer, text, bytes or a DATETIME", f.full)
	}
	return ""
}

// runsWith says whether the trigger runs when the worker deletes rows, or updates them.
func (tr foundTrigger) runsWith(deletes, updates bool) bool {
	return deletes && strings.EqualFold(tr.event, "DELETE") || updates && strings.EqualFold(tr.event, "UPDATE")
}

// spelled returns the columns' names as the table spells them.
func (t *foundTable) spelled(columns []string) []string {
	names := slices.Clone(columns)
	for i, col := range columns {
		if f := t.column(col); f != nil {
			names[i] = f.name
		}
	}
	return names
}

// computed says whether the column's value comes from others.
func (c *foundColumn) computed() bool {
	extra := strings.ToLower(c.extra)
	return strings.Contains(extra, "virtual generated") || strings.Contains(extra, "stored generated") || strings.Contains(extra, "persistent")
}

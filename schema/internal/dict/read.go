package dict

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// MySQL returns the columns' names of information_schema in upper case, so
// everything is read by position. All statements are plain reads of the dictionary.
const (
	sqlDatabase = `SELECT DATABASE(), @@lower_case_table_names, @@sql_mode, COALESCE((SELECT MAX(column_name) FROM information_schema.columns
 WHERE table_schema = 'information_schema' AND table_name = 'STATISTICS' AND column_name IN ('IS_VISIBLE', 'IGNORED')), '')`

	sqlTables = `SELECT table_name, table_type, COALESCE(engine, '') FROM information_schema.tables
 WHERE table_schema = DATABASE()`

	// sqlColumns and sqlIndexes may be of some tables only. MariaDB has the word NULL where there is no
	// default.
	sqlColumns = `SELECT table_name, column_name, data_type, column_type, COALESCE(character_set_name, ''), COALESCE(collation_name, ''), COALESCE(extra, ''),
 is_nullable = 'YES', column_default IS NOT NULL AND (column_default <> 'NULL' OR LOCATE('MariaDB', VERSION()) = 0), COALESCE(character_maximum_length, 0), COALESCE(datetime_precision, 0),
 COALESCE(generation_expression, '') = 'ROW END' FROM information_schema.columns WHERE table_schema = DATABASE()%s ORDER BY table_name, ordinal_position`

	sqlIndexes = `SELECT table_name, index_name, COALESCE(IF(sub_part IS NULL, column_name, NULL), ''), non_unique = 0, index_type = 'BTREE', COALESCE(collation, 'A') = 'D', %s
 FROM information_schema.statistics WHERE table_schema = DATABASE()%s ORDER BY table_name, index_name, seq_in_index`

	sqlTriggers = `SELECT event_object_table, trigger_name, action_timing, event_manipulation FROM information_schema.triggers
 WHERE event_object_schema = DATABASE() ORDER BY event_object_table, trigger_name`
)

// ErrNoDatabase means: the connection has no current database.
var ErrNoDatabase = errors.New("the connection has no current database; name one in the DSN")

// Read reads the catalog of the current database. Where tables are named it leaves out the columns and
// indexes of others: they are most of the work where there are thousands of tables.
func Read(ctx context.Context, db onerow.DB, only ...string) (*Database, error) {
	some, args := "", make([]any, len(only))
	for i, name := range only {
		some, args[i] = " AND table_name IN ("+ident.Params(len(only))+")", name
	}
	var name sql.NullString
	d := &Database{Tables: map[string]*Table{}, Creates: map[string]string{}}
	if err := onerow.QueryRow(ctx, db, sqlDatabase, nil, &name, &d.Fold, &d.Mode, &d.OffBy); err != nil {
		return nil, err
	}
	if !name.Valid {
		return nil, ErrNoDatabase
	}
	d.Name = name.String
	for _, part := range []dictionaryRead{
		{sqlTables, nil, d.scanTable}, {fmt.Sprintf(sqlColumns, some), args, d.scanColumn}, {fmt.Sprintf(sqlIndexes, d.off(), some), args, d.scanIndex},
		{sqlTriggers, nil, d.scanTrigger},
	} {
		if err := onerow.Query(ctx, db, part.query, part.args, part.scan); err != nil {
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

func (d *Database) scanTable(rows *sql.Rows) error {
	t := &Table{}
	err := rows.Scan(&t.Name, &t.Kind, &t.Engine)
	d.Tables[d.Key(t.Name)] = t
	return err
}

// TableOrEmpty returns the table of that name, or one without columns: a row's table may have been made since
// sqlTables ran.
func (d *Database) TableOrEmpty(table string) *Table {
	if t := d.Table(table); t != nil {
		return t
	}
	return &Table{}
}

func (d *Database) scanColumn(rows *sql.Rows) error {
	var table string
	var c Column
	err := rows.Scan(&table, &c.Name, &c.Data, &c.Full, &c.Charset, &c.Collation, &c.Extra, &c.Nullable, &c.HasDefault, &c.Length, &c.Precision, &c.RowEnd)
	t := d.TableOrEmpty(table)
	t.Columns = append(t.Columns, c)
	return err
}

func (d *Database) scanIndex(rows *sql.Rows) error {
	var table, name, column string
	var unique, btree, descending, off bool
	if err := rows.Scan(&table, &name, &column, &unique, &btree, &descending, &off); err != nil {
		return err
	}
	t := d.TableOrEmpty(table)
	if n := len(t.Indexes); n == 0 || t.Indexes[n-1].Name != name {
		t.Indexes = append(t.Indexes, Index{Name: name, Unique: unique, Btree: btree, Off: off})
	}
	if c := t.Column(column); c != nil && c.RowEnd && len(t.Indexes[len(t.Indexes)-1].Columns) > 0 {
		return nil // the server puts it behind each unique key, so that the history may have a row again
	}
	x := &t.Indexes[len(t.Indexes)-1]
	x.Columns = append(x.Columns, strings.ToLower(column))
	x.Descending = append(x.Descending, descending)
	return nil
}

func (d *Database) scanTrigger(rows *sql.Rows) error {
	var table string
	var tr Trigger
	err := rows.Scan(&table, &tr.Name, &tr.Timing, &tr.Event)
	t := d.TableOrEmpty(table)
	t.Triggers = append(t.Triggers, tr)
	return err
}

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/ident"
)

// sqlLax is for definitions. Others' scripts are of all times: some declare zero dates, and
// indexes that a strict server would cut.
const sqlLax = "SET SESSION sql_mode = ''"

// sqlStrict refuses a value that does not fit; foreign keys are looked at when all rows are there.
const sqlStrict = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0"

// load makes an empty database with the tables of a script.
func load(ctx context.Context, server *devdb.Server, name string, definitions []string) (db *sql.DB, err error) {
	if err := errors.Join(server.DropDatabase(ctx, name), server.CreateDatabase(ctx, name)); err != nil {
		return nil, err
	}
	if db, err = sql.Open("mysql", server.DSN(name)); err != nil {
		return nil, err
	}
	err = alone(ctx, db, sqlLax, func(conn *sql.Conn) error {
		if server.Engine() == devdb.MySQL { // foreign keys to columns that are not unique, which others' scripts have
			if _, err := conn.ExecContext(ctx, "SET SESSION restrict_fk_on_non_standard_key = OFF"); err != nil {
				return err
			}
		}
		for _, s := range definitions {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%w in %.300s", err, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// alone runs something on a session of its own, which nobody has afterwards.
func alone(ctx context.Context, db *sql.DB, set string, do func(*sql.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if raw := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(raw, driver.ErrBadConn) {
			err = errors.Join(err, raw)
		}
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	if _, err := conn.ExecContext(ctx, set); err != nil {
		return err
	}
	return do(conn)
}

// insert writes the catalog's rows.
func (c *contents) insert(ctx context.Context, db *sql.DB) error {
	return alone(ctx, db, sqlStrict, func(conn *sql.Conn) error {
		for _, t := range c.tables {
			var names, marks []string
			for _, col := range t.columns {
				if !col.computed {
					names, marks = append(names, col.name), append(marks, "?")
				}
			}
			one := "(" + strings.Join(marks, ", ") + ")"
			for at := 0; at < len(t.rows); at += 50 {
				part := t.rows[at:min(at+50, len(t.rows))]
				var args []any
				for _, r := range part {
					for _, name := range names {
						args = append(args, r[name])
					}
				}
				query := "INSERT INTO " + ident.Quote(t.name) + " (" + ident.Quotes(names...) + ") VALUES " + one + strings.Repeat(", "+one, len(part)-1) //nolint:gosec // quoted names and question marks
				if _, err := conn.ExecContext(ctx, query, args...); err != nil {
					return fmt.Errorf("insert into %s: %w", t.name, err)
				}
			}
		}
		return nil
	})
}

// proven asks the server whether each reference of the rows is to a row that is there: they were written
// without a look at that.
func (c *contents) proven(ctx context.Context, db *sql.DB) error {
	for _, k := range c.keys {
		var on, set []string
		for i := range k.Columns {
			on = append(on, "p."+ident.Quote(k.References[i])+" = c."+ident.Quote(k.Columns[i]))
			set = append(set, "c."+ident.Quote(k.Columns[i])+" IS NOT NULL")
		}
		query := "SELECT COUNT(*) FROM " + ident.Quote(k.Child) + " AS c WHERE " + strings.Join(set, " AND ") + //nolint:gosec // quoted names
			" AND NOT EXISTS (SELECT 1 FROM " + ident.Quote(k.Parent) + " AS p WHERE " + strings.Join(on, " AND ") + ")"
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil || n > 0 {
			return errors.Join(fmt.Errorf("%d rows of %s %q refer to no %s", n, k.Child, k.Columns, k.Parent), err)
		}
	}
	return nil
}

// hide drops all foreign keys, and keeps their indexes.
func hide(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND constraint_type = 'FOREIGN KEY'")
	if err != nil {
		return err
	}
	drop := map[string][]string{}
	for rows.Next() {
		var table, name string
		if err := rows.Scan(&table, &name); err != nil {
			return errors.Join(err, rows.Close())
		}
		drop[table] = append(drop[table], "DROP FOREIGN KEY "+ident.Quote(name))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for table, drops := range drop {
		if _, err := db.ExecContext(ctx, "ALTER TABLE "+ident.Quote(table)+" "+strings.Join(drops, ", ")); err != nil {
			return err
		}
	}
	return nil
}

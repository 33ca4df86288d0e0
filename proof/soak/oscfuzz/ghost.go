package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// ghost is a change of one table that ends as gh-ost does.
type ghost struct {
	*changer
	table, copy, old string
	shared, key      []string // columns of both, of the primary key
	triggers         bool
}

// tries is how often a cut-over is tried. The last ones are not disturbed.
const (
	tries     = 12
	disturbed = 5
)

// ghost makes the copy, fills it while others write, and exchanges the tables.
func (d *changer) ghost(ctx context.Context, table, alter string, triggers bool) error {
	g := &ghost{changer: d, table: table, copy: "_" + table + copySuffix, old: "_" + table + "_del", triggers: triggers}
	err := d.patient(ctx, func() error { return g.begin(ctx, alter) })
	if err == nil {
		err = g.fill(ctx)
	}
	if err == nil {
		err = g.cutOver(ctx)
	}
	if err == nil {
		err = d.patient(ctx, func() error { return execAll(ctx, d.admin, "DROP TABLE IF EXISTS "+ident.Quotes(g.old)) })
	}
	if err == nil {
		d.count("ghost", nil)
	}
	return err
}

// begin makes the copy, and the triggers.
func (g *ghost) begin(ctx context.Context, alter string) error {
	t, c := ident.Quote(g.table), ident.Quote(g.copy)
	err := execAll(ctx, g.admin, "DROP TABLE IF EXISTS "+c, "CREATE TABLE "+c+" LIKE "+t, "ALTER TABLE "+c+" "+alter)
	if err == nil {
		g.shared, err = g.names(ctx, `SELECT a.column_name FROM information_schema.columns AS a JOIN information_schema.columns AS b
ON b.table_schema = a.table_schema AND b.column_name = a.column_name AND b.table_name = ? WHERE a.table_schema = DATABASE() AND a.table_name = ? ORDER BY a.ordinal_position`, g.copy, g.table)
	}
	if err == nil {
		g.key, err = g.names(ctx, `SELECT column_name FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND table_name = ? AND constraint_name = 'PRIMARY' ORDER BY ordinal_position`, g.table)
	}
	if err != nil || !g.triggers {
		return err
	}
	replace := "REPLACE INTO " + c + " (" + ident.Quotes(g.shared...) + ") VALUES (NEW." + strings.Join(quoted(g.shared), ", NEW.") + ")"
	remove := "DELETE FROM " + c + " WHERE " + g.same(c, "OLD")
	for event, body := range map[string]string{"INSERT": replace, "UPDATE": "BEGIN IF NOT (" + g.same("NEW", "OLD") + ") THEN " + remove + "; END IF; " + replace + "; END", "DELETE": remove} {
		name := ident.Quote("gho_" + strings.ToLower(event))
		if err := execAll(ctx, g.admin, "DROP TRIGGER IF EXISTS "+name, "CREATE TRIGGER "+name+" AFTER "+event+" ON "+t+" FOR EACH ROW "+body); err != nil {
			return err
		}
	}
	return g.seen(ctx, g.table)
}

func quoted(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = ident.Quote(name)
	}
	return all
}

// same compares the keys of a and b.
func (g *ghost) same(a, b string) string {
	all := make([]string, len(g.key))
	for i, k := range quoted(g.key) {
		all[i] = a + "." + k + " = " + b + "." + k
	}
	return strings.Join(all, " AND ")
}

// fill copies chunk after chunk, of which there are a hundred at most, lest the offsets take all the time.
// Rows that change behind it are for the triggers, or for catchUp.
func (g *ghost) fill(ctx context.Context) error {
	var rows int
	if err := g.admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+ident.Quote(g.table)).Scan(&rows); err != nil {
		return err //nolint:wrapcheck // it is looked at
	}
	columns, key, size := ident.Quotes(g.shared...), ident.Quotes(g.key...), max(40+g.r.IntN(200), rows/50)
	for at := 0; ; at += size / 2 { // chunks overlap, for rows go meanwhile
		var n int64
		err := g.patient(ctx, func() error {
			//nolint:gosec // quoted
			if err := g.admin.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM %s ORDER BY %s LIMIT %d OFFSET %d) AS c", ident.Quote(g.table), key, size, at)).Scan(&n); err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
			return execAll(ctx, g.admin, fmt.Sprintf("INSERT IGNORE INTO %s (%s) SELECT %s FROM %s ORDER BY %s LIMIT %d OFFSET %d LOCK IN SHARE MODE",
				ident.Quote(g.copy), columns, columns, ident.Quote(g.table), key, size, at))
		})
		if err != nil || n == 0 {
			return err
		}
		fuzz.Pause(ctx, time.Duration(g.r.IntN(5))*time.Millisecond)
	}
}

// catchUp makes the copy equal, while the session that has the locks keeps all writers away.
func (g *ghost) catchUp(ctx context.Context, lock *sql.Conn) error {
	t, c, columns := ident.Quote(g.table), ident.Quote(g.copy), ident.Quotes(g.shared...)
	var name, table string
	if g.triggers { // but for rows that went between a chunk's two ends, they have all
		for _, query := range []string{
			"DELETE " + c + " FROM " + c + " LEFT JOIN " + t + " ON " + g.same(t, c) + " WHERE " + t + "." + ident.Quote(g.key[0]) + " IS NULL",
			"INSERT IGNORE INTO " + c + " (" + columns + ") SELECT " + columns + " FROM " + t,
		} {
			if _, err := lock.ExecContext(ctx, query); err != nil {
				return fmt.Errorf("soak: %w: %s", err, query)
			}
		}
	} else if err := g.transfer(ctx, lock); err != nil {
		return err
	}
	if err := lock.QueryRowContext(ctx, "SHOW CREATE TABLE "+t).Scan(&name, &table); err != nil {
		return err //nolint:wrapcheck // it is looked at
	}
	if _, rest, numbered := strings.Cut(table, " AUTO_INCREMENT="); numbered {
		number, _, _ := strings.Cut(rest, " ")
		query := "ALTER TABLE " + c + " AUTO_INCREMENT = " + number //nolint:gosec // quoted
		if !g.triggers {                                            // the copy is not locked
			return execAll(ctx, g.admin, query)
		}
		_, err := lock.ExecContext(ctx, query)
		return err //nolint:wrapcheck // it is looked at
	}
	return nil
}

// transfer reads the table in the session that has locked it, and writes the copy in another one, as gh-ost
// does: were the copy locked too, RENAME would wait for it, not for the table, and writers would go first.
func (g *ghost) transfer(ctx context.Context, lock *sql.Conn) error {
	values := "QUOTE(" + strings.Join(quoted(g.shared), "), QUOTE(") + ")"
	rows, err := lock.QueryContext(ctx, "SELECT CONCAT('(', CONCAT_WS(', ', "+values+"), ')') FROM "+ident.Quote(g.table)) //nolint:gosec // quoted
	if err != nil {
		return err //nolint:wrapcheck // it is looked at
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		all = append(all, text)
	}
	if err = rows.Err(); err == nil {
		err = execAll(ctx, g.admin, "DELETE FROM "+ident.Quote(g.copy))
	}
	for part := range slices.Chunk(all, 200) {
		if err == nil {
			err = execAll(ctx, g.admin, "INSERT INTO "+ident.Quote(g.copy)+" ("+ident.Quotes(g.shared...)+") VALUES "+strings.Join(part, ", "))
		}
	}
	return err
}

// cutOver exchanges the tables, and tries again where that is aborted.
func (g *ghost) cutOver(ctx context.Context) error {
	var last error
	for n := range tries {
		done, err := g.cut(ctx, n < disturbed && g.r.IntN(2) == 0)
		if done {
			return err
		}
		g.count("cut-over", fmt.Errorf("aborted: %w", err))
		last = err
		if err := g.patient(ctx, func() error { return execAll(ctx, g.admin, "DROP TABLE IF EXISTS "+ident.Quote(g.old)) }); err != nil {
			return err
		}
		fuzz.Pause(ctx, time.Duration(g.r.IntN(300))*time.Millisecond)
	}
	return last
}

var errAbort = errors.New("as drawn")

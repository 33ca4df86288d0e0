package retentionfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema/catalog"
)

// What the witness notes of a row, of the begin of a job, and of a turn of a policy.
const (
	born   = "born"
	wrote  = "wrote"
	gone   = "gone"
	looked = "looked"
	turned = "turned"
)

// witness is written by triggers, so in the transaction of whoever does something, while it holds the row:
// its numbers are in the order in which things happened to a row.
const witness = `CREATE TABLE witness (seq BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(8) NOT NULL, name VARCHAR(64) NOT NULL,
  id BIGINT NOT NULL, version BIGINT NOT NULL, began DECIMAL(20, 6) NULL, at DATETIME(6) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`

func (t table) ddl() []string {
	all := []string{fmt.Sprintf("CREATE TABLE %s (%s id BIGINT NOT NULL, version BIGINT NOT NULL, leaves INT NOT NULL, at %s NULL, PRIMARY KEY (%s), KEY at (at)) ENGINE=InnoDB",
		t.name, map[bool]string{true: "host VARCHAR(9) NOT NULL,"}[t.two], t.column, strings.Join(t.key(), ", "))}
	if t.below {
		all = append(all, fmt.Sprintf("CREATE TABLE %s (id BIGINT PRIMARY KEY AUTO_INCREMENT, up BIGINT NOT NULL, KEY up (up)) ENGINE=InnoDB", t.leaf()))
	}
	return all
}

func (t table) triggers() (all []string) {
	for what, c := range map[string][2]string{born: {"INSERT", "NEW"}, wrote: {"UPDATE", "NEW"}, gone: {"DELETE", "OLD"}} {
		began := "NULL"
		if t.isTimestamp() {
			began = "UNIX_TIMESTAMP(" + c[1] + ".at)"
		}
		all = append(all, fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %[1]s FOR EACH ROW INSERT INTO witness (what, name, id, version, began, at) VALUES ('%[2]s', '%[1]s', %[4]s.id, %[4]s.version, %[5]s, UTC_TIMESTAMP(6))",
			t.name, what, c[0], c[1], began))
	}
	return all
}

// ownTriggers note when a job has looked at its row, and when a policy has taken its turn.
var ownTriggers = []string{
	"CREATE TRIGGER began AFTER INSERT ON onerow_job_plan FOR EACH ROW INSERT INTO witness (what, name, id, version, at) VALUES ('" + looked + "', '', NEW.job_id, 0, UTC_TIMESTAMP(6))",
	"CREATE TRIGGER turn AFTER UPDATE ON onerow_retention FOR EACH ROW INSERT INTO witness (what, name, id, version, at) SELECT '" + turned + "', CONVERT(NEW.resource USING utf8mb4), 0, 0, UTC_TIMESTAMP(6) FROM DUAL WHERE NEW.next_at <> OLD.next_at",
}

// setUp makes the tables, the triggers and the rows.
func (w *world) setUp(ctx context.Context, db *sql.DB, r *rand.Rand) error {
	if err := migrations.Up(ctx, db); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	ddl := append([]string{witness}, ownTriggers...)
	for _, t := range w.tables {
		ddl = append(ddl, t.ddl()...)
	}
	if err := execAll(ctx, db, ddl); err != nil {
		return err
	}
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if ddl, err = cat.TrashDDL(w.plan()); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, t := range w.tables {
		ddl = append(ddl, t.triggers()...)
	}
	if err := execAll(ctx, db, ddl); err != nil {
		return err
	}
	for i := range w.tables {
		if err := w.fill(ctx, db, i, r); err != nil {
			return err
		}
	}
	return w.undated(ctx, db)
}

func execAll(ctx context.Context, db *sql.DB, queries []string) error {
	for _, query := range queries {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	return nil
}

// fillPage is how many rows are inserted at once.
const fillPage = 500

// fill makes the rows of a table in a session of UTC.
func (w *world) fill(ctx context.Context, db *sql.DB, n int, r *rand.Rand) error {
	t := w.tables[n]
	for left := w.rows / len(w.tables); left > 0; left -= fillPage {
		var rows, leaves []string
		for range min(left, fillPage) {
			id := w.ids[n].Add(1)
			at := w.age(t, r)
			text, below := "NULL", 0
			if !at.IsZero() {
				text = "'" + w.reading(t, at, time.UTC) + "'"
			}
			if t.below {
				below = r.IntN(3)
			}
			version := w.book.next(entry{table: n, id: id, op: born, began: at})
			w.book.tell(version, done)
			row := fmt.Sprintf("(%d, %d, %d, %s)", id, version, below, text)
			if t.two {
				row = "('" + host(id) + "', " + row[1:]
			}
			rows = append(rows, row)
			for range below {
				leaves = append(leaves, fmt.Sprintf("(%d)", id))
			}
		}
		queries := []string{"INSERT INTO " + t.name + " (" + strings.Join(append(t.key(), "version", "leaves", "at"), ", ") + ") VALUES " + strings.Join(rows, ", ")}
		if len(leaves) > 0 {
			queries = append(queries, "INSERT INTO "+t.leaf()+" (up) VALUES "+strings.Join(leaves, ", "))
		}
		if err := execAll(ctx, db, queries); err != nil {
			return err
		}
	}
	return nil
}

// age draws when a row's age begins: so that it is due around one of the changes; 2 in a hundred never are,
// 2 in a hundred years later.
func (w *world) age(t table, r *rand.Rand) time.Time {
	switch r.IntN(50) {
	case 0:
		return time.Time{}
	case 1:
		return w.fits(t, time.Date(2036, 1, 1, 0, 0, r.IntN(1e6), 0, time.UTC))
	}
	due := w.changes[r.IntN(2)].Add(time.Duration(r.Int64N(int64(210*time.Minute))) - 110*time.Minute)
	return w.fits(t, due.Add(-t.keep))
}

// undated makes rows whose date nobody knows, which are never due.
func (w *world) undated(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET SESSION sql_mode = ''"); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	for n, t := range w.tables {
		if t.isTimestamp() {
			continue
		}
		for _, text := range []string{"0000-00-00", "2020-00-10", "2020-10-00"} {
			id := w.ids[n].Add(1)
			version := w.book.next(entry{table: n, id: id, op: born})
			if _, err := conn.ExecContext(ctx, "INSERT INTO "+t.name+" (id, version, leaves, at) VALUES (?, ?, 0, ?)", id, version, text); err != nil { //nolint:gosec // our own names
				return fmt.Errorf("soak: %w", err)
			}
			w.book.tell(version, done)
		}
	}
	return nil
}

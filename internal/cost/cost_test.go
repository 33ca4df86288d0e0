package cost_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func filled(t *testing.T, rows int) string {
	dsn := dbtest.DSN(t, dbtest.Isolation(sql.LevelRepeatableRead))
	db := dbtest.OpenDSN(t, dsn)
	for _, query := range []string{
		"CREATE TABLE item (id INT PRIMARY KEY, k INT NOT NULL, n INT NOT NULL, KEY (k)) ENGINE=InnoDB",
		"INSERT INTO item " + cost.Numbers(rows) + "SELECT i, i DIV 2, i FROM numbers",
		"ANALYZE TABLE item",
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	return dsn
}

// recorder is a test that fails without failing.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// TestFlat: what goes by an index is flat, what scans or locks the table is not, in a transaction and outside
// of one.
func TestFlat(t *testing.T) {
	few, many := filled(t, 1000), filled(t, 3000)
	for _, c := range []struct {
		query        string
		flat         bool
		read, locked int64 // at least, at most twice as much
	}{
		{"SELECT n FROM item WHERE id = ?", true, 1, 0},
		{"UPDATE item SET n = n + 1 WHERE id = ?", true, 1, 1},
		{"SELECT n FROM item WHERE k = ? FOR UPDATE", true, 2, 3},
		{"SELECT n FROM item WHERE n = ?", false, 3000, 0},
		{"DELETE FROM item WHERE n = -?", false, 3000, 3000},
	} {
		for name, call := range map[string]func(ctx context.Context, db *sql.DB) error{
			"alone": func(ctx context.Context, db *sql.DB) error { return send(ctx, db, c.query) },
			"in a transaction": func(ctx context.Context, db *sql.DB) error {
				return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return send(ctx, tx, c.query) })
			},
		} {
			t.Run(name+": "+c.query, func(t *testing.T) {
				r := &recorder{TB: t}
				got := cost.Flat(r, few, many, call)
				if (len(r.said) == 0) != c.flat {
					t.Errorf("flat should be %v: %q", c.flat, r.said)
				}
				if len(got) != 1 || got[0].Read < c.read || got[0].Read > 2*c.read+2 || got[0].Locked < c.locked || got[0].Locked > 2*c.locked+2 {
					t.Errorf("%v, want %d read and %d locked", got, c.read, c.locked)
				}
			})
		}
	}
}

func send(ctx context.Context, db onerow.DB, query string) error {
	if query[0] != 'S' {
		_, err := db.ExecContext(ctx, query, 7)
		return err
	}
	return onerow.Query(ctx, db, query, []any{7}, func(*sql.Rows) error { return nil })
}

package catalog

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestTablesOfOthers: Read opens each table of the server's other schemas once at most, which is what takes
// long where there are thousands and the server has them on disk only. The server is one of its own, for
// nobody else may open tables, and keeps few of them open.
func TestTablesOfOthers(t *testing.T) {
	t.Parallel()
	server, err := devdb.Start(t.Context(), devdb.Options{Private: true, Args: []string{"--table-open-cache=10"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	dbs := map[string]*sql.DB{}
	for _, name := range []string{"ours", "other"} {
		if err := server.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		dbs[name] = dbtest.OpenDSN(t, server.DSN(name))
	}
	ours, other := dbs["ours"], dbs["other"]
	dbtest.Exec(t, ours, "CREATE TABLE p (id INT PRIMARY KEY) ENGINE=InnoDB")
	before := opens(t, ours)
	const tables = 100
	for n := range tables {
		dbtest.Exec(t, other, fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY, q INT, FOREIGN KEY (q) REFERENCES t%d (id)) ENGINE=InnoDB", n, n))
	}
	if more := opens(t, ours) - before; more > tables {
		t.Errorf("%d tables of another schema were opened %d times", tables, more)
	}
	dbtest.Exec(t, other, "ALTER TABLE t7 ADD COLUMN p INT, ADD CONSTRAINT beyond FOREIGN KEY (p) REFERENCES ours.p (id) ON DELETE CASCADE")
	cat, err := Read(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	if f := cat.found.Foreign; len(f) != 1 || f[0].Schema != "other" || f[0].Table != "t7" || f[0].OnDelete != "CASCADE" || f[0].Columns[0] != "p" || f[0].To != "p" {
		t.Errorf("what refers to a table from another schema: %+v", f)
	}
}

// opens is how many tables an Read opens that finds none open.
func opens(t *testing.T, db *sql.DB) int64 {
	t.Helper()
	count := func() (n int64) {
		var name string
		if err := onerow.QueryRow(t.Context(), db, "SHOW GLOBAL STATUS LIKE 'Opened_tables'", nil, &name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	dbtest.Exec(t, db, "FLUSH TABLES")
	was := count()
	if _, err := Read(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return count() - was
}

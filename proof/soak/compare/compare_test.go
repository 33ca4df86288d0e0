package compare_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/proof/soak/compare"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestDiffer: a row, a value, NULL for an empty text, and a table that only one server has are seen.
func TestDiffer(t *testing.T) {
	a, b := dbtest.Open(t), dbtest.Open(t)
	both := []*sql.DB{a, b}
	if _, err := compare.Differ(t.Context(), both, 0); err == nil {
		t.Error("no tables are not the same tables")
	}
	for _, db := range both {
		dbtest.Exec(t, db, "CREATE TABLE x (id INT NOT NULL PRIMARY KEY, v VARCHAR(9)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "CREATE TABLE y (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
		dbtest.Exec(t, db, "INSERT INTO x VALUES (1, '')")
	}
	expect := func(want string) {
		t.Helper()
		differ, err := compare.Differ(t.Context(), both, 0)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(differ, "; "); !strings.Contains(text, want) || (want == "") != (text == "") {
			t.Errorf("%q, want %q", text, want)
		}
	}
	expect("")
	for _, change := range [][2]string{
		{"INSERT INTO x VALUES (2, 'b')", "DELETE FROM x WHERE id = 2"},
		{"UPDATE x SET v = 'c'", "UPDATE x SET v = ''"},
		{"UPDATE x SET v = NULL", "UPDATE x SET v = ''"},
	} {
		dbtest.Exec(t, b, change[0])
		expect("table x has the checksums")
		dbtest.Exec(t, b, change[1])
		expect("")
	}
	dbtest.Exec(t, b, "DROP TABLE y")
	expect("servers 0 and 1 have other tables: [x y], [x]")
}

// TestDifferWaits: what is being applied is waited for.
func TestDifferWaits(t *testing.T) {
	a, b := dbtest.Open(t), dbtest.Open(t)
	for _, db := range []*sql.DB{a, b} {
		dbtest.Exec(t, db, "CREATE TABLE x (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
	}
	dbtest.Exec(t, a, "INSERT INTO x VALUES (1)")
	applied := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, err := b.ExecContext(t.Context(), "INSERT INTO x VALUES (1)")
		applied <- err
	}()
	differ, err := compare.Differ(t.Context(), []*sql.DB{a, b}, time.Minute)
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	if err != nil || len(differ) > 0 {
		t.Errorf("%v, %v", differ, err)
	}
}

// TestDump: a row is a line, and NULL is no text.
func TestDump(t *testing.T) {
	db, dir := dbtest.Open(t), filepath.Join(t.TempDir(), "node0")
	dbtest.Exec(t, db, "CREATE TABLE x (id INT NOT NULL PRIMARY KEY, v VARCHAR(9)) ENGINE=InnoDB")
	dbtest.Exec(t, db, `INSERT INTO x VALUES (1, 'a'), (2, NULL)`)
	if err := compare.Dump(t.Context(), db, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "x"))
	if want := "id=\"1\" v=\"a\" \nid=\"2\" v=NULL \n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

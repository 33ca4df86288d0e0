package dbtest_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestFreshSchemas(t *testing.T) {
	a, b := dbtest.Open(t), dbtest.Open(t)
	nameA, nameB := dbtest.Scan[string](t, a, "SELECT DATABASE()"), dbtest.Scan[string](t, b, "SELECT DATABASE()")
	if nameA == nameB || !strings.HasPrefix(nameA, "onerow_t_") {
		t.Errorf("schemas %q and %q", nameA, nameB)
	}
	var gone string
	t.Run("sub", func(t *testing.T) { gone = dbtest.Scan[string](t, dbtest.Open(t), "SELECT DATABASE()") })
	if n := dbtest.Scan[int](t, a, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", gone); n != 0 {
		t.Errorf("%s stays after its test", gone)
	}
}

func TestIsolation(t *testing.T) {
	variable := "@@" + dbtest.Server(t).IsolationVariable()
	for level, want := range map[sql.IsolationLevel]string{
		sql.LevelDefault:         "READ-COMMITTED",
		sql.LevelReadUncommitted: "READ-UNCOMMITTED",
		sql.LevelReadCommitted:   "READ-COMMITTED",
		sql.LevelRepeatableRead:  "REPEATABLE-READ",
		sql.LevelSerializable:    "SERIALIZABLE",
	} {
		if got := dbtest.Scan[string](t, dbtest.Open(t, dbtest.Isolation(level)), "SELECT "+variable); got != want {
			t.Errorf("%v: got %s, want %s", level, got, want)
		}
	}
}

func TestParams(t *testing.T) {
	db := dbtest.Open(t, dbtest.Param("clientFoundRows", "true"), dbtest.Param("parseTime", "false"),
		dbtest.Param("interpolateParams", "false"), dbtest.Param("time_zone", "%27%2B03%3A00%27"))
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (id INT PRIMARY KEY, at DATETIME NULL)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (1, '2026-01-02 03:04:05')"); err != nil {
		t.Fatal(err)
	}
	res, err := db.ExecContext(t.Context(), "UPDATE t SET at = at WHERE id = ?", 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		t.Errorf("clientFoundRows is off: %d, %v", n, err)
	}
	if at, ok := dbtest.Scan[any](t, db, "SELECT at FROM t").([]byte); !ok || string(at) != "2026-01-02 03:04:05" {
		t.Errorf("parseTime is on: %q", at)
	}
	if zone := dbtest.Scan[string](t, db, "SELECT @@time_zone"); zone != "+03:00" {
		t.Errorf("time zone %s", zone)
	}
}

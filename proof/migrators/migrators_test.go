package migrators

import (
	"database/sql"
	"errors"
	"testing"
	"testing/fstest"

	atlas "ariga.io/atlas/sql/migrate"
	atlasdriver "ariga.io/atlas/sql/mysql"
	"github.com/golang-migrate/migrate/v4"
	driver "github.com/golang-migrate/migrate/v4/database/mysql"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// files are a folder of migrations, as another tool names them: the application's own are before and behind.
func files(t *testing.T, before, up, down, behind string) fstest.MapFS {
	t.Helper()
	makes, drops, err := migrations.SQL()
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{
		before: {Data: []byte("-- +goose Up\nCREATE TABLE own (id INT PRIMARY KEY);\n")},
		up:     {Data: []byte(makes)},
		behind: {Data: []byte("-- +goose Up\nALTER TABLE own ADD COLUMN name VARCHAR(20);\n")},
	}
	if down != "" {
		all[down] = &fstest.MapFile{Data: []byte(drops)}
	}
	return all
}

// applied demands that the toolkit finds its tables, and that there is nothing to do for its own migrations.
func applied(t *testing.T, db *sql.DB) {
	t.Helper()
	all, err := migrations.Status(t.Context(), db)
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, m := range all {
		if !m.Applied {
			t.Errorf("%s is not applied", m.Name)
		}
	}
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Error(err)
	}
	dbtest.Exec(t, db, "SELECT id, name FROM own")
	dbtest.Exec(t, db, "SELECT id FROM onerow_job")
}

func TestGoose(t *testing.T) {
	db := dbtest.Open(t)
	p, err := goose.NewProvider(goose.DialectMySQL, db, files(t, "00001_own.sql", "00002_onerow.sql", "", "00003_own.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := p.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	applied(t, db)
}

func TestGolangMigrate(t *testing.T) {
	dsn := dbtest.DSN(t, dbtest.Param("multiStatements", "true")) // as its users need for files of several statements
	source, err := iofs.New(files(t, "1_own.up.sql", "2_onerow.up.sql", "2_onerow.down.sql", "3_own.up.sql"), ".")
	if err != nil {
		t.Fatal(err)
	}
	target, err := driver.WithInstance(dbtest.OpenDSN(t, dsn), &driver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.NewWithInstance("files", source, "mysql", target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(m.Close()); err != nil {
			t.Error(err)
		}
	}()
	if err := m.Up(); err != nil {
		t.Fatal(err)
	}
	if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
		t.Errorf("again: %v", err)
	}
	db := dbtest.OpenDSN(t, dsn)
	applied(t, db)
	if err := m.Force(2); err != nil {
		t.Fatal(err)
	}
	if err := m.Steps(-1); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'onerow%'"); n != 0 {
		t.Errorf("%d tables are left", n)
	}
}

// TestAtlas: the library of atlas keeps the files in its directory with their sums, and its executor runs them.
func TestAtlas(t *testing.T) {
	dir, err := atlas.NewLocalDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range files(t, "1_own.sql", "2_onerow.sql", "", "3_own.sql") {
		if err := dir.WriteFile(name, file.Data); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dir.Checksum()
	if err == nil {
		err = atlas.WriteSumFile(dir, sum)
	}
	if err == nil {
		err = atlas.Validate(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	db := dbtest.Open(t)
	drv, err := atlasdriver.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	executor, err := atlas.NewExecutor(drv, dir, atlas.NopRevisionReadWriter{}, atlas.WithAllowDirty(true))
	if err == nil {
		err = executor.ExecuteN(t.Context(), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	applied(t, db)
}

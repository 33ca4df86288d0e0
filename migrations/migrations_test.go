package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestFiles: every statement may run twice, and what is made is removed, the last table first.
func TestFiles(t *testing.T) {
	files, err := fs.Glob(FS, "*.sql")
	if err != nil || len(files) == 0 || len(toolkit.made) < 30 {
		t.Fatalf("%q, %q, %v", files, toolkit.made, err)
	}
	for i, file := range files {
		text, err := FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(file, fmt.Sprintf("%05d_", i+1)) || !strings.HasPrefix(string(text), "-- +goose NO TRANSACTION\n") {
			t.Errorf("%s: a number without a gap, and NO TRANSACTION first", file)
		}
		for verb, guarded := range map[string]string{"CREATE TABLE ": "CREATE TABLE IF NOT EXISTS onerow_", "DROP TABLE ": "DROP TABLE IF EXISTS onerow_"} {
			if a, b := strings.Count(string(text), verb), strings.Count(string(text), guarded); a != b || a == 0 {
				t.Errorf("%s: %d times %q, %d of them guarded and ours", file, a, verb, b)
			}
		}
		up, down, _ := strings.Cut(string(text), "\n-- +goose Down\n")
		made, dropped := named(`CREATE TABLE IF NOT EXISTS (\w+)`, up), named(`DROP TABLE IF EXISTS (\w+);`, down)
		slices.Reverse(dropped)
		if !slices.Equal(made, dropped) {
			t.Errorf("%s: it makes\n%q, and from its end Down drops\n%q", file, made, dropped)
		}
	}
}

func named(pattern, text string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestUpAndDown: both twice, on one connection, with the driver's settings that are most in the way.
func TestUpAndDown(t *testing.T) {
	for name, s := range subjects {
		for _, setting := range []string{"parseTime=true", "parseTime=false", "interpolateParams=false", "clientFoundRows=true", "loc=Asia%2FTokyo"} {
			t.Run(name+" "+setting, func(t *testing.T) {
				key, value, _ := strings.Cut(setting, "=")
				s.upAndDown(t, dbtest.Open(t, dbtest.Param(key, value)))
			})
		}
	}
}

func (s subject) upAndDown(t *testing.T, db *sql.DB) {
	db.SetMaxOpenConns(1)
	ctx := t.Context()

	list, err := s.status(ctx, db)
	if err != nil || len(list) != s.last() || list[0].Applied {
		t.Fatalf("status of an empty database: %+v, %v", list, err)
	}
	if got := tables(t, db); len(got) != 0 {
		t.Fatalf("Status made tables: %q", got)
	}
	for range 2 {
		if err := s.up(ctx, db); err != nil {
			t.Fatal(err)
		}
		s.wantMigrated(t, db)
	}
	list, err = s.status(ctx, db)
	if err != nil || len(list) != s.last() {
		t.Fatal(list, err)
	}
	for i, m := range list {
		var age int64
		if err := db.QueryRowContext(ctx, `SELECT UNIX_TIMESTAMP() - ?`, m.AppliedAt.Unix()).Scan(&age); err != nil {
			t.Fatal(err)
		}
		if m.Version != int64(i+1) || !m.Applied || age < 0 || age > 120 || !strings.HasSuffix(m.Name, ".sql") {
			t.Errorf("status %d: %+v, %d s old", i, m, age)
		}
	}
	p, err := New(db, s.files, s.table)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Status(ctx); err != nil || len(status) != len(list) || status[s.last()-1].State != goose.StateApplied {
		t.Fatalf("goose's own status: %v, %v", status, err)
	}
	for range 2 {
		if err := s.down(ctx, db); err != nil {
			t.Fatal(err)
		}
		s.wantTables(t, db, nil)
	}
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	s.wantMigrated(t, db)
}

// TestOneByOne: one version up, and one down, each seen by Status.
func TestOneByOne(t *testing.T) {
	s, db, ctx := application, dbtest.Open(t), t.Context()
	p, err := New(db, s.files, s.table)
	if err != nil {
		t.Fatal(err)
	}
	want := func(n int) {
		t.Helper()
		s.wantTables(t, db, s.upTo(n))
		list, err := s.status(ctx, db)
		if err != nil || len(list) != s.last() {
			t.Fatal(list, err)
		}
		for i, m := range list {
			if applied := i < n; m.Applied != applied || m.AppliedAt.IsZero() == applied {
				t.Fatalf("with %d of them: %+v", n, list)
			}
		}
	}
	for n := range s.last() {
		if _, err := p.UpByOne(ctx); err != nil {
			t.Fatal(err)
		}
		want(n + 1)
	}
	for n := range s.last() {
		if _, err := p.Down(ctx); err != nil {
			t.Fatal(err)
		}
		want(s.last() - n - 1)
	}
}

// TestUpInParallel: from eight pools at once, with the lock and without it, as on a server that has none.
// There a server may refuse DDL of one table that is sent twice at once (1213), which is run again.
func TestUpInParallel(t *testing.T) {
	for name, s := range subjects {
		for _, off := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s off=%v", name, off), func(t *testing.T) {
				for range 5 {
					dsn := dbtest.DSN(t)
					errs := make(chan error, 8)
					var start, done sync.WaitGroup
					start.Add(1)
					for range cap(errs) {
						db := dbtest.OpenDSN(t, dsn)
						done.Go(func() {
							start.Wait()
							errs <- apply(t.Context(), db, s.files, s.table, sessionLock{off: off})
						})
					}
					start.Done()
					done.Wait()
					for range cap(errs) {
						if err := <-errs; err != nil {
							t.Error(err)
						}
					}
					s.wantMigrated(t, dbtest.OpenDSN(t, dsn))
				}
			})
		}
	}
}

// TestUpSurvivesFaults: cut, killed and refused at every statement and called again. One migration of one
// table is enough, they are all applied in the same way. Its table stays between the runs, as after an Up
// whose version row was lost; that tables are made as well is TestAfterACut.
func TestUpSurvivesFaults(t *testing.T) {
	one := fstest.MapFS{"00001_note.sql": {
		Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS note (id INT PRIMARY KEY) ENGINE=InnoDB;\n"),
	}}
	up := func(ctx context.Context, db *sql.DB) error {
		p, err := provider(db, one, TableName, sessionLock{})
		if err == nil {
			_, err = p.Up(ctx)
		}
		return err
	}
	dsn := dbtest.DSN(t)
	if err := up(t.Context(), dbtest.OpenDSN(t, dsn)); err != nil {
		t.Fatal(err)
	}
	report := crashtest.Run(t, crashtest.Workflow{
		DSN: dsn,
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, `DROP TABLE IF EXISTS onerow_goose_version`)
			return err
		},
		Call:   up,
		Tables: []string{"note"}, // Check looks at the one that comes and goes
		Check: func(_ context.Context, db *sql.DB) error {
			if got := versions(t, db, TableName); got != "0,1" {
				return fmt.Errorf("versions %s", got)
			}
			return nil
		},
	})
	if report.FaultPoints < 90 {
		t.Errorf("only %d fault points", report.FaultPoints)
	}
}

// TestAfterACut: DDL commits by itself, so a process that ends within an Up or a Down leaves some of the
// tables. Of the application's, a cut before and after each table.
func TestAfterACut(t *testing.T) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) {
			all := len(s.made)
			cuts := []int{0, 1, all / 2, all - 1, all}
			if name == "application" {
				cuts = nil
				for left := range all + 1 {
					cuts = append(cuts, left)
				}
			}
			db := dbtest.Open(t)
			for _, left := range cuts {
				s.afterACut(t, db, left)
			}
		})
	}
}

// afterACut cuts a Down, and then an Up, where that many tables are left.
func (s subject) afterACut(t *testing.T, db *sql.DB, left int) {
	ctx := t.Context()
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	// Down recorded what it finished, and nothing of the version whose table was its last.
	drop(t, db, s.made[left:])
	s.forget(t, db, s.of[min(left, len(s.of)-1)]+1)
	if err := s.down(ctx, db); err != nil {
		t.Fatalf("Down with %d tables: %v", left, err)
	}
	s.wantTables(t, db, nil)
	if got := versions(t, db, s.table); got != "0" {
		t.Fatalf("Down with %d tables left the versions %s", left, got)
	}
	// Up recorded nothing of the version whose table was its last, also where that has them all.
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	drop(t, db, s.made[left:])
	s.forget(t, db, s.of[max(left-1, 0)])
	if err := s.up(ctx, db); err != nil {
		t.Fatalf("Up with %d tables: %v", left, err)
	}
	s.wantMigrated(t, db)
	// Nothing is recorded, and one table is missing among the others.
	if left < len(s.made) {
		drop(t, db, s.made[left:left+1])
		s.forget(t, db, 1)
		if err := s.up(ctx, db); err != nil {
			t.Fatalf("Up without %s: %v", s.made[left], err)
		}
		s.wantMigrated(t, db)
	}
}

// TestUnlockFailed: a session that may still hold the lock does not go back into the pool, where it would
// hold it for as long as the process lives.
func TestUnlockFailed(t *testing.T) {
	db := dbtest.Open(t)
	ctx := t.Context()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		lock bool
	}{"the context has ended": {gone, true}, "the server says that it is not ours": {ctx, false}} {
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var session int64
		if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&session); err != nil {
			t.Fatal(err)
		}
		if c.lock {
			if err := (sessionLock{}).SessionLock(ctx, conn); err != nil {
				t.Fatal(err)
			}
		}
		if err := (sessionLock{}).SessionUnlock(c.ctx, conn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
			t.Errorf("%s: %v", name, err)
		}
		dbtest.Eventually(t, 10*time.Second, func() (bool, string) {
			var n int
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?", session).Scan(&n)
			return err == nil && n == 0, fmt.Sprintf("%s: the session is still there, %v", name, err)
		})
		if err := Up(ctx, db); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStatements: a start of the application where nothing is to be done costs three statements, however many
// versions there are.
func TestStatements(t *testing.T) {
	for name, s := range subjects {
		db, connector := racetest.Counted(t, dbtest.DSN(t))
		if err := s.up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		log, err := crashtest.Count(connector, func() error { return s.up(t.Context(), db) })
		if err != nil || len(log) != 3 {
			t.Fatalf("%s: %d statements, %v:\n%s", name, len(log), err, log)
		}
	}
}

// TestStore: the row of version 0 is made good, a version that was never applied is not found, and of several
// rows of one, which goose's own table may have, the last counts.
func TestStore(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	if err := Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "DELETE FROM "+TableName+" WHERE version_id = 0")
	if err := Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM "+TableName+" WHERE version_id = 0"); n != 1 {
		t.Errorf("%d rows of version 0", n)
	}
	s, err := newStore(TableName)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.GetMigration(ctx, db, 999); !errors.Is(err, database.ErrVersionNotFound) {
		t.Errorf("a version that never was: %+v, %v", m, err)
	}
	dbtest.Exec(t, db, "ALTER TABLE "+TableName+" DROP KEY version_id")
	dbtest.Exec(t, db, "INSERT INTO "+TableName+" (version_id, is_applied) VALUES (1, FALSE)")
	if m, err := s.GetMigration(ctx, db, 1); err != nil || m.IsApplied {
		t.Errorf("a version that was taken back: %+v, %v", m, err)
	}
}

// TestPlainGooseTool drives goose's older interface, which is what its command does, before and after ours.
func TestPlainGooseTool(t *testing.T) {
	goose.SetLogger(goose.NopLogger())
	t.Cleanup(func() {
		goose.SetTableName(goose.DefaultTablename)
		goose.SetBaseFS(nil)
	})
	if err := goose.SetDialect("mysql"); err != nil {
		t.Fatal(err)
	}
	for name, s := range subjects {
		t.Run(name, s.plainGooseTool)
	}
}

func (s subject) plainGooseTool(t *testing.T) {
	goose.SetTableName("`" + s.table + "`") // it writes the name as it is
	goose.SetBaseFS(s.files)
	db := dbtest.Open(t)
	ctx := t.Context()
	tool := func(command string, args ...string) {
		t.Helper()
		if err := goose.RunContext(ctx, command, db, ".", args...); err != nil {
			t.Fatalf("goose %s: %v", command, err)
		}
	}
	tool("up")
	s.wantMigrated(t, db)
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	s.wantMigrated(t, db)
	tool("down")
	s.wantTables(t, db, s.upTo(s.last()-1))
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	tool("status")
	tool("up")
	s.wantMigrated(t, db)
	tool("down-to", "0")
	if err := s.up(ctx, db); err != nil {
		t.Fatal(err)
	}
	tool("reset")
	s.wantTables(t, db, nil)
	if err := s.down(ctx, db); err != nil {
		t.Fatal(err)
	}
}

// TestBesideTheApplication: an application's own migrations have the same numbers and another table.
func TestBesideTheApplication(t *testing.T) {
	db := dbtest.Open(t)
	ctx := t.Context()
	if _, err := db.ExecContext(ctx, `CREATE TABLE goose_db_version (id INT PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	if err := Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	if err := Down(ctx, db); err != nil {
		t.Fatal(err)
	}
	if got := tables(t, db); !slices.Equal(got, []string{"goose_db_version", TableName}) {
		t.Fatalf("%q", got)
	}
	own := fstest.MapFS{"00001_note.sql": {Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS note (id INT PRIMARY KEY);\n")}}
	for _, want := range []int{1, 0} {
		p, err := New(db, own, "the app's versions")
		if err != nil {
			t.Fatal(err)
		}
		if done, err := p.Up(ctx); err != nil || len(done) != want {
			t.Fatalf("%d applied, %v", len(done), err)
		}
	}
	if got := tables(t, db); !slices.Equal(got, []string{"goose_db_version", "note", TableName, "the app's versions"}) {
		t.Fatalf("%q", got)
	}
}

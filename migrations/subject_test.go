package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// subject is what the tests apply.
type subject struct {
	files    fs.FS
	table    string
	up, down func(context.Context, *sql.DB) error
	status   func(context.Context, *sql.DB) ([]Migration, error)
	// made are its tables in the order of the files, and of is the version that makes each.
	made     []string
	of       []int
	versions string // when all are applied
}

// The toolkit has one migration. So what is promised between several is proved of an application's, too.
var (
	toolkit     = newSubject(FS, TableName, Up, Down, Status)
	application = newSubject(numbered(7), "app's versions",
		func(ctx context.Context, db *sql.DB) error { return Apply(ctx, db, numbered(7), "app's versions") },
		func(ctx context.Context, db *sql.DB) error { return down(ctx, db, numbered(7), "app's versions") },
		func(ctx context.Context, db *sql.DB) ([]Migration, error) {
			return status(ctx, db, numbered(7), "app's versions")
		})
	subjects = map[string]subject{"toolkit": toolkit, "application": application}
)

// numbered are n migrations of two tables each.
func numbered(n int) fs.FS {
	files := fstest.MapFS{}
	for i := range n {
		text := "-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS a%[1]d (id INT PRIMARY KEY);\nCREATE TABLE IF NOT EXISTS b%[1]d (id INT PRIMARY KEY);\n" +
			"-- +goose Down\nDROP TABLE IF EXISTS b%[1]d;\nDROP TABLE IF EXISTS a%[1]d;\n"
		files[fmt.Sprintf("%05d_topic.sql", i+1)] = &fstest.MapFile{Data: fmt.Appendf(nil, text, i+1)}
	}
	return files
}

// newSubject reads the files, so that a new one needs no change here.
func newSubject(files fs.FS, table string, up, down func(context.Context, *sql.DB) error, status func(context.Context, *sql.DB) ([]Migration, error)) subject {
	s := subject{files: files, table: table, up: up, down: down, status: status, versions: "0"}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err)
	}
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		for _, m := range regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\S+)`).FindAllSubmatch(text, -1) {
			s.made, s.of = append(s.made, string(m[1])), append(s.of, i+1)
		}
		s.versions += fmt.Sprint(",", i+1)
	}
	return s
}

// last is the number of its newest version.
func (s subject) last() int { return s.of[len(s.of)-1] }

// upTo are the tables that the versions up to n make.
func (s subject) upTo(n int) []string {
	first, _ := slices.BinarySearch(s.of, n+1)
	return s.made[:first]
}

// forget takes back that the versions from n on are recorded.
func (s subject) forget(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	dbtest.Exec(t, db, "DELETE FROM `"+s.table+"` WHERE version_id >= ?", n)
}

// drop drops tables, if there are any.
func drop(t *testing.T, db *sql.DB, names []string) {
	t.Helper()
	if len(names) > 0 {
		dbtest.Exec(t, db, "DROP TABLE "+strings.Join(names, ", "))
	}
}

func tables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(),
		`SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func versions(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	return dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(version_id ORDER BY version_id) FROM `"+table+"` WHERE is_applied")
}

// wantTables: there are these, the version table, and no other.
func (s subject) wantTables(t *testing.T, db *sql.DB, names []string) {
	t.Helper()
	want := append([]string{s.table}, names...)
	slices.Sort(want)
	if got := tables(t, db); !slices.Equal(got, want) {
		t.Fatalf("tables %q, want %q", got, want)
	}
}

func (s subject) wantMigrated(t *testing.T, db *sql.DB) {
	t.Helper()
	s.wantTables(t, db, s.made)
	if got := versions(t, db, s.table); got != s.versions {
		t.Fatalf("versions %s, want %s", got, s.versions)
	}
}

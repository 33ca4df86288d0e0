package security_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/security"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// plan has a resource with an owner and a quota, and one below it.
var plan = schema.Plan{Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "is_over_quota"}},
	{Name: "screen", Archive: "screen_archive", Owner: "project_id", Label: schema.Label{Column: "filename", Key: "base", Kind: names.KindFilename},
		Parent: schema.Parent{Resource: "project", Column: "project_id"}},
}}

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

type screen struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Filename  string `db:"filename"`
}

// application is a database as an application has it, seen by everybody's root and by the
// application's own user.
type application struct {
	t        *testing.T
	root, db *sql.DB
	user     *security.User
	all      []string // tables
	projects *repo.Repo[project]
	screens  *repo.Repo[screen]
}

func newApplication(t *testing.T) *application {
	t.Helper()
	dsn := dbtest.DSN(t)
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	a := &application{t: t, root: dbtest.OpenDSN(t, dsn)}
	if err := migrations.Up(t.Context(), a.root); err != nil {
		t.Fatal(err)
	}
	for _, statement := range append(plan.DDL(),
		"CREATE TABLE meter (id INT PRIMARY KEY, value INT NOT NULL, read_at BIGINT NULL, version INT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE tariff (user_id INT PRIMARY KEY, projects INT NOT NULL) ENGINE=InnoDB") {
		a.exec(statement)
	}
	a.user = security.NewUser(t, a.root, config)
	a.db = dbtest.OpenDSN(t, a.user.Config().FormatDSN())
	rows, err := a.root.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		a.all = append(a.all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if a.projects, err = repo.New[project](plan, "project"); err != nil {
		t.Fatal(err)
	}
	if a.screens, err = repo.New[screen](plan, "screen"); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *application) exec(statement string, args ...any) {
	a.t.Helper()
	if _, err := a.root.ExecContext(a.t.Context(), statement, args...); err != nil {
		a.t.Fatalf("%s: %v", statement, err)
	}
}

// anew empties all tables but that of the migrations.
func (a *application) anew() {
	a.t.Helper()
	for _, table := range a.all {
		if table != migrations.TableName {
			a.exec("DELETE FROM " + table)
		}
	}
	a.exec("INSERT INTO tariff VALUES (7, 1)")
	a.exec("INSERT INTO meter VALUES (1, 10, NULL, 1)")
	ctx := a.t.Context()
	for id, name := range []string{"alpha", "beta", "gamma"} {
		res, err := a.projects.Create(ctx, a.root, project{UserID: 7, Name: name}, repo.RequestID(fmt.Sprint("r", id)))
		if err != nil {
			a.t.Fatal(err)
		}
		if name == "gamma" {
			if _, err = a.screens.Create(ctx, a.root, screen{ProjectID: res.Row.ID, Filename: "a.png"}); err == nil {
				_, err = a.projects.Archive(ctx, a.root, res.Row.ID)
			}
			if err != nil {
				a.t.Fatal(err)
			}
		}
	}
}

// id is that of a project, active or archived.
func (a *application) id(name string) (id int64) {
	a.t.Helper()
	if err := a.root.QueryRowContext(a.t.Context(), `SELECT id FROM project WHERE name = ? UNION ALL SELECT id FROM project_archive WHERE name = ?`, name, name).Scan(&id); err != nil {
		a.t.Fatal(err)
	}
	return id
}

// steps runs one after the other, up to the first that fails.
func steps(all ...func() error) error {
	for i, step := range all {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// want is nil if err is the one that was wanted.
func want(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return fmt.Errorf("%w; wanted: %w", err, wanted)
}

// bounded is the context of one work.
func (a *application) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(a.t.Context(), time.Minute)
}

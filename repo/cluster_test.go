package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// forCluster is the plan for a cluster. It adds the columns to the tables that are there, by what Verify says.
func forCluster(t testing.TB, db *sql.DB) schema.Plan {
	t.Helper()
	p := plan()
	p.Cluster = true
	dbtest.Toolkit(t, db, "onerow_") // Verify asks for all
	var differs *live.VerifyError
	if err := live.Verify(t.Context(), db, p); !errors.As(err, &differs) || len(differs.Differences) != 4 {
		t.Fatalf("the guards of two parents and their archives are not asked for: %v", err)
	}
	for _, d := range differs.Differences {
		dbtest.Exec(t, db, d.SQL)
	}
	for _, p := range []schema.Plan{p, plan()} { // a program with the old plan may start again meanwhile
		if err := live.Verify(t.Context(), db, p); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// bothPlans runs a test with the plan for one server and with that for a cluster.
func bothPlans(t *testing.T, test func(t *testing.T, db *sql.DB, r repos)) {
	t.Run("one server", func(t *testing.T) { test(t, open(t), newRepos(t)) })
	t.Run("for a cluster", func(t *testing.T) {
		db := open(t)
		test(t, db, newReposOf(t, forCluster(t, db)))
	})
}

// TestGuard: each row that comes below a row, or moves there, writes the row above, in the table where it is,
// and nothing of it but the guard: an update that has read it before is not refused.
func TestGuard(t *testing.T) {
	db := open(t)
	r, ctx := newReposOf(t, forCluster(t, db)), t.Context()
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "p"})).Row.ID
	other := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "other"})).Row.ID
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "a.png"})).Row.ID
	rest := func(table string) (text string) {
		t.Helper()
		err := onerow.QueryRow(ctx, db, "SELECT CONCAT_WS('|', name, version, updated_at, is_over_quota) FROM "+table+" WHERE id = ?", []any{project}, &text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	guards := func(what, table string, want int, call func() error) {
		t.Helper()
		was := rest(table)
		if err := call(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := count(t, db, "SELECT guard FROM "+table+" WHERE id = ?", project); got != want {
			t.Errorf("%s: the guard is %d, want %d", what, got, want)
		}
		if is := rest(table); is != was {
			t.Errorf("%s: more than the guard was written: %s, %s", what, was, is)
		}
	}
	archive := func() error { return second(r.screens.Archive(ctx, db, screen)) }
	guards("create", "project", 2, func() error {
		return second(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "b.png"}))
	})
	guards("archive", "project", 3, archive)
	guards("archive again", "project", 3, archive)
	guards("activate", "project", 4, func() error { return second(r.screens.Activate(ctx, db, screen)) })
	guards("move away", "project", 5, func() error {
		return second(r.screens.Move(ctx, db, screen, func(s *Screen) error { s.ProjectID = other; return nil }))
	})
	guards("move back", "project", 6, func() error {
		return second(r.screens.Move(ctx, db, screen, func(s *Screen) error { s.ProjectID = project; return nil }))
	})
	guards("rename", "project", 6, func() error { return second(r.screens.Rename(ctx, db, screen, "c.png")) })
	guards("below its screen", "project", 6, func() error {
		return second(r.comments.Create(ctx, db, Comment{ScreenID: screen, Body: "b"}))
	})
	must(r.projects.Archive(ctx, db, project))
	guards("archive below an archived one", "project_archive", 7, archive)
	must(r.projects.Activate(ctx, db, project))
	must(r.projects.Update(ctx, db, project, func(p *Project) error {
		p.Note = "n"
		return second(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "d.png"})) // meanwhile
	}))
	if v := must(r.projects.Get(ctx, db, project)).Version; v != 4 {
		t.Errorf("version %d, want 4: it was made, archived, activated and updated once", v)
	}
}

// TestGuardMoves: a move writes all rows above, up to the root, where the row was and where it comes. Below
// the root that is a statement more for each.
func TestGuardMoves(t *testing.T) {
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	p, ctx := forCluster(t, db), t.Context()
	r := newReposOf(t, p)
	var screens []int64
	for _, name := range []string{"p", "q"} {
		project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: name})).Row.ID
		screens = append(screens, must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "s.png"})).Row.ID)
	}
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screens[0], Body: "b"})).Row.ID
	counted, c := racetest.Counted(t, dsn)
	log, err := crashtest.Count(c, func() error {
		return second(r.comments.Move(ctx, counted, comment, func(c *Comment) error { c.ScreenID = screens[1]; return nil }))
	})
	if err != nil || len(log) != 12 {
		t.Errorf("%d statements, want 12: %v\n%s", len(log), err, log)
	}
	for query, want := range map[string]string{
		"SELECT GROUP_CONCAT(guard ORDER BY id) FROM project": "2,2", "SELECT GROUP_CONCAT(guard ORDER BY id) FROM screen": "2,1",
	} {
		var got string
		if err := onerow.QueryRow(ctx, db, query, nil, &got); err != nil || got != want {
			t.Errorf("%s: %s, want %s: %v", query, got, want, err)
		}
	}
}

// TestGuardIsNobodys: no struct has the guard among its columns.
func TestGuardIsNobodys(t *testing.T) {
	p := plan()
	p.Cluster = true
	type tagged struct {
		Project
		Guard int64 `db:"guard"`
	}
	if _, err := repo.New[tagged](p, "project"); err == nil || !strings.Contains(err.Error(), `the column "guard"`) {
		t.Errorf("a field for the guard: %v", err)
	}
	type plain struct {
		ID, Guard int64
		UserID    int64 `db:"user_id"`
		Name      string
	}
	if _, err := repo.New[plain](p, "project"); err != nil {
		t.Errorf("a field that happens to have its name: %v", err)
	}
}

// guarded are the verbs, and the pairs of requests, in which the guard is written.
var guarded = []string{"create a child", "archive a child", "delete, create a child", "delete, archive a child", "delete, activate a child", "archive, create a child"}

// TestGuardCrash fails the verbs that write a guard at every statement; make test-shapes does so at both levels.
func TestGuardCrash(t *testing.T) {
	for _, level := range levels {
		if level != levels[0] && !wide() {
			continue
		}
		dsn := dbtest.DSN(t, dbtest.Isolation(level))
		db := dbtest.OpenDSN(t, dsn)
		makeTables(t, db)
		r := newReposOf(t, forCluster(t, db))
		for _, v := range verbs {
			if !slices.Contains(guarded, v.name) {
				continue
			}
			t.Run(v.name+"/"+level.String(), func(t *testing.T) {
				if report := crashtest.Run(t, workflow(v, r, dsn)); report.FaultPoints < v.points {
					t.Errorf("%d fault points, want at least %d", report.FaultPoints, v.points)
				}
			})
		}
	}
}

// TestGuardInterleave steps them through the statements of a delete of the row above; make test-shapes does so at both levels, and preempts
// them twice.
func TestGuardInterleave(t *testing.T) {
	preemptions := 1
	if wide() {
		preemptions = 2
	}
	for _, level := range levels {
		if level != levels[0] && !wide() {
			continue
		}
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, dbtest.Isolation(level))
			db := dbtest.OpenDSN(t, dsn)
			makeTables(t, db)
			r, rule := newReposOf(t, forCluster(t, db)), projectRule(t)
			for _, p := range pairs() {
				if !slices.Contains(guarded, p.name) {
					continue
				}
				t.Run(p.name, func(t *testing.T) {
					race := crashtest.Race{Workflow: raceWorkflow(p.setup, r, dsn, rule), Judge: p.judge, Preemptions: preemptions, Every: 60}
					race.Calls = []func(context.Context, *sql.DB) error{
						func(ctx context.Context, db *sql.DB) error { return p.a(ctx, r, db) },
						func(ctx context.Context, db *sql.DB) error { return p.b(ctx, r, db) },
					}
					report := crashtest.Interleave(t, race)
					t.Logf("%d interleavings (%s)", report.Schedules, report.Engine)
				})
			}
		})
	}
}

package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

func giveTo(id, user int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.projects.Move(ctx, db, id, give(user)))
	}
}

func moveScreen(id, project int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.screens.Move(ctx, db, id, under(project)))
	}
}

func moveComment(id, screen int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.comments.Move(ctx, db, id, onScreen(screen)))
	}
}

// putScreen, putComment and putOf make rows with given ids.
func putScreen(id, project int64, name string) call {
	return func(ctx context.Context, _ repos, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO screen (id, project_id, client_filename, client_filename_base, stem_key, copy_no, created_at, updated_at)
			VALUES (?, ?, CONCAT(?, '.png'), ?, ?, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, project, name, name, name)
		return err
	}
}

func putComment(id, screen int64) call {
	return func(ctx context.Context, _ repos, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "INSERT INTO comment (id, screen_id, body, created_at, updated_at) VALUES (?, ?, 'b', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id, screen)
		return err
	}
}

func putOf(user, id int64, name string) call {
	return func(ctx context.Context, _ repos, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
			VALUES (?, ?, ?, LOWER(?), LOWER(?), 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, user, name, name, name)
		return err
	}
}

func archiveOf(id int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error { return second(r.projects.Archive(ctx, db, id)) }
}

func deleteOf(id int64, opts ...repo.DeleteOption) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, id, opts...))
	}
}

// placed is project 1 with screen 5 with comment 9, and project 2 with screen 6, all of owner 1.
var placed = both(put(1, "A"), put(2, "B"), putScreen(5, 1, "s"), putScreen(6, 2, "t"), putComment(9, 5))

// theirs is project 1 of owner 1 and project 2 of owner 2, both called A.
var theirs = both(put(1, "A"), putOf(2, 2, "a"))

var moves = []verb{
	{"give", start, giveTo(1, 2), false, 40},
	{"give beside its name", theirs, giveTo(1, 2), false, 60},
	{"move below another parent", placed, moveScreen(5, 2), false, 40},
	{"move below another parent beside its name", both(placed, putScreen(7, 2, "s")), moveScreen(5, 2), false, 60},
	{"move a row further below", placed, moveComment(9, 6), false, 50},
}

// movesAgainst are moves that others may get in the way of.
func movesAgainst() []pair {
	atTarget := func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.projects.Create(ctx, db, Project{UserID: 2, Name: "a"}))
	}
	newScreen := func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.screens.Create(ctx, db, Screen{ProjectID: 2, Filename: "s.jpg"}, repo.RequestID("s")))
	}
	archiveScreen := func(id int64) call {
		return func(ctx context.Context, r repos, db *sql.DB) error { return second(r.screens.Archive(ctx, db, id)) }
	}
	giveIn := func(ctx context.Context, r repos, db onerow.DB) error {
		return second(r.projects.Move(ctx, db, 1, give(2)))
	}
	grace := remove(repo.Grace(time.Hour))
	return []pair{
		{"give, rename", start, giveTo(1, 2), rename(1, "B"), nil},
		{"give, update", start, giveTo(1, 2), add(1), nil},
		{"give, archive", start, giveTo(1, 2), archive, nil},
		{"give, activate", archived, giveTo(1, 2), activate(1), nil},
		{"give, delete", start, giveTo(1, 2), remove(), nil},
		{"give, delete with grace", start, giveTo(1, 2), grace, nil},
		{"give, cancel", hidden, giveTo(1, 2), cancel, nil},
		{"give, create: its name at the target", start, giveTo(1, 2), atTarget, nil},
		{"give, create: its old name", start, giveTo(1, 2), create("a", ""), nil},
		{"give, rename: to its name at the target", both(start, putOf(2, 2, "B")), giveTo(1, 2), rename(2, "A"), nil},
		{"give, delete: of who has the name", theirs, giveTo(1, 2), deleteOf(2), nil},
		{"give, archive: of who has the name", theirs, giveTo(1, 2), archiveOf(2), nil},
		{"give, activate: its name at the target", both(theirs, archiveOf(2)), giveTo(1, 2), activate(2), nil},
		{"give, give: one row to two", start, giveTo(1, 2), giveTo(1, 3), nil},
		{"give, give: two rows of one name to one", theirs, giveTo(1, 3), giveTo(2, 3), nil},
		{"give, give: names exchanged", theirs, giveTo(1, 2), giveTo(2, 1), exchanged},
		{"give in a caller's transaction, create: its name at the target", start, joined(giveIn), atTarget, nil},
		{"give in a caller's transaction, give", start, joined(giveIn), giveTo(1, 3), nil},
		{"move, delete: the old parent", placed, moveScreen(5, 2), deleteOf(1), nil},
		{"move, delete: the new parent", placed, moveScreen(5, 2), deleteOf(2), nil},
		{"move, delete with grace: the old parent", placed, moveScreen(5, 2), deleteOf(1, repo.Grace(time.Hour)), nil},
		{"move, cancel: the old parent", both(placed, deleteOf(1, repo.Grace(time.Hour))), moveScreen(5, 2), cancel, nil},
		{"move, archive: the old parent", placed, moveScreen(5, 2), archiveOf(1), nil},
		{"move, archive: the new parent", placed, moveScreen(5, 2), archiveOf(2), nil},
		{"move, archive: the row", placed, moveScreen(5, 2), archiveScreen(5), nil},
		{"move, create: its name at the target", placed, moveScreen(5, 2), newScreen, nil},
		{"move, move: exchanged", placed, moveScreen(5, 2), moveScreen(6, 1), nil},
		{"move, move: a row and what it is below", placed, moveComment(9, 6), moveScreen(5, 2), nil},
		{"move, move: a row and where it goes", placed, moveComment(9, 6), moveScreen(6, 1), nil},
		{"move further below, delete: the root", placed, moveComment(9, 6), deleteOf(1), nil},
		{"move further below, delete: the root of the target", placed, moveComment(9, 6), deleteOf(2), nil},
		{"move further below, give: the root", placed, moveComment(9, 6), giveTo(1, 2), nil},
	}
}

// exchanged: each may have met the name of the other before that left, so both may be copies.
func exchanged(ctx context.Context, db *sql.DB, answers []error) error {
	var n int
	err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM project WHERE user_id = 3 - id AND stem_key = 'a' AND copy_no <= 1 AND version = 2", nil, &n)
	if err = errors.Join(append(answers, err)...); err == nil && n != 2 {
		err = fmt.Errorf("%d were given", n)
	}
	return err
}

// TestMoveCrash fails a move at every statement, on both isolation levels.
func TestMoveCrash(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(level))
			makeTables(t, dbtest.OpenDSN(t, dsn))
			for _, v := range moves {
				t.Run(v.name, func(t *testing.T) {
					if report := crashtest.Run(t, racetest.Share(workflow(v, r, dsn))); report.FaultPoints < racetest.Least(v.points) {
						t.Errorf("%d fault points, want at least %d", report.FaultPoints, v.points)
					}
				})
			}
		})
	}
}

// TestMoveInterleave steps moves, twice at once and beside other requests, through the orders of their statements.
func TestMoveInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(level))
			makeTables(t, dbtest.OpenDSN(t, dsn))
			rule := projectRule(t)
			workflow := func(setup call) crashtest.Workflow {
				w := raceWorkflow(setup, r, dsn, rule)
				prepare, check := w.Setup, w.Check
				w.Setup = func(ctx context.Context, db *sql.DB) error {
					return errors.Join(prepare(ctx, db), second(rule.Recalculate(ctx, db, 2)))
				}
				w.Check = func(ctx context.Context, db *sql.DB) error {
					return errors.Join(rule.Settle(ctx, db, 2), rule.Settle(ctx, db, 3), check(ctx, db), below(ctx, db))
				}
				return w
			}
			step := func(name string, race crashtest.Race) {
				t.Run(name, func(t *testing.T) {
					race.Name, race.Preemptions, race.Every = "repo: "+name, 1, 60
					longest := strings.Contains(name, "name") || strings.Contains(name, "caller")
					if wide() && !longest {
						race.Preemptions = 2
					}
					report := crashtest.Interleave(t, race)
					t.Logf("workflow %s: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
				})
			}
			for _, v := range moves {
				if level == sql.LevelRepeatableRead && !wide() {
					break
				}
				race := crashtest.Race{Workflow: workflow(v.setup), AsOnce: true}
				race.Call = func(ctx context.Context, db *sql.DB) error { return v.call(ctx, r, db) }
				step(v.name+", twice", race)
			}
			for _, p := range movesAgainst() {
				if level == sql.LevelRepeatableRead && !wide() && !strings.Contains(p.name, "delete") && !strings.Contains(p.name, "caller") {
					continue // a snapshot matters most where rows go, and where it is older than the move
				}
				race := crashtest.Race{Workflow: workflow(p.setup), Judge: p.judge}
				race.Calls = []func(context.Context, *sql.DB) error{
					func(ctx context.Context, db *sql.DB) error { return p.a(ctx, r, db) },
					func(ctx context.Context, db *sql.DB) error { return p.b(ctx, r, db) },
				}
				step(p.name, race)
			}
		})
	}
}

// wide says that make test-shapes runs, which takes minutes.
func wide() bool { return os.Getenv("ONEROW_SHAPES") == "all" }

// below: each comment is below a screen, and no name is twice below one project.
func below(ctx context.Context, db *sql.DB) error {
	var lost, twice int
	err := onerow.QueryRow(ctx, db, `SELECT (SELECT COUNT(*) FROM comment WHERE screen_id NOT IN (SELECT id FROM screen UNION ALL SELECT id FROM screen_archive)),
		(SELECT COUNT(*) - COUNT(DISTINCT project_id, client_filename_base) FROM screen)`, nil, &lost, &twice)
	if err == nil && lost+twice > 0 {
		err = fmt.Errorf("%d comments below nothing, %d names twice", lost, twice)
	}
	return err
}

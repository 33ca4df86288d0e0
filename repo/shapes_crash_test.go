package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// made is a shape whose ids the application makes, with every verb on the row of the id 1.
type made struct{ opened }

type madeCall = func(ctx context.Context, db onerow.DB) error

func (m made) create(n int, name string) madeCall {
	return func(ctx context.Context, db onerow.DB) error {
		return second(m.tickets.Create(ctx, db, m.ticket(m.id(n), m.owner(1), name)))
	}
}

// calls are what can meet a create of the same id, by their names.
func (m made) calls() map[string]madeCall {
	return map[string]madeCall{
		"archive":         func(ctx context.Context, db onerow.DB) error { return second(m.tickets.Archive(ctx, db, m.id(1))) },
		"activate":        func(ctx context.Context, db onerow.DB) error { return second(m.tickets.Activate(ctx, db, m.id(1))) },
		"rename":          func(ctx context.Context, db onerow.DB) error { return second(m.tickets.Rename(ctx, db, m.id(1), "B")) },
		"delete":          func(ctx context.Context, db onerow.DB) error { return second(m.tickets.Delete(ctx, db, m.id(1))) },
		"cancel":          func(ctx context.Context, db onerow.DB) error { return second(m.tickets.CancelDelete(ctx, db, m.id(1))) },
		"create":          m.create(1, "A"),
		"create its name": m.create(2, "A"),
		"create a message": func(ctx context.Context, db onerow.DB) error {
			return second(m.messages.Create(ctx, db, m.message(m.id(7), m.id(1))))
		},
		"delete with grace": func(ctx context.Context, db onerow.DB) error {
			return second(m.tickets.Delete(ctx, db, m.id(1), repo.Grace(time.Hour)))
		},
	}
}

// setups are the states in which a call may meet the row; before is what leads to them.
var madeSetups = []struct {
	state  string
	before []string
	met    string // by these; all others make no difference there
}{
	{"new", nil, "create, create its name, delete, archive"},
	{"active", []string{"create"}, "create, archive, rename, delete, delete with grace, create a message, create its name"},
	{"archived", []string{"create", "archive"}, "create, activate, delete, delete with grace, create its name"},
	{"hidden", []string{"create", "delete with grace"}, "create, cancel, delete, create its name"},
	{"brought back and archived, its name taken", []string{"create", "delete with grace", "cancel", "archive", "create its name"}, "create, activate, delete"},
	{"gone", []string{"create", "delete"}, "create, delete, create its name"},
}

var madeTables = []string{"ticket", "ticket_archive", "message", "message_archive", "onerow_request", "onerow_quota_mark",
	"onerow_quota_owner", "onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count"}

func (m made) workflow(name, dsn string, before []string) crashtest.Workflow {
	return crashtest.Workflow{
		Name: name, DSN: dsn, Empty: madeTables, Tables: madeTables,
		Setup: func(ctx context.Context, db *sql.DB) error {
			for _, call := range before {
				if err := m.calls()[call](ctx, db); err != nil {
					return err
				}
			}
			return nil
		},
		Refs: map[string]string{"onerow_job_archive.id": "onerow_job.id", "onerow_job_archive.deletion_id": "onerow_job.deletion_id",
			"ticket_archive.deletion_id": "onerow_job.deletion_id"},
		Generated: []string{"onerow_job.deletion_id", "onerow_request.row_id"},
		Ignore:    []string{"onerow_request.call_token", "onerow_job.batch_seq", "onerow_job_archive.batch_seq"},
		Sets:      []string{"onerow_deletion"},
		Check:     func(ctx context.Context, db *sql.DB) error { return onePlace(ctx, db) },
	}
}

// onePlace: a ticket is in one table, and in none after the deletion of it has begun.
func onePlace(ctx context.Context, db onerow.DB) error {
	var n int
	err := onerow.QueryRow(ctx, db, `SELECT (SELECT COUNT(*) FROM ticket JOIN ticket_archive USING (id))
		+ (SELECT COUNT(*) FROM ticket t JOIN onerow_job j ON j.resource_id IN (CAST(t.id AS CHAR), CONCAT('0x', LOWER(HEX(t.id))),
		CONCAT('''', REPLACE(REPLACE(REPLACE(t.id, '%', '%25'), ',', '%2C'), '''', '%27'))))`, nil, &n)
	return errors.Join(err, onlyIf(n != 0, fmt.Sprint(n, " tickets are in two places, or active while their cascade is queued")))
}

// asked is a call on a pool.
func (m made) asked(call madeCall) func(ctx context.Context, db *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error { return call(ctx, db) }
}

// answered takes the refusals that say what is there.
func answered(call madeCall) func(ctx context.Context, db *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error { return said(call(ctx, db)) }
}

func said(err error) error {
	for _, known := range []error{onerow.ErrNotFound, repo.ErrGone, repo.ErrNameTaken, repo.ErrParentNotFound, repo.ErrTooLate} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return err
}

// madeShapes are the shapes that are explored: one, or with make test-shapes all whose ids the application makes.
func madeShapes() map[string]shape {
	all := shapes()
	maps.DeleteFunc(all, func(name string, _ shape) bool {
		switch name {
		case "composite owner":
			return false
		case "BIGINT", "BIGINT UNSIGNED", "for a cluster":
			return true
		}
		return os.Getenv("ONEROW_SHAPES") != "all"
	})
	return all
}

// madeLevels are where they are explored: at one level, or with make test-shapes at both.
func madeLevels() []sql.IsolationLevel {
	if wide() {
		return levels
	}
	return levels[len(levels)-1:]
}

// TestMadeCrash fails each verb of rows with ids of the application's at every statement.
func TestMadeCrash(t *testing.T) {
	for name, s := range madeShapes() {
		for _, level := range madeLevels() {
			t.Run(name+"/"+level.String(), func(t *testing.T) { s.crash(t, level) })
		}
	}
}

// TestMadeInterleave steps a create of an id through the statements of each other verb on it.
func TestMadeInterleave(t *testing.T) {
	for name, s := range madeShapes() {
		for _, level := range madeLevels() {
			t.Run(name+"/"+level.String(), func(t *testing.T) {
				t.Parallel()
				s.interleave(t, level)
			})
		}
	}
}

// TestMadeMoves: a create of an id whose name is taken finds its own row while that one is activated, also at
// READ COMMITTED, where no lock keeps a row from coming into a table that was read.
func TestMadeMoves(t *testing.T) {
	m := made{scopedShape().open(t, dbtest.Isolation(sql.LevelReadCommitted))}
	before := []string{"create", "archive", "create its name"}
	w := m.workflow("made: moves", m.dsn, before)
	calls := []func(context.Context, *sql.DB) error{m.asked(m.create(1, "A")), m.asked(m.calls()["activate"])}
	crashtest.Interleave(t, crashtest.Race{Workflow: w, Calls: calls, Preemptions: 2})
}

// TestMadeModel: many callers do anything to a few ids at once. What was deleted stays deleted, whoever
// repeats its create, and each row is in one place.
func TestMadeModel(t *testing.T) {
	for name, s := range madeShapes() {
		t.Run(name, s.model)
	}
}

// TestMadeOldSnapshot: a create in a caller's transaction knows of rows that went after its snapshot.
func TestMadeOldSnapshot(t *testing.T) {
	m := made{scopedShape().open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())}
	for n, went := range []string{"delete", "delete with grace", "archive"} {
		ctx := t.Context()
		tx := must(m.db.BeginTx(ctx, nil))
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM ticket").Scan(new(int)); err != nil {
			t.Fatal(err)
		}
		id := m.id(n + 1)
		must(m.tickets.Create(ctx, m.db, m.ticket(id, m.owner(1), "A")))
		switch went {
		case "delete":
			must(m.tickets.Delete(ctx, m.db, id))
		case "delete with grace":
			must(m.tickets.Delete(ctx, m.db, id, repo.Grace(time.Hour)))
		default:
			must(m.tickets.Archive(ctx, m.db, id))
		}
		res, err := m.tickets.Create(ctx, tx, m.ticket(id, m.owner(1), "A"))
		if went == "archive" && (err != nil || !res.Replayed) || went != "archive" && !errors.Is(err, repo.ErrGone) {
			t.Errorf("after %s: %+v, %v", went, res, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// each calls fn with every call that the row may meet in a state.
func (m made) each(t *testing.T, fn func(t *testing.T, w crashtest.Workflow, call madeCall)) {
	for _, setup := range madeSetups {
		for name, call := range m.calls() {
			if strings.Contains(", "+setup.met+",", ", "+name+",") {
				t.Run(setup.state+"/"+name, func(t *testing.T) {
					fn(t, m.workflow("made: "+setup.state+", "+name, m.dsn, setup.before), call)
				})
			}
		}
	}
}

func (s shape) crash(t *testing.T, level sql.IsolationLevel) {
	m := made{s.open(t, dbtest.Isolation(level))}
	m.each(t, func(t *testing.T, w crashtest.Workflow, call madeCall) {
		w.Call = answered(call)
		if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(20) {
			t.Errorf("%d fault points", report.FaultPoints)
		}
	})
}

func (s shape) interleave(t *testing.T, level sql.IsolationLevel) {
	m := made{s.open(t, dbtest.Isolation(level))}
	m.each(t, func(t *testing.T, w crashtest.Workflow, call madeCall) {
		race := crashtest.Race{Workflow: w, Preemptions: 2, Every: 60}
		race.Calls = []func(context.Context, *sql.DB) error{m.asked(m.create(1, "A")), m.asked(call)} // answers are compared too
		report := crashtest.Interleave(t, race)
		t.Logf("workflow %s, with a create: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
	})
}

func (s shape) model(t *testing.T) {
	m := made{s.open(t)}
	m.db.SetMaxOpenConns(16)
	const ids, callers, steps = 12, 8, 150
	var gone [ids]atomic.Bool
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(caller))) //nolint:gosec // repeatable
			for range steps {
				if err := m.step(t.Context(), rng.IntN(8), rng.IntN(ids), gone[:]); err != nil {
					t.Errorf("caller %d: %v", caller, err)
				}
			}
		})
	}
	all.Wait()
	if err := onePlace(t.Context(), m.db); err != nil {
		t.Error(err)
	}
	deleted := 0
	for i := range gone {
		if gone[i].Load() {
			deleted++
		}
	}
	if deleted == 0 {
		t.Error("nothing was deleted")
	}
}

// step is one call for the row of an id, which says so if a row came back that had been deleted before.
func (m made) step(ctx context.Context, verb, n int, gone []atomic.Bool) error {
	before := gone[n].Load()
	switch verb {
	case 0, 1, 2:
		res, err := m.tickets.Create(ctx, m.db, m.ticket(m.id(n+1), m.owner(1), fmt.Sprint("n", n)))
		if err == nil && before {
			return fmt.Errorf("%d was deleted and is there again: %+v", n, res)
		}
		return said(err)
	case 3:
		return said(second(m.tickets.Archive(ctx, m.db, m.id(n+1))))
	case 4:
		return said(second(m.tickets.Activate(ctx, m.db, m.id(n+1))))
	case 5:
		return said(second(m.tickets.Delete(ctx, m.db, m.id(n+1), repo.Grace(time.Hour))))
	case 6:
		return said(second(m.tickets.CancelDelete(ctx, m.db, m.id(n+1))))
	}
	if n%2 == 0 { // half of the rows only hide and come back
		return nil
	}
	del, err := m.tickets.Delete(ctx, m.db, m.id(n+1))
	if err == nil && del.JobID != 0 {
		gone[n].Store(true)
	}
	return said(err)
}

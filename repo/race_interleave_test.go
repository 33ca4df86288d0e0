package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

var levels = racetest.Levels()

type call = func(ctx context.Context, r repos, db *sql.DB) error

// pair are two requests that come at the same time. Their end must be that of one after the other, unless
// judge says what else is right.
type pair struct {
	name  string
	setup call
	a, b  call
	judge func(ctx context.Context, db *sql.DB, answers []error) error
}

// The requests of the pairs.
func create(name, note string, opts ...repo.CreateOption) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: name, Note: note}, opts...))
	}
}

func createSlim(name string, opts ...repo.CreateOption) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.slim.Create(ctx, db, Slim{UserID: 1, Name: name}, opts...))
	}
}

func rename(id int64, name string) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.projects.Rename(ctx, db, id, name))
	}
}

func archive(ctx context.Context, r repos, db *sql.DB) error {
	return second(r.projects.Archive(ctx, db, 1))
}

func activate(id int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error { return second(r.projects.Activate(ctx, db, id)) }
}

func remove(opts ...repo.DeleteOption) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, 1, opts...))
	}
}

// withJob is the answer to a delete of a row that was there: it has a job, whoever deleted it.
func withJob(del repo.Deleted[Project], err error) error {
	if err == nil && del.JobID == 0 {
		err = errors.New("deleted without a job")
	}
	return err
}

func cancel(ctx context.Context, r repos, db *sql.DB) error { return cancelIn(ctx, r, db) }

func cancelIn(ctx context.Context, r repos, db onerow.DB) error {
	return second(r.projects.CancelDelete(ctx, db, 1))
}

// joined is a request in a caller's transaction that has looked before, so that its snapshot may be older
// than what the other one did.
func joined(request func(ctx context.Context, r repos, db onerow.DB) error) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM project", nil, new(int)); err != nil {
				return err
			}
			return request(ctx, r, tx)
		})
	}
}

func get(ctx context.Context, r repos, db *sql.DB) error { return second(r.projects.Get(ctx, db, 1)) }

// add reads the code and writes it back, more: an update that must not be lost.
func add(n int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error { return addIn(n)(ctx, r, db) }
}

func addIn(n int64) func(ctx context.Context, r repos, db onerow.DB) error {
	return func(ctx context.Context, r repos, db onerow.DB) error {
		return second(r.projects.Update(ctx, db, 1, func(p *Project) error {
			var sum int64
			if p.Code != nil {
				sum = *p.Code
			}
			sum += n
			p.Code = &sum
			return nil
		}))
	}
}

// setCode gives a project the code 5, which the owner has once.
func setCode(id int64) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		code := int64(5)
		return second(r.projects.Update(ctx, db, id, func(p *Project) error { p.Code = &code; return nil }))
	}
}

func createCoded(ctx context.Context, r repos, db *sql.DB) error {
	code := int64(5)
	return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "B", Code: &code}))
}

// coded has project 1 with the code 5.
func coded(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(put(1, "A")(ctx, r, db), setCode(1)(ctx, r, db))
}

// archivedCoded has the archived project 2 with the same code.
func archivedCoded(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(put(2, "B")(ctx, r, db), setCode(2)(ctx, r, db), second(r.projects.Archive(ctx, db, 2)))
}

// createScreen has a request id: on MySQL a transaction whose first lock is a share lock, and which waits for
// it, is not in InnoDB's list of transactions, where crashtest looks for who waits.
func createScreen(ctx context.Context, r repos, db *sql.DB) error {
	return second(r.screens.Create(ctx, db, Screen{ProjectID: 1, Filename: "new.png"}, repo.RequestID("s")))
}

func purge(ctx context.Context, _ repos, db *sql.DB) error {
	return second(repo.PurgeRequests(ctx, db, 24*time.Hour, 10))
}

// The states before them.
func both(calls ...call) call {
	return func(ctx context.Context, r repos, db *sql.DB) error {
		for _, c := range calls {
			if err := c(ctx, r, db); err != nil {
				return err
			}
		}
		return nil
	}
}

// put makes an active project of owner 1.
func put(id int, name string) call {
	return func(ctx context.Context, _ repos, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
			VALUES (?, 1, ?, LOWER(?), LOWER(?), 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, name, name, name)
		return err
	}
}

func archivedScreen(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(withScreen(ctx, r, db), second(r.screens.Archive(ctx, db, 5)))
}

// requested has project 1, which was made with the request id "r" two days ago.
func requested(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(create("A", "", repo.RequestID("r"))(ctx, r, db), second(db.ExecContext(ctx, "UPDATE project SET id = 1")),
		second(db.ExecContext(ctx, "UPDATE onerow_request SET row_id = '1', created_at = created_at - INTERVAL 2 DAY")))
}

var errBefore = errors.New("it was taken back before")

// pairs are the requests that may get in each other's way. Setup of a restore notes the deletion that it
// takes back.
func pairs() []pair {
	var hiding atomic.Int64
	hiddenNoted := func(ctx context.Context, r repos, db *sql.DB) error {
		del, err := r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour))
		hiding.Store(del.DeletionID)
		return err
	}
	restoreOf := func(plan schema.Plan) call {
		return func(ctx context.Context, _ repos, db *sql.DB) error {
			res, err := repo.Restore(ctx, db, plan, hiding.Load())
			if err == nil && !res.Changed {
				err = errBefore // so that the answers say who did it
			}
			return err
		}
	}
	restore := restoreOf(plan())
	// A row of a table that the toolkit did not make: nothing but its job decides.
	queued := func(ctx context.Context, _ repos, db *sql.DB) (err error) {
		d := queue.Deletion{Resource: "invoice", ResourceID: "x", Grace: time.Hour}
		if d.ID, err = queue.Log(ctx, db, d); err == nil {
			_, err = queue.Enqueue(ctx, db, d)
		}
		hiding.Store(d.ID)
		return err
	}
	restoreInvoice := restoreOf(withTable())
	cancelInvoice := func(ctx context.Context, _ repos, db *sql.DB) error {
		return queue.Cancel(ctx, db, "invoice", "x", hiding.Load())
	}
	claimInvoice := func(ctx context.Context, _ repos, db *sql.DB) error { // as a worker does when the grace period is over
		return second(db.ExecContext(ctx, "UPDATE onerow_job SET state = 'running', token = token + 1, due_at = UTC_TIMESTAMP(6) WHERE state = 'scheduled'"))
	}
	grace := remove(repo.Grace(time.Hour))
	two := both(put(1, "A"), put(2, "B"))
	twoArchived := both(start, archive, put(2, "a"), func(ctx context.Context, r repos, db *sql.DB) error {
		return second(r.projects.Archive(ctx, db, 2))
	})
	return []pair{
		{"create, create: one name", nothing, create("A", "mine"), create(" a", "yours"), nil},
		{"create, create: one request id, two payloads", nothing, create("A", "", repo.RequestID("r")), create("B", "", repo.RequestID("r")), nil},
		{"create with a request id, delete", requested, create("A", "", repo.RequestID("r")), remove(), nil},
		{"create with a request id, purge", requested, create("A", "", repo.RequestID("r")), purge, nil},
		{"purge, purge", requested, purge, purge, nil},
		{"rename, rename: to one name", two, rename(1, "C"), rename(2, "c"), nil},
		{"rename, rename: names exchanged", two, rename(1, "B"), rename(2, "A"), nil},
		{"rename, rename: one row", start, rename(1, "B"), rename(1, "C"), nil},
		{"rename, create: to one name", start, rename(1, "B"), create("b", ""), nil},
		{"rename, create: of the old name", start, rename(1, "B"), create("a", ""), nil},
		{"update, update", start, add(1), add(2), nil},
		{"update, rename", start, add(1), rename(1, "B"), nil},
		{"update, archive", start, add(1), archive, nil},
		{"update, delete", start, add(1), remove(), nil},
		{"archive, rename", start, archive, rename(1, "B"), nil},
		{"archive, create: of its name", start, archive, create("a", ""), nil},
		{"archive, activate", start, archive, activate(1), nil},
		{"activate, archive", archived, activate(1), archive, nil},
		{"activate, activate: one name", twoArchived, activate(1), activate(2), nil},
		{"activate, create: its name", archived, activate(1), create("a", ""), nil},
		{"activate, rename: to its name", both(archived, put(2, "B")), activate(1), rename(2, "a"), nil},
		{"activate, rename: the row itself", archived, activate(1), rename(1, "B"), nil},
		{"activate, delete", archived, activate(1), remove(), nil},
		{"delete, archive", start, remove(), archive, nil},
		{"delete, rename", start, remove(), rename(1, "B"), nil},
		{"delete, delete with grace", start, remove(), grace, nil},
		{"delete, create a child", start, remove(), createScreen, nil},
		{"delete, archive a child", withScreen, remove(), func(ctx context.Context, r repos, db *sql.DB) error {
			return second(r.screens.Archive(ctx, db, 5))
		}, nil},
		{"delete, activate a child", archivedScreen, remove(), func(ctx context.Context, r repos, db *sql.DB) error {
			return second(r.screens.Activate(ctx, db, 5))
		}, nil},
		{"archive, create a child", start, archive, createScreen, nil},
		{"delete, cancel", start, remove(), cancel, nil},
		{"delete with grace, cancel", start, grace, cancel, nil},
		{"delete hidden, cancel", hidden, remove(), cancel, nil},
		{"cancel, create: its name", hidden, cancel, create("a", ""), nil},
		{"cancel, restore", both(start, hiddenNoted), cancel, restore, nil},
		{"restore, restore", both(start, hiddenNoted), restore, restore, nil},
		{"restore, delete hidden", both(start, hiddenNoted), restore, remove(), nil},
		{"restore, restore: a table's row", queued, restoreInvoice, restoreInvoice, nil},
		{"restore, cancel: a table's row", queued, restoreInvoice, cancelInvoice, nil},
		{"restore, claim: a table's row", queued, restoreInvoice, claimInvoice, nil},
		{"cancel in a caller's transaction, delete with grace", start, joined(cancelIn), grace, nil},
		{"cancel in a caller's transaction, cancel", hidden, joined(cancelIn), cancel, nil},
		{"update in a caller's transaction, update", start, joined(addIn(1)), add(2), nil},
		{"update in callers' transactions", start, joined(addIn(1)), joined(addIn(2)), nil},
		{"create, delete: a value of another index", coded, createCoded, remove(), nil},
		{"activate, delete: a value of another index", both(archivedCoded, coded), activate(2), remove(), nil},
		{"update, update: a value of another index", two, setCode(1), setCode(2), nil},
		{"update, archive: a value of another index", both(coded, put(2, "B")), setCode(2), archive, nil},
		{"get, archive", start, get, archive, nil},
		{"get, activate", archived, get, activate(1), nil},
	}
}

// TestInterleave steps every verb, sent twice at once, and the pairs through the orders of their statements.
func TestInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(level))
			makeTables(t, dbtest.OpenDSN(t, dsn))
			rule := projectRule(t)
			total, begin := 0, time.Now()
			step := func(name string, race crashtest.Race) {
				t.Run(name, func(t *testing.T) {
					race.Name = "repo: " + name
					race.Preemptions, race.Every = 2, 60
					if race.Stops || strings.Contains(name, "restore") || strings.Contains(name, "caller") || strings.Contains(name, "activate and rename") {
						race.Preemptions = 1 // the longest ones
					}
					report := crashtest.Interleave(t, race)
					t.Logf("workflow %s: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
					total += report.Schedules
				})
			}
			for _, v := range verbs {
				race := crashtest.Race{Workflow: raceWorkflow(v.setup, r, dsn, rule), AsOnce: true}
				race.Call = func(ctx context.Context, db *sql.DB) error { return v.call(ctx, r, db) }
				step(v.name+", twice", race)
			}
			for _, p := range pairs() {
				race := crashtest.Race{Workflow: raceWorkflow(p.setup, r, dsn, rule), Judge: p.judge}
				race.Calls = []func(context.Context, *sql.DB) error{
					func(ctx context.Context, db *sql.DB) error { return p.a(ctx, r, db) },
					func(ctx context.Context, db *sql.DB) error { return p.b(ctx, r, db) },
				}
				step(p.name, race)
			}
			t.Logf("%s: %d races, %d interleavings in %s", level, len(verbs)+len(pairs()), total, time.Since(begin).Round(time.Millisecond))
		})
	}
}

// TestInterleaveTogether steps creates and what meets them where statements travel together.
func TestInterleaveTogether(t *testing.T) {
	t.Parallel()
	r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(levels[0]))
	makeTables(t, dbtest.OpenDSN(t, dsn))
	rule := projectRule(t)
	archived := both(start, archive)
	for _, p := range []struct {
		name  string
		once  bool
		a, b  call
		setup call
	}{
		{"one request, sent twice", true, createSlim("a", repo.RequestID("1")), createSlim("a", repo.RequestID("1")), nothing},
		{"one request, its row read back", true, create("a", "x", repo.RequestID("1")), create("a", "x", repo.RequestID("1")), nothing},
		{"two requests for one name", false, createSlim("a", repo.RequestID("1")), createSlim("a", repo.RequestID("2")), start},
		{"two for one name", false, createSlim("a"), createSlim("A"), start},
		{"one and a rename to its name", false, createSlim("b"), rename(1, "b"), start},
		{"one with the name of one that is archived", false, createSlim("A"), archive, start},
		{"one with the name of one that is deleted", false, createSlim("A"), remove(), start},
		{"one with the name of one that comes back", false, createSlim("a"), activate(1), archived},
		{"two that come back, one name", false, activate(1), activate(2), both(archived, put(2, "a"), func(ctx context.Context, r repos, db *sql.DB) error {
			return second(r.projects.Archive(ctx, db, 2))
		})},
		{"one that goes, and comes back", false, archive, activate(1), start},
		{"two changes of one", false, add(1), add(2), start},
		{"a change of one that goes", false, add(1), archive, start},
	} {
		t.Run(p.name, func(t *testing.T) {
			race := crashtest.Race{Workflow: racetest.Together(raceWorkflow(p.setup, r, dsn, rule)), AsOnce: p.once, Preemptions: 2, Every: 60}
			race.Calls = []func(context.Context, *sql.DB) error{
				func(ctx context.Context, db *sql.DB) error { return p.a(ctx, r, db) },
				func(ctx context.Context, db *sql.DB) error { return p.b(ctx, r, db) },
			}
			crashtest.Interleave(t, race)
		})
	}
}

// raceWorkflow compares as TestCrash does; it starts with right flags, and each end is held against the
// invariants.
func raceWorkflow(setup call, r repos, dsn string, rule *quota.Rule) crashtest.Workflow {
	w := workflow(verb{setup: setup}, r, dsn)
	w.Call = nil
	prepare := w.Setup
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		if err := prepare(ctx, db); err != nil {
			return err
		}
		return second(rule.Recalculate(ctx, db, 1))
	}
	w.Check = func(ctx context.Context, db *sql.DB) error {
		if err := rule.Settle(ctx, db, 1); err != nil {
			return err
		}
		return invariants(ctx, db)
	}
	return w
}

// projectRule allows each owner one project.
func projectRule(t *testing.T) *quota.Rule {
	t.Helper()
	rule, err := quota.New(plan(), "project", func(context.Context, *onerow.Tx, any) (int, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

// broken lists what must never be seen, once the quota is settled.
const broken = `
SELECT CONCAT('project ', a.id, ' is in both of its tables') FROM project_archive a JOIN project p ON p.id = a.id
UNION ALL SELECT CONCAT('screen ', a.id, ' is in both of its tables') FROM screen_archive a JOIN screen s ON s.id = a.id
UNION ALL SELECT CONCAT(COUNT(*), ' projects are called ', CAST(name_key AS CHAR)) FROM project GROUP BY user_id, name_key HAVING COUNT(*) > 1
UNION ALL SELECT CONCAT(COUNT(*), ' open jobs for a row') FROM onerow_job GROUP BY resource, resource_id HAVING COUNT(*) > 1
UNION ALL SELECT CONCAT('project ', p.id, ' is active and its cascade is queued') FROM project p JOIN onerow_job j ON j.resource = 'project' AND j.resource_id = p.id
UNION ALL SELECT CONCAT('project ', a.id, ' is archived and its cascade is queued') FROM project_archive a JOIN onerow_job j
  ON j.resource = 'project' AND j.resource_id = a.id WHERE a.deletion_id IS NULL
UNION ALL SELECT CONCAT('project ', a.id, ' is hidden for ever') FROM project_archive a
  WHERE a.deletion_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM onerow_job j WHERE j.deletion_id = a.deletion_id)
UNION ALL SELECT CONCAT('nobody will delete screen ', s.id) FROM screen s WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = s.project_id)
  AND NOT EXISTS (SELECT 1 FROM project_archive a WHERE a.id = s.project_id)
  AND NOT EXISTS (SELECT 1 FROM onerow_job j WHERE j.resource = 'project' AND j.resource_id = s.project_id)
UNION ALL SELECT CONCAT('the flag of project ', p.id, ' is ', p.is_over_quota, ' after the settle: a mark was lost') FROM project p
  WHERE p.is_over_quota <> EXISTS (SELECT 1 FROM project q WHERE q.user_id = p.user_id AND q.id < p.id)
UNION ALL SELECT CONCAT(COUNT(*), ' marks left after the settle') FROM onerow_quota_mark HAVING COUNT(*) > 0`

func invariants(ctx context.Context, db onerow.DB) error {
	var found []string
	err := onerow.Query(ctx, db, broken, nil, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		found = append(found, text)
		return err
	})
	if err == nil && found != nil {
		err = errors.New(strings.Join(found, "; "))
	}
	return err
}

// TestInterleaveInvariants breaks each invariant by hand, as far as the indexes let it.
func TestInterleaveInvariants(t *testing.T) {
	db, r := open(t), newRepos(t)
	for _, tt := range []struct{ breaks, says string }{
		{`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, archived_at)
			SELECT id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, created_at FROM project`, "both of its tables"},
		{`INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
			VALUES ('project', '1', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, "active and its cascade is queued"},
		{`DELETE FROM project`, "nobody will delete screen 5"},
		{`UPDATE project SET is_over_quota = 1`, "a mark was lost"},
		{`INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES ('project', '1', UTC_TIMESTAMP(6))`, "1 marks left"},
	} {
		if err := errors.Join(wipe(t.Context(), db), withScreen(t.Context(), r, db), invariants(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), tt.breaks); err != nil {
			t.Fatal(err)
		}
		if err := invariants(t.Context(), db); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.says, err)
		}
	}
	if err := errors.Join(wipe(t.Context(), db), hidden(t.Context(), r, db), second(db.ExecContext(t.Context(), "DELETE FROM onerow_job")),
		second(db.ExecContext(t.Context(), "DELETE FROM onerow_quota_mark"))); err != nil {
		t.Fatal(err)
	}
	if err := invariants(t.Context(), db); err == nil || err.Error() != "project 1 is hidden for ever" {
		t.Error(err)
	}
}

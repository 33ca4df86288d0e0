package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
)

const tellCrash = "run it again with -only and this check's name; if it falls again, tell the authors of onerow what it says"

// crashChecks explore: minutes on a slow network.
var crashChecks = []check{
	{
		name: "crash-create", promise: promiseRequest, with: opened, fix: tellCrash,
		what: "a create with a request id fails at each statement, in each way, and is called again",
		run:  func(ctx context.Context, s *site) (string, error) { return s.explore(ctx, createCrash()) },
	},
	{
		name: "crash-key", promise: promiseKey, with: opened, fix: tellCrash,
		what: "work under an idempotency key fails at each statement, in each way, and is called again",
		run:  func(ctx context.Context, s *site) (string, error) { return s.explore(ctx, keyCrash()) },
	},
	{
		name: "race-create", promise: promiseRequest, with: opened, fix: tellCrash,
		what: "one create is sent twice, in each order of the two callers' statements", run: raceCreate,
	},
	{
		name: "race-key", promise: promiseKey, with: opened, fix: tellCrash,
		what: "work under a key is asked for twice, in each order of the two callers' statements", run: raceKey,
	},
	{
		name: "crash-cascade", promise: promiseCascade, with: opened, fix: tellCrash,
		what: "a worker that deletes a small tree fails at each statement, in each way, and is begun again", run: crashCascade,
	},
}

// workflow is what all have in common. Its sessions are as pool.Open sets them up.
func (s *site) workflow(ctx context.Context, w crashtest.Workflow) (crashtest.Workflow, error) {
	var on bool
	if err := s.work.QueryRowContext(ctx, `SELECT @@GLOBAL.autocommit`).Scan(&on); err != nil {
		return w, err
	}
	if !on {
		return w, &notTried{"crashtest looks at the tables in sessions that need the server's own autocommit to be 1", true}
	}
	cfg := s.cfg.Clone()
	cfg.Addr, _, _ = strings.Cut(cfg.Addr, ",")
	cfg.InterpolateParams = pool.CanInterpolate(cfg)
	cfg.MultiStatements = cfg.InterpolateParams && !s.galera
	cfg.Params = maps.Clone(cfg.Params)
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params[s.isolationVariable()] = "'READ-COMMITTED'"
	maps.Copy(cfg.Params, s.causal())
	w.DSN = cfg.FormatDSN()
	w.Wrap = func(c driver.Connector) driver.Connector { return pool.Guard(c) }
	w.Tables = w.Empty
	return w, nil
}

// explore fails a workflow at each of its statements.
func (s *site) explore(ctx context.Context, w crashtest.Workflow) (string, error) {
	w, err := s.workflow(ctx, w)
	if err != nil {
		return "", err
	}
	report, err := crashtest.Explore(ctx, w)
	return fmt.Sprintf("%d fault points at %d statements", report.FaultPoints, len(report.Statements)), explored(err)
}

// explored tells what fails from what could not be explored.
func explored(err error) error {
	var failures *crashtest.Failures
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failures):
		f := failures.List[0]
		if strings.Contains(f.Reason, "the call hangs") { // or the server is slow: the same from here
			return &notTried{fmt.Sprintf("%d runs were made; at %s the call did not end: %s", failures.Runs, where(f), f.Reason), true}
		}
		return fmt.Errorf("%d of %d runs end as they must not, as %s: %s", len(failures.List), failures.Runs, where(f), f.Reason)
	case strings.Contains(err.Error(), "PROCESS") || strings.Contains(err.Error(), "performance_schema"):
		return &notTried{"a right is missing: PROCESS, or on MySQL SELECT on performance_schema; -grants prints it", true}
	case strings.Contains(err.Error(), ": in Setup: ") || strings.Contains(err.Error(), "two calls without faults differ"):
		return &notTried{err.Error(), true}
	}
	return err
}

func where(f *crashtest.Failure) string {
	if f.Schedule != "" {
		return "schedule " + f.Schedule
	}
	return fmt.Sprintf("statement %d, %s", f.Index, f.Fault)
}

func createCrash() crashtest.Workflow {
	return crashtest.Workflow{
		Name: "create", Empty: []string{"onerow_request", "project"},
		Ignore:    []string{"onerow_request.call_token", "onerow_request.fingerprint"},
		Generated: []string{"onerow_request.row_id"},
		Call: func(ctx context.Context, db *sql.DB) error {
			k, err := newKit()
			if err != nil {
				return err
			}
			_, err = k.projects.Create(ctx, db, project{UserID: owner, Name: "Email Campaign"}, repo.RequestID("r"))
			return err
		},
	}
}

func keyCrash() crashtest.Workflow {
	return crashtest.Workflow{
		Name: "key", Empty: []string{"onerow_key", "prove_log"},
		Ignore: []string{"onerow_key.token", "onerow_key.call_token", "onerow_key.version"},
		Call: func(ctx context.Context, db *sql.DB) error {
			k, err := newKit()
			if err != nil {
				return err
			}
			_, err = idempotency.Do(ctx, db, k.keys, idempotency.Key{Operation: "crash", ID: "1"}, charge)
			return err
		},
	}
}

// charge is the work under a key.
func charge(ctx context.Context, tx *onerow.Tx) (string, error) {
	_, err := tx.ExecContext(ctx, sqlLog, "charged")
	return "receipt", err
}

func raceCreate(ctx context.Context, s *site) (string, error) { return s.race(ctx, createCrash()) }
func raceKey(ctx context.Context, s *site) (string, error)    { return s.race(ctx, keyCrash()) }

// race sends one request twice.
func (s *site) race(ctx context.Context, w crashtest.Workflow) (string, error) {
	w, err := s.workflow(ctx, w)
	if err != nil {
		return "", err
	}
	r := crashtest.Race{Workflow: w, AsOnce: true}
	if s.short {
		r.Every, r.Preemptions = -1, 1
	}
	report, err := crashtest.ExploreRace(ctx, r)
	return fmt.Sprintf("%d orders of two callers' %v statements", report.Schedules, report.Statements), explored(err)
}

// crashCascade has a root with three rows below it.
func crashCascade(ctx context.Context, s *site) (string, error) {
	if s.short {
		return "", &notTried{"only without -short: it takes minutes", false}
	}
	w := crashtest.Workflow{
		Name:  "cascade",
		Empty: []string{"onerow_job_plan", "onerow_job_count", "onerow_job", "onerow_job_archive", "onerow_deletion", "note", "project_archive", "project"},
		Ignore: []string{"onerow_job.token", "onerow_job.batch_seq", "onerow_job.last_error", "onerow_job_archive.token",
			"onerow_job_archive.batch_seq", "onerow_job_archive.last_error"},
		Sets: []string{"onerow_deletion"},
		Refs: map[string]string{"onerow_job_archive.id": "onerow_job.id", "onerow_job_count.job_id": "onerow_job.id",
			"project_archive.id": "project.id", "note.project_id": "project.id"},
		Setup: plantTree,
		Call:  func(ctx context.Context, db *sql.DB) error { return drain(ctx, db, treeID) },
	}
	return s.explore(ctx, w)
}

// treeID is the id of the tree's root, its job and its deletion: they stand in the worker's statements, which
// have to be the same each time.
const treeID = 1

// plantTree makes a project with three notes, and deletes it.
func plantTree(ctx context.Context, db *sql.DB) error {
	k, err := newKit()
	if err != nil {
		return err
	}
	root, err := k.projects.Create(ctx, db, project{UserID: owner, Name: "tree"})
	if err != nil {
		return err
	}
	for i := range 3 {
		if _, err := k.notes.Create(ctx, db, note{ProjectID: root.Row.ID, Text: fmt.Sprint("leaf ", i)}); err != nil {
			return err
		}
	}
	if _, err := k.projects.Delete(ctx, db, root.Row.ID); err != nil {
		return err
	}
	for _, statement := range []string{
		`UPDATE onerow_job SET id = 1, resource_id = '1', deletion_id = 1`, `UPDATE onerow_deletion SET id = 1, resource_id = '1'`,
		`UPDATE project_archive SET id = 1, deletion_id = 1`, `UPDATE project SET id = 1`, `UPDATE note SET project_id = 1`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// drain works until the job is done. A worker that stopped holds it for a while: crashtest sees who waits for
// its row.
func drain(ctx context.Context, db *sql.DB, id int64) error {
	worker, err := cascade.NewWorker(db, plan, cascade.Config{Load: 1, Target: -1, Lease: time.Millisecond, Name: "w", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		worked, err := worker.RunOnce(ctx)
		if err == nil && worked == 0 {
			_, err = db.ExecContext(ctx, `SELECT id FROM onerow_job WHERE id = ? FOR UPDATE`, id)
		}
		if err != nil {
			return err
		}
		job, err := queue.Get(ctx, db, id)
		if err != nil || job.State == queue.Done {
			return err
		}
	}
	return context.Cause(ctx)
}

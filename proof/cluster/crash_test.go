//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
)

type crashProject struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

// A screen is what makes a project a parent, so that the plan is one with guards.
func crashPlan() schema.Plan {
	return schema.Plan{Cluster: true, Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}},
		{Name: "screen", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
	}}
}

// crashVerb is the state before a verb, and the call.
type crashVerb struct {
	name        string
	setup, call func(ctx context.Context, db *sql.DB) error
	points      int // at least
}

// crashTables are compared on the first node after each run, and emptied before it.
var crashTables = []string{"project", "project_archive", "onerow_request", "onerow_job", "onerow_deletion", "onerow_key",
	"onerow_serial", "onerow_serial_claim", "charge"}

// TestCrashThroughTwoNodes fails verbs at every statement on one node, and makes each call that comes after
// on the next one: the client's pool has lost the node, or its load balancer has led it elsewhere. A process
// that stops for good keeps its locks on the first node, where the second one does not see them.
func TestCrashThroughTwoNodes(t *testing.T) {
	s := newSite(t, append(crashPlan().DDL(), chargeDDL)...)
	for _, v := range crashVerbs(t) {
		t.Run(v.name, func(t *testing.T) {
			report := crashtest.Run(t, s.throughTwoNodes(v))
			if report.FaultPoints < v.points {
				t.Errorf("%d fault points, want at least %d", report.FaultPoints, v.points)
			}
			t.Logf("%d fault points", report.FaultPoints)
			s.TB = t
			s.same()
		})
	}
}

// TestCrashCatchesANaiveTwin is the control: who counts first and pays then pays twice.
func TestCrashCatchesANaiveTwin(t *testing.T) {
	s := newSite(t, append(crashPlan().DDL(), chargeDDL)...)
	twin := crashVerb{"pay", nil, func(ctx context.Context, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, insertCharge); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, `INSERT IGNORE INTO onerow_key (operation, idem_key, status) VALUES ('pay', 'a', 'complete')`)
		return err
	}, 0}
	w := s.throughTwoNodes(twin)
	w.Once = true
	_, err := crashtest.Explore(t.Context(), w)
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v", err)
	}
	t.Logf("caught: %.300s", err.Error())
}

const (
	chargeDDL    = `CREATE TABLE charge (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, amount BIGINT NOT NULL) ENGINE=InnoDB`
	insertCharge = `INSERT INTO charge (amount) VALUES (5)`
)

// throughTwoNodes is a verb whose first call in each run goes to the first node, with its fault, and whose
// later ones go to the second.
func (s *site) throughTwoNodes(v crashVerb) crashtest.Workflow {
	cfg := nodes.Server(0).Config(s.name)
	name, value := causal()
	cfg.Params[name] = value
	calls := 0
	return crashtest.Workflow{
		Name: v.name, DSN: cfg.FormatDSN(),
		Empty: crashTables,
		Setup: func(ctx context.Context, db *sql.DB) error {
			calls = 0
			if v.setup == nil {
				return nil
			}
			return v.setup(ctx, db)
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			if calls++; calls > 1 {
				db = s.db[1]
			}
			return v.call(ctx, db)
		},
		Tables:    crashTables,
		Refs:      map[string]string{"project_archive.id": "project.id", "project_archive.deletion_id": "onerow_job.deletion_id"},
		Generated: []string{"onerow_job.deletion_id", "onerow_request.row_id"},
		Ignore:    []string{"onerow_request.call_token", "onerow_key.token", "onerow_key.call_token", "onerow_key.version", "onerow_serial_claim.call_token", "onerow_job.batch_seq"},
		Sets:      []string{"onerow_deletion"},
	}
}

func crashVerbs(t *testing.T) []crashVerb {
	projects, err := repo.New[crashProject](crashPlan(), "project")
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := serial.New("invoice")
	if err != nil {
		t.Fatal(err)
	}
	one := func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
  VALUES (1, 1, 'A', 'a', 'a', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		return err
	}
	archive := func(ctx context.Context, db *sql.DB) error { return answered(projects.Archive(ctx, db, 1)) }
	return []crashVerb{
		{"create", nil, func(ctx context.Context, db *sql.DB) error {
			return answered(projects.Create(ctx, db, crashProject{UserID: 1, Name: "A"}, repo.RequestID("r")))
		}, 40},
		{"archive", one, archive, 40},
		{"activate", func(ctx context.Context, db *sql.DB) error { return errors.Join(one(ctx, db), archive(ctx, db)) },
			func(ctx context.Context, db *sql.DB) error { return answered(projects.Activate(ctx, db, 1)) }, 40},
		{"delete", one, func(ctx context.Context, db *sql.DB) error {
			del, err := projects.Delete(ctx, db, 1)
			if err == nil && del.JobID == 0 {
				err = errors.New("it does not say which job deletes what is below")
			}
			return err
		}, 40},
		{"key", nil, func(ctx context.Context, db *sql.DB) error {
			keys, err := idempotency.New(idempotency.Config{Name: "crash"}) // a process that starts has seen no key end
			if err != nil {
				return err
			}
			out, err := idempotency.Do(ctx, db, keys, idempotency.Key{Operation: "pay", ID: "a"}, pay)
			if err == nil && out.Row != 5 {
				err = fmt.Errorf("answered %d", out.Row)
			}
			return err
		}, 30},
		{"serial", nil, func(ctx context.Context, db *sql.DB) error { return answered(numbers.Claim(ctx, db, "k", 3)) }, 40},
	}
}

// pay is not idempotent by itself.
func pay(ctx context.Context, tx *onerow.Tx) (int, error) {
	_, err := tx.ExecContext(ctx, insertCharge)
	return 5, err
}

func answered[T any](_ T, err error) error { return err }

// causal is what pool.Open sets, for the pools that crashtest opens.
func causal() (name, value string) {
	if nodes.Kind() == devdb.Galera {
		return "wsrep_sync_wait", "7"
	}
	return "group_replication_consistency", "'BEFORE'"
}

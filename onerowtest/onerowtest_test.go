package onerowtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
)

func TestMain(m *testing.M) { onerowtest.Main(m) }

type show struct {
	ID        int64        `db:"id"`
	Organiser int64        `db:"organiser_id"`
	Title     string       `db:"title"`
	State     schema.State `db:"state"`
}

type seat struct {
	ID     int64  `db:"id"`
	ShowID int64  `db:"show_id"`
	Label  string `db:"label"`
}

var plan = schema.Plan{Trash: schema.Age(24 * time.Hour), Resources: []schema.Resource{
	{
		Name: "show", Archive: "show_archive", Owner: "organiser_id", Label: schema.Label{Column: "title"},
	},
	{
		Name: "seat", Owner: "show_id", Parent: schema.Parent{Resource: "show", Column: "show_id"},
		Label: schema.Label{Column: "label"},
	},
}}

// receipt is a table of the application's own, with a foreign key to another one.
var receipt = []string{
	`CREATE TABLE buyer (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80) NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE receipt (id BIGINT PRIMARY KEY AUTO_INCREMENT, buyer_id BIGINT NOT NULL, number BIGINT NOT NULL,
 FOREIGN KEY (buyer_id) REFERENCES buyer (id)) ENGINE=InnoDB`,
}

type app struct {
	shows   *repo.Repo[show]
	seats   *repo.Repo[seat]
	numbers *serial.Series
}

func newApp(t *testing.T) app {
	t.Helper()
	shows, err := repo.New[show](plan, "show")
	seats, err2 := repo.New[seat](plan, "seat")
	numbers, err3 := serial.New("receipt")
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return app{shows, seats, numbers}
}

func TestDB(t *testing.T) {
	a, other := onerowtest.DB(t, plan, receipt...), onerowtest.DB(t, schema.Plan{})
	row, err := newApp(t).shows.Create(t.Context(), a, show{Organiser: 7, Title: "Hamlet"})
	if err != nil {
		t.Fatal(err)
	}
	onerowtest.NotQueued(t, a, "show", row.Row.ID)
	if _, err := newApp(t).shows.Delete(t.Context(), a, row.Row.ID); err != nil {
		t.Fatal(err)
	}
	if job := onerowtest.Queued(t, a, "show", row.Row.ID); job.Resource != "show" {
		t.Errorf("the job: %+v", job)
	}
	onerowtest.NotQueued(t, other, "show", row.Row.ID) // a database of its own
	if !fails(t, func(t testing.TB) { onerowtest.NotQueued(t, a, "show", row.Row.ID) }) {
		t.Error("an open job is not queued")
	}
	worker, err := cascade.NewWorker(a, plan, cascade.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	onerowtest.NotQueued(t, a, "show", row.Row.ID) // it has ended
	if !fails(t, func(t testing.TB) { onerowtest.Queued(t, a, "show", row.Row.ID) }) {
		t.Error("a job that has ended is queued")
	}
}

// failing is a test that may fail.
type failing struct{ testing.TB }

func (f failing) Fatalf(string, ...any) { panic(f) }

// fails says whether what is tested fails.
func fails(t *testing.T, test func(t testing.TB)) (failed bool) {
	t.Helper()
	defer func() { _, failed = recover().(failing) }()
	test(failing{t})
	return false
}

// TestWorkflow fails everything that the tables hold at every statement: what a newcomer's test does.
func TestWorkflow(t *testing.T) {
	a := newApp(t)
	for name, call := range map[string]func(ctx context.Context, db *sql.DB, row show) error{
		"create": func(ctx context.Context, db *sql.DB, _ show) error {
			res, err := a.shows.Create(ctx, db, show{Organiser: 8, Title: "Macbeth"}, repo.RequestID("r"))
			if err == nil {
				_, err = a.seats.Create(ctx, db, seat{ShowID: res.Row.ID, Label: "A 1"}, repo.RequestID("s"))
			}
			return err
		},
		"archive": func(ctx context.Context, db *sql.DB, row show) error {
			_, err := a.shows.Archive(ctx, db, row.ID)
			return err
		},
		"delete": func(ctx context.Context, db *sql.DB, row show) error {
			_, err := a.shows.Delete(ctx, db, row.ID)
			return err
		},
		"a number under a key": func(ctx context.Context, db *sql.DB, _ show) error {
			keys, err := idempotency.New(idempotency.Config{})
			if err != nil {
				return err
			}
			key := idempotency.Key{Operation: "sell", ID: "1"}
			_, err = idempotency.Do(ctx, db, keys, key, func(ctx context.Context, tx *onerow.Tx) (int64, error) {
				bought, err := tx.ExecContext(ctx, "INSERT INTO buyer (name) VALUES ('ann')")
				if err != nil {
					return 0, err
				}
				buyer, err := bought.LastInsertId()
				if err != nil {
					return 0, err
				}
				got, err := a.numbers.Claim(ctx, tx, "order 1", 1)
				if err != nil {
					return 0, err
				}
				_, err = tx.ExecContext(ctx, "INSERT INTO receipt (buyer_id, number) VALUES (?, ?)", buyer, got.Row.From)
				return got.Row.From, err
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := onerowtest.Workflow(t, plan, receipt...)
			var row show
			w.Setup = func(ctx context.Context, db *sql.DB) error {
				res, err := a.shows.Create(ctx, db, show{Organiser: 7, Title: "Hamlet"})
				row = res.Row
				return err
			}
			w.Call = func(ctx context.Context, db *sql.DB) error { return call(ctx, db, row) }
			if report := crashtest.Run(t, w); report.FaultPoints < 30 {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

// TestWorkflowFinds is the negative control: the mark of a deletion, and its job in a transaction of its own.
func TestWorkflowFinds(t *testing.T) {
	a := newApp(t)
	w := onerowtest.Workflow(t, plan)
	var row show
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		res, err := a.shows.Create(ctx, db, show{Organiser: 7, Title: "Hamlet"})
		row = res.Row
		return err
	}
	w.Call = func(ctx context.Context, db *sql.DB) error {
		gone, err := db.ExecContext(ctx, "DELETE FROM `show` WHERE id = ?", row.ID)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			return err // somebody has deleted it, and will have queued the rest
		}
		_, err = queue.Enqueue(ctx, db, queue.Deletion{Resource: "show", ResourceID: fmt.Sprint(row.ID)})
		return err
	}
	_, err := crashtest.Explore(t.Context(), w)
	var failures *crashtest.Failures
	if !errors.As(err, &failures) || !strings.Contains(err.Error(), "onerow_job") {
		t.Fatalf("not caught: %v", err)
	}
}

// TestColumns holds that each column the workflow names is one of the toolkit's tables, and that none of the
// columns of random tokens is forgotten.
func TestColumns(t *testing.T) {
	w := onerowtest.Workflow(t, plan)
	db := onerowtest.DB(t, plan)
	named := append(append([]string{}, w.Ignore...), w.Generated...)
	for from, to := range w.Refs {
		named = append(named, from, to)
	}
	has := map[string]bool{}
	rows, err := db.QueryContext(t.Context(), "SELECT CONCAT(TABLE_NAME, '.', COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		has[name] = true
		if strings.HasSuffix(name, ".call_token") && !strings.Contains(strings.Join(w.Ignore, " "), name) {
			t.Errorf("%s is compared, and random", name)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range named {
		if !has[name] && !strings.Contains(name, ".") {
			_, err := db.ExecContext(t.Context(), "SELECT 1 FROM "+name+" LIMIT 1")
			has[name] = err == nil // a whole table
		}
		if !has[name] {
			t.Errorf("there is no column %s", name)
		}
	}
}

// TestTwoResources: ids of two tables that are equal by chance, where a fault has used up none, are no difference.
func TestTwoResources(t *testing.T) {
	type row struct {
		ID    int64  `db:"id"`
		Owner int64  `db:"owner_id"`
		Name  string `db:"name"`
	}
	plan := schema.Plan{Resources: []schema.Resource{
		{Name: "dog", Owner: "owner_id", Label: schema.Label{Column: "name"}},
		{Name: "visit", Owner: "owner_id", Label: schema.Label{Column: "name"}},
	}}
	dogs, err := repo.New[row](plan, "dog")
	if err != nil {
		t.Fatal(err)
	}
	visits, err := repo.New[row](plan, "visit")
	if err != nil {
		t.Fatal(err)
	}
	w := onerowtest.Workflow(t, plan)
	w.Call = func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := dogs.Create(ctx, tx, row{Owner: 1, Name: "Rex"}, repo.RequestID("r")); err != nil {
				return err
			}
			_, err := visits.Create(ctx, tx, row{Owner: 1, Name: "first"}, repo.RequestID("r"))
			return err
		})
	}
	crashtest.Run(t, w)
}

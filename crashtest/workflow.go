package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Workflow is one logical request to a database, to be failed at every statement.
//
// Columns are named "table.column" everywhere.
type Workflow struct {
	// Name is for messages. Run takes the test's name when it is empty.
	Name string

	// DSN is where to run, in go-sql-driver's form, with the name of a schema that nobody else uses
	// meanwhile. Its settings hold: isolation level (transaction_isolation, on MariaDB tx_isolation),
	// interpolateParams, clientFoundRows.
	DSN string

	// Wrap, if set, makes the connector of the pool that Call is given from the one that logs and fails
	// statements, in the way that your application opens its own. What it sends as several statements in one
	// packet fails inside, too (multiStatements=true in DSN).
	Wrap func(c driver.Connector) driver.Connector

	// Empty are tables whose rows are deleted before each Setup, in this order, children before what they
	// refer to: one round trip, and another one if any of them has rows.
	Empty []string

	// Setup brings the tables to the state in which each run starts, the same each time. It runs often and on
	// a handle without faults: DELETE FROM and INSERT, not DDL. Not needed where Empty says all.
	Setup func(ctx context.Context, db *sql.DB) error

	// Call is the workflow. Each call is the same request again, as a caller makes it that did not get an
	// answer: same request id, same arguments. An error means "call again". It sends its statements from one
	// goroutine and in the same order each time, and holds no connection when it returns. Errors that a
	// repeated request gets by right (already gone) are for Call to turn into nil.
	Call func(ctx context.Context, db *sql.DB) error

	// Check, if set, is a further condition after each run, on a handle without faults.
	Check func(ctx context.Context, db *sql.DB) error

	// Tables are the tables to compare. Default: all base tables of the schema.
	Tables []string

	// Ignore lists columns, and whole tables, that are not compared: random tokens, version counters that
	// retries may bump.
	Ignore []string

	// Generated lists columns whose values are drawn anew by each run, so only which of them are equal is
	// compared. Auto-increment columns need no mention. Where there are such columns, the ids of each table
	// begin elsewhere (ALTER TABLE … AUTO_INCREMENT): ids of two tables are not equal by chance.
	Generated []string

	// Refs says which columns hold values of which generated columns: {"comment.screen_id": "screen.id"}.
	// Foreign keys need no mention. A row that moves to another table and keeps its id needs one:
	// {"project_archive.id": "project.id"}.
	Refs map[string]string

	// Sets are tables in which a row may be there more than once, audits for example: only the distinct rows
	// are compared, their auto-increment columns left out.
	Sets []string

	// Once: a call that returned nil is not made again. By default it is, and must return nil and change
	// nothing.
	Once bool

	// Expire does what time does to a process that stopped: leases and claims that it held run out. It is
	// called once between such a stop and the next call, on a handle without faults. In a Race with Stops
	// that is when the other copies have ended, before the request of the process that stopped is made again;
	// without Stops it is not called. Default: nothing runs out.
	Expire func(ctx context.Context, db *sql.DB) error

	// Without are faults that are left out.
	Without []Fault
}

// Report is what an exploration did.
type Report struct {
	Workflow  string
	Engine    string // what SELECT VERSION() says
	Isolation string // of the sessions of the DSN
	// Statements are those of one call without faults.
	Statements Log
	// FaultPoints is how many runs with a fault were made and compared.
	FaultPoints int
	Elapsed     time.Duration
}

// String is the report on one line.
func (r Report) String() string {
	return fmt.Sprintf("crashtest: workflow %q: %d statements, %d fault points in %s (%s, %s)", r.Workflow, len(r.Statements),
		r.FaultPoints, r.Elapsed.Round(time.Millisecond), r.Engine, r.Isolation)
}

// Run fails the test unless the workflow survives every fault at every statement. It logs and returns what it
// did, so that a test can also assert that it was not little. See Explore.
func Run(t testing.TB, w Workflow) Report {
	t.Helper()
	if w.Name == "" {
		w.Name = t.Name()
	}
	report, err := Explore(t.Context(), w)
	t.Log(report)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Explore learns the statements of the workflow from calls without faults, then runs it once for every fault
// point: Setup, Call with the fault, Call again without until one returns nil, and compares the tables with
// those of a call without faults.
//
// The error is *Failures when the workflow does not survive; any other error says that it could not be
// explored (Setup failed, the statements or tables differ between two calls without faults). The report is
// filled as far as the exploration came.
func Explore(ctx context.Context, w Workflow) (Report, error) {
	begin := time.Now()
	report := Report{Workflow: w.Name}
	x, err := newExplorer(ctx, w, 0)
	if errors.Is(err, errPrivilege) {
		err = fmt.Errorf("%w (or leave the fault Abandoned out: Without)", err)
	}
	if err == nil {
		err = x.explore(ctx, &report)
		err = errors.Join(err, x.close())
	}
	report.Elapsed = time.Since(begin)
	return report, explored(w.Name, err)
}

func (w *Workflow) check() error {
	var missing []string
	if w.DSN == "" {
		missing = append(missing, "DSN")
	}
	if w.Setup == nil && len(w.Empty) == 0 {
		missing = append(missing, "Setup")
	}
	if w.Call == nil {
		missing = append(missing, "Call")
	}
	if missing != nil {
		return fmt.Errorf("the workflow lacks %s", strings.Join(missing, " and "))
	}
	return nil
}

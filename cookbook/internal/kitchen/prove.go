package kitchen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
)

// Statements are those of a file of SQL.
func Statements(t *testing.T, name string) (list []string) {
	t.Helper()
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name) //nolint:gosec // of the recipe's folder
	if err != nil {
		t.Fatal(err)
	}
	for s := range strings.SplitSeq(string(text), ";\n") {
		var lines []string
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		if s = strings.TrimSpace(strings.Join(lines, "")); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// workflow has a database of its own, with the toolkit's tables or without.
func (s Side) workflow(t *testing.T) crashtest.Workflow {
	t.Helper()
	var w crashtest.Workflow
	if s.toolkit {
		w = onerowtest.Workflow(t, s.Plan, Statements(t, s.Tables)...)
	} else {
		w.DSN = dbtest.DSN(t)
		exec(t, dbtest.OpenDSN(t, w.DSN), Statements(t, s.Tables)...)
		w.Empty = tables(t, s.Tables)
	}
	w.Name = t.Name()
	w.Ignore = append(w.Ignore, s.Ignore...)
	w.Setup = func(ctx context.Context, db *sql.DB) error { return execAll(ctx, db, s.Setup) }
	w.Call = s.Calls[0]
	if s.Expire != nil {
		w.Expire = func(ctx context.Context, db *sql.DB) error { return execAll(ctx, db, s.Expire) }
	}
	return w
}

func execAll(ctx context.Context, db *sql.DB, list []string) error {
	for _, query := range list {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// fresh is the workflow on tables that are made anew for each run. Rows that were only deleted stay for a
// while, and InnoDB locks them instead of the gap where they are missing: a schedule would come out
// otherwise now and then.
func fresh(w crashtest.Workflow) crashtest.Workflow {
	rows, names := w.Setup, w.Empty
	w.Empty = nil
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		list := []string{"SET SESSION foreign_key_checks = 0"}
		for _, name := range names {
			list = append(list, "TRUNCATE TABLE `"+name+"`")
		}
		for _, query := range append(list, "SET SESSION foreign_key_checks = 1") {
			if _, err := conn.ExecContext(ctx, query); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", query, err), conn.Close())
			}
		}
		if err := conn.Close(); err != nil {
			return err
		}
		return rows(ctx, db)
	}
	return w
}

func exec(t *testing.T, db *sql.DB, list ...string) {
	t.Helper()
	if err := execAll(t.Context(), db, list); err != nil {
		t.Fatal(err)
	}
}

// created is the name of a table in the statement that makes it.
var created = regexp.MustCompile(`^CREATE TABLE (\w+)`)

// tables are those of a file, the last first: it may refer to the others.
func tables(t *testing.T, file string) (names []string) {
	t.Helper()
	for _, s := range Statements(t, file) {
		if m := created.FindStringSubmatch(s); m != nil {
			names = append(names, m[1])
		}
	}
	slices.Reverse(names)
	return names
}

// at is the workflow with sessions of another isolation level.
func at(t *testing.T, w crashtest.Workflow, level sql.IsolationLevel) crashtest.Workflow {
	t.Helper()
	cfg, err := mysql.ParseDSN(w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"transaction_isolation", "tx_isolation"} {
		if cfg.Params[name] != "" {
			cfg.Params[name] = "'" + strings.ToUpper(strings.ReplaceAll(level.String(), " ", "-")) + "'"
		}
	}
	w.DSN = cfg.FormatDSN()
	return w
}

func (r Recipe) race(w crashtest.Workflow, calls []Call) crashtest.Race {
	race := crashtest.Race{Workflow: w, AsOnce: r.AsOnce, Judge: r.Judge, Every: 300}
	if len(calls) > 1 {
		race.Calls = calls
	}
	if r.Answered {
		race.Again = func(error) bool { return false }
	}
	return race
}

// refusals are what a server says to a transaction that it undoes: deadlock, lock wait timeout, a row that
// has changed since the transaction's snapshot.
func refusals(err error) bool {
	server, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (server.Number == 1213 || server.Number == 1205 || server.Number == 1020)
}

// watched counts the calls that were refused.
func watched(calls []Call, refused *atomic.Int64) (list []Call) {
	for _, call := range calls {
		list = append(list, func(ctx context.Context, db *sql.DB) error {
			err := call(ctx, db)
			if refusals(err) {
				refused.Add(1)
			}
			return err
		})
	}
	return list
}

// outcome is what becomes of the naive code in this workflow, with the trace where it breaks.
func (r Recipe) outcome(ctx context.Context, w crashtest.Workflow) (Outcome, crashtest.Trace, error) {
	var refused atomic.Int64
	calls := watched(r.Naive.Calls, &refused)
	w.Call, w.Once = calls[0], r.ByCrash
	var trace crashtest.Trace
	var err error
	if r.ByCrash {
		trace, _, err = crashtest.ShortestFault(ctx, w)
	} else {
		trace, _, err = crashtest.ShortestRace(ctx, r.race(w, calls))
	}
	switch {
	case err == nil:
		return Breaks, trace, nil
	case !errors.Is(err, crashtest.ErrSurvives):
		return "", trace, err
	case refused.Load() > 0 && !r.ByCrash: // a crash's own refusals are injected
		return Refused, trace, nil
	}
	return Holds, trace, nil
}

// breaks asserts each row of the table, and keeps the schedule of one of them.
func (r Recipe) breaks(t *testing.T, engine string) {
	w := fresh(r.Naive.workflow(t))
	for i, want := range r.Table.of(engine) {
		got, trace, err := r.outcome(t.Context(), at(t, w, levels[i]))
		if err != nil {
			t.Fatalf("%s: %v", levels[i], err)
		}
		if got == Breaks {
			t.Logf("%s: breaks in %d steps: %s%s", levels[i], len(trace.Steps), trace.Schedule, trace.Fault)
		}
		if got != want {
			t.Errorf("on %s at %s the naive code: %s; the table says: %s\n%s", engine, levels[i], got, want, text(trace))
		}
		if got == Breaks && levels[i] == r.Trace {
			same(t, "trace."+engine+".txt", text(trace))
			same(t, "trace."+engine+".svg", svg(trace))
		}
	}
	if !strings.Contains(r.Table.markdown(), string(Breaks)) {
		t.Error("the table says that the naive code breaks nowhere")
	}
}

// holds runs every schedule and every fault within the bound; with -short schedules at one level, of which
// many have one switch only.
func (r Recipe) holds(t *testing.T, s Side) {
	w, tried := s.workflow(t), levels[:2]
	if testing.Short() {
		tried = levels[:1]
	}
	for _, level := range tried {
		one := at(t, w, level)
		race := r.race(one, s.Calls)
		if testing.Short() {
			race.Every, race.Preemptions = 60, 1
		}
		report, err := crashtest.ExploreRace(t.Context(), race)
		if err != nil {
			t.Errorf("%s: %v", level, err)
		}
		if report.Schedules < 2 {
			t.Errorf("%s: %d schedules are no proof", level, report.Schedules)
		}
		if testing.Short() {
			t.Logf("%s: holds in %d schedules", level, report.Schedules)
			continue
		}
		one.Name += " " + level.String()
		faults, err := crashtest.Explore(t.Context(), one)
		if err != nil {
			t.Errorf("%s: %v", level, err)
		}
		t.Logf("%s: holds in %d schedules and at %d fault points", level, report.Schedules, faults.FaultPoints)
	}
}

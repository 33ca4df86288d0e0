package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/ident"
)

// callLimit bounds one call of the workflow. One that takes longer hangs, usually at a lock that an earlier
// call left behind.
const callLimit = 20 * time.Second

// maxFailures ends the exploration of a workflow that fails everywhere.
const maxFailures = 25

// maxCalls is how many calls, the faulted one included, may be needed until one returns nil.
const maxCalls = 3

// explorer runs one workflow. Its handles live as long as it: the lane for Call, a plain one for Setup and
// Check, and the observer's.
type explorer struct {
	w Workflow
	*lane
	spare    *lane   // of the process that retries after one that stopped
	copies   []*lane // of a race, one for each copy
	plain    *sql.DB
	observer *sql.DB
	server   *server
	tables   []*table

	start  *identity // the tables after Setup
	want   *identity // start and end of a call without faults
	learnt Log

	began   snapshot       // the last start
	made    [][]*execution // of each call since the last setup
	stepped *trace         // of the last fault after which a process stopped
}

func newExplorer(ctx context.Context, w Workflow, copies int) (*explorer, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	cfg, err := mysql.ParseDSN(w.DSN)
	if err != nil {
		return nil, fmt.Errorf("the DSN: %w", err)
	}
	if cfg.DBName == "" {
		return nil, errors.New("the DSN names no schema")
	}
	cfg.Logger = &mysql.NopLogger{} // each killed connection would be a line in the test's output
	observer := cfg.Clone()
	observer.MultiStatements, observer.InterpolateParams, observer.ParseTime = true, true, false
	delete(observer.Params, "autocommit")

	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("the DSN: %w", err)
	}
	observing, err := mysql.NewConnector(observer)
	if err != nil {
		return nil, fmt.Errorf("the DSN: %w", err)
	}
	x := &explorer{w: w, lane: newLane(w, inner), spare: newLane(w, inner), plain: sql.OpenDB(inner), observer: sql.OpenDB(observing)}
	for range copies {
		x.copies = append(x.copies, newLane(w, inner))
	}
	x.server, err = newServer(ctx, x.observer, !slices.Contains(w.Without, Abandoned))
	if err == nil {
		x.tables, err = loadCatalog(ctx, x.observer, w)
	}
	if err == nil && len(w.Generated) > 0 {
		err = x.liftCounters(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

func (x *explorer) close() error {
	errs := []error{x.plain.Close(), x.observer.Close()}
	for _, l := range append(x.copies, x.lane, x.spare) {
		errs = append(errs, l.db.Close())
	}
	return errors.Join(errs...)
}

func (x *explorer) explore(ctx context.Context, report *Report) (err error) {
	if report.Engine, report.Isolation, err = x.server.named(ctx, x.plain); err != nil {
		return err
	}
	if err := x.learn(ctx); err != nil {
		return err
	}
	report.Statements = x.learnt
	failures := &Failures{Workflow: x.w.Name, beside: x.learnt.beside()}
	for _, p := range pointsOf(x.learnt, x.w.Without...) {
		failure, hung, err := x.visit(ctx, p)
		if err == nil {
			err = ctx.Err() // of the exploration: what the calls answered says nothing then
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", p, err), failures.orNil())
		}
		report.FaultPoints++
		failures.Runs = report.FaultPoints
		if failure != nil {
			failures.List = append(failures.List, failure)
		}
		if hung || len(failures.List) == maxFailures {
			break
		}
	}
	return failures.orNil()
}

// learn makes the call without faults twice, each from the start, and holds the second against the first. The
// second is then repeated.
func (x *explorer) learn(ctx context.Context) error {
	for _, name := range []string{"first", "second"} {
		start, err := x.setup(ctx)
		if err != nil {
			return err
		}
		answer, broken := x.call(ctx, nil)
		if err := errors.Join(answer, broken); err != nil {
			return fmt.Errorf("the %s call without faults: %w", name, err)
		}
		log := x.connector.statements().renumbered()
		got, err := x.look(ctx, start)
		if err != nil {
			return fmt.Errorf("after the %s call without faults: %w", name, err)
		}
		if x.learnt == nil {
			x.learnt, x.want = log, got
			continue
		}
		if err := sameStatements(x.learnt, log); err != nil {
			return err
		}
		if d := diff(x.want, got, faultSides); d != "" {
			return fmt.Errorf("two calls without faults leave different tables: columns with generated values belong into Refs or Generated, "+
				"times and random values into Ignore (- first, + second):\n%s", d)
		}
		reason, d, err := x.again(ctx, start)
		if err != nil {
			return fmt.Errorf("the call made again without faults: %w", err)
		}
		if reason != "" {
			if d != "" {
				reason += " (- once, + twice):\n" + d
			}
			return fmt.Errorf("without faults: %s", reason)
		}
	}
	if len(x.learnt) == 0 {
		return errors.New("the call sent no statement")
	}
	return nil
}

func sameStatements(first, second Log) error {
	for i := range max(len(first), len(second)) {
		if i >= len(first) || i >= len(second) || first[i] != second[i] {
			return fmt.Errorf("two calls without faults differ at statement %d; first:\n%ssecond:\n%s", i+1, first, second)
		}
	}
	return nil
}

// setup brings the tables to the start and sees that it is the same each time.
func (x *explorer) setup(ctx context.Context) (snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	x.made = nil
	if err := x.empty(ctx); err != nil {
		return nil, err
	}
	if x.w.Setup != nil {
		if err := x.w.Setup(ctx, x.plain); err != nil {
			return nil, fmt.Errorf("in Setup: %w", err)
		}
	}
	if err := settle(x.plain); err != nil {
		return nil, fmt.Errorf("in Setup: %w", err)
	}
	start, err := takeSnapshot(ctx, x.observer, x.tables)
	if err != nil {
		return nil, err
	}
	x.began = start
	seen := identify(x.tables, nil, start)
	if x.start == nil {
		x.start = seen
	}
	if d := diff(x.start, seen, faultSides); d != "" {
		return nil, fmt.Errorf("the tables are not the same after each Setup (- first, + now):\n%s", d)
	}
	return start, nil
}

// empty deletes the rows of the tables of Empty. Each statement is a transaction of its own.
func (x *explorer) empty(ctx context.Context) error {
	if len(x.w.Empty) == 0 {
		return nil
	}
	has, err := haveRows(ctx, x.observer, x.w.Empty)
	if err != nil {
		return fmt.Errorf("emptying the tables: %w", err)
	}
	first := slices.Index(has, true)
	if first < 0 {
		return nil
	}
	// All behind it: a trigger may fill a table that is still empty.
	var queries []string
	for _, name := range x.w.Empty[first:] {
		queries = append(queries, "DELETE FROM "+ident.Quote(name))
	}
	if _, err := x.observer.ExecContext(ctx, strings.Join(queries, "; ")); err != nil {
		return fmt.Errorf("emptying the tables: %w", err)
	}
	return nil
}

// look reads the tables and runs the workflow's own check.
func (x *explorer) look(ctx context.Context, start snapshot) (*identity, error) {
	end, err := takeSnapshot(ctx, x.observer, x.tables)
	if err != nil {
		return nil, err
	}
	if x.w.Check != nil {
		if err := x.w.Check(ctx, x.plain); err != nil {
			return nil, &hookError{"Check", err}
		}
	}
	return identify(x.tables, start, end), nil
}

// hookError tells what a function of the workflow's says, its Check or Expire, from what goes wrong
// otherwise.
type hookError struct {
	hook string
	err  error
}

func (e *hookError) Error() string { return e.hook + ": " + e.err.Error() }
func (e *hookError) Unwrap() error { return e.err }

// errHung is a call that cannot be followed by another.
var errHung = errors.New("the call hangs, or keeps a connection (an open transaction or open rows)")

// call makes one call, with the fault if there is one, and waits until the server has ended every session
// that was dropped meanwhile. The answer is the workflow's; broken wraps errHung, or says that the server
// could not be asked.
func (x *explorer) call(ctx context.Context, in *injector) (answer, broken error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if in == nil {
		x.connector.intercept(nil)
	} else {
		in.cancel = cancel
		x.connector.intercept(in.intercept)
	}
	answer = x.w.Call(ctx, x.db)
	x.made = append(x.made, x.connector.executions())
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return answer, fmt.Errorf("%w: no answer within %s", errHung, callLimit)
	}
	if err := settle(x.db); err != nil {
		return answer, fmt.Errorf("%w: %w", errHung, err)
	}
	for _, session := range x.connector.takeEnded() {
		if err := x.server.awaitEnd(session); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

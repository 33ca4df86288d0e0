package crashtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// Race is a workflow that runs two or three times at once, to be stepped through the interleavings of its
// statements.
type Race struct {
	// Workflow says where, from which state and what is compared, as for Run. An answer that asks for a
	// repetition (Again) has the call made again, at most three times in all; its statements are further
	// steps. Once is of no meaning here.
	Workflow

	// Calls are the two or three that run. Default: Call, twice.
	Calls []func(ctx context.Context, db *sql.DB) error

	// AsOnce: the copies are one request that was sent several times. The tables must be those that one call
	// leaves, and each copy must be answered like it. By default the tables and all answers together must be
	// those of a serial execution: the copies one after the other, in some order.
	AsOnce bool

	// Judge, if set, decides in place of that comparison, on a handle without faults: it returns an error
	// where the end state or the answers, one for each copy, are wrong. Check is asked as well, if set.
	Judge func(ctx context.Context, db *sql.DB, answers []error) error

	// Again says which answers make a caller repeat the request. Default: errors 1213, 1205, 1020, 1180,
	// 1467 and 3101, a server that takes no writes at present, and a lost connection.
	Again func(answer error) bool

	// Stops: also the schedules in which a process stops for good before one of its statements, with its
	// connection open. When a copy is seen to wait the connection is killed; when the others have ended,
	// Expire is called and the request is made again.
	Stops bool

	// Preemptions is how often a schedule may switch from a copy that could go on. Default 2.
	Preemptions int

	// Every: with fewer interleavings than this every one is run, whatever its preemptions. Default 5,000;
	// negative: never.
	Every int
}

// RaceReport is what the exploration of a race did.
type RaceReport struct {
	Workflow  string
	Engine    string // what SELECT VERSION() says
	Isolation string // of the sessions of the DSN
	// Statements is how many statements each copy sends in the first serial execution.
	Statements []int
	// Serial is how many different ends the serial executions have.
	Serial int
	// Schedules is how many interleavings were run and judged; Distinct how many of them differ in what
	// happened in which order.
	Schedules, Distinct int
	// Stopped is in how many of them a process stopped.
	Stopped int
	// Steps is how many statements the schedules had together, Waits how many of these waited for a lock,
	// Deadlocks how many were answered with 1213.
	Steps, Waits, Deadlocks int
	// Preemptions is the bound: all schedules with at most so many were run, but for Unsteady ones. Complete:
	// there are no others (but those with a stop), and none of them was unsteady or did not come to its end.
	Preemptions int
	Complete    bool
	// Unsteady is how many schedules did not come out as they were chosen, also when they were run again: the
	// server let other copies wait than the time before. What was run is judged as what it was, and what was
	// chosen is missing.
	Unsteady int
	Elapsed  time.Duration
}

// String is the report on one line.
func (r RaceReport) String() string {
	bound := fmt.Sprintf("at most %s", count(r.Preemptions, "preemption"))
	if r.Complete {
		bound = "all there are"
	}
	return fmt.Sprintf("crashtest: workflow %q: %d copies of %v statements, %s (%s; %d distinct, %d with a stop, %d unsteady), %s, %s, %s in %s (%s, %s)",
		r.Workflow, len(r.Statements), r.Statements, count(r.Schedules, "interleaving"), bound, r.Distinct, r.Stopped, r.Unsteady,
		count(r.Steps, "step"), count(r.Waits, "wait"), count(r.Deadlocks, "deadlock"), r.Elapsed.Round(time.Millisecond), r.Engine, r.Isolation)
}

// Interleave fails the test unless every interleaving of the race's statements ends as a serial execution
// does. It logs and returns what it did. See ExploreRace.
func Interleave(t testing.TB, r Race) RaceReport {
	t.Helper()
	if r.Name == "" {
		r.Name = t.Name()
	}
	report, err := ExploreRace(t.Context(), r)
	t.Log(report)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// ExploreRace runs the copies one after the other in every order, which says what ends are right. Then it
// runs them at once, for every schedule of their statements within the bound, and holds each end against
// these.
//
// The error is *Failures when some schedule ends otherwise; any other error says that the race could not
// be explored. The report is filled as far as the exploration came.
//
//   - A copy between statements (computing, in a backoff) is waited for. After a second the others go on: a
//     copy that waits for another one inside the process (a mutex, a channel) costs that second at each
//     schedule.
//   - A copy that polls until another one is done gets at most twice its usual number of statements and ten
//     in a row.
//   - If several copies are let go by the same COMMIT, they run at once up to their next statement.
//   - Call runs in a goroutine of its own at the same time as the other copies: what they share in memory
//     needs a lock that is not held over a statement.
//   - Schedules at which copies wait for each other and the server sees no deadlock fail ("every copy …
//     waits").
//   - InnoDB may lock more or less while deleted rows are not yet purged, so a schedule may come out
//     otherwise than before. That is judged as what it was, and the schedule run again, twice at most; one
//     that never came out as chosen is counted as Unsteady.
func ExploreRace(ctx context.Context, r Race) (RaceReport, error) {
	begin := time.Now()
	report := RaceReport{Workflow: r.Name}
	x, err := newRacer(ctx, r)
	if err == nil {
		err = x.exploreRace(ctx, &report)
		err = errors.Join(err, x.close())
	}
	report.Elapsed = time.Since(begin)
	return report, explored(r.Name, err)
}

// Replay runs one schedule, as a failure names it, and returns what happened as a table, a column for each
// copy. The error is as that of ExploreRace.
func Replay(ctx context.Context, r Race, schedule string) (table string, err error) {
	x, err := newRacer(ctx, r)
	if err == nil {
		table, err = x.replay(ctx, schedule)
		err = errors.Join(err, x.close())
	}
	return table, explored(r.Name, err)
}

// complete checks the race and fills in the defaults.
func (r *Race) complete() error {
	if r.Calls == nil && r.Call != nil {
		r.Calls = append(r.Calls, r.Call, r.Call)
	}
	if len(r.Calls) > 0 {
		r.Call = r.Calls[0]
	}
	if err := r.check(); err != nil {
		return err
	}
	if len(r.Calls) < 2 || len(r.Calls) > 3 {
		return fmt.Errorf("%d copies: 2 or 3 can be stepped", len(r.Calls))
	}
	if r.Again == nil {
		r.Again = mysqlerr.MayRunAgain
	}
	r.Preemptions = cmp.Or(r.Preemptions, 2)
	r.Every = cmp.Or(r.Every, 5000)
	return nil
}

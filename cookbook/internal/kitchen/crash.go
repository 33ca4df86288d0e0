package kitchen

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// crash is what is there when a process has died, and what the next call is told.
type crash struct{ left, next string }

// witness sees a run of crashtest: each Setup begins a visit, and the second call of a visit is the one
// after the crash.
type witness struct {
	mu     sync.Mutex
	db     *sql.DB
	tables []string
	setups int
	calls  int
	seen   map[int]crash
}

// learning is how many Setups there are before the first fault.
const learning = 2

func (o *witness) watch(w *crashtest.Workflow) {
	setup, call := w.Setup, w.Call
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		o.mu.Lock()
		o.setups, o.calls = o.setups+1, 0
		o.mu.Unlock()
		return setup(ctx, db)
	}
	w.Call = func(ctx context.Context, db *sql.DB) error {
		o.mu.Lock()
		o.calls++
		second, visit := o.calls == 2 && o.setups > learning, o.setups-learning
		o.mu.Unlock()
		if !second {
			return call(ctx, db)
		}
		left, err := o.left(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		err = call(ctx, db)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.seen[visit] = crash{left, answered(err)}
		return err
	}
}

func answered(err error) string {
	if err == nil {
		return "succeeds"
	}
	return err.Error()
}

// left counts the rows that are committed.
func (o *witness) left(ctx context.Context) (string, error) {
	var parts []string
	for _, name := range o.tables {
		var n int
		if err := o.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM `"+name+"`").Scan(&n); err != nil { //nolint:gosec // of the catalog
			return "", fmt.Errorf("counting %s: %w", name, err)
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", name, n))
		}
	}
	if parts == nil {
		return "no row", nil
	}
	return strings.Join(parts, ", "), nil
}

// crashes writes, for the plain solution, what a process that dies behind each statement leaves, and what
// the next call makes of it.
func (r Recipe) crashes(t *testing.T) {
	w := r.Solution.workflow(t)
	o := &witness{db: dbtest.OpenDSN(t, w.DSN), tables: w.Empty, seen: map[int]crash{}}
	o.watch(&w)
	w.Without = without(crashtest.CutAfter, crashtest.Abandoned)
	report, err := crashtest.Explore(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	n := len(report.Statements)
	if report.FaultPoints != 2*n || len(o.seen) != 2*n {
		t.Fatalf("%d fault points, %d seen, of %d statements", report.FaultPoints, len(o.seen), n)
	}
	var b strings.Builder
	b.WriteString("the process dies                                   | committed rows                     | the next call\n")
	for i := range n + 1 {
		after, c := "before it sends anything", o.seen[2*i+2] // Abandoned comes last at each statement
		if i > 0 {
			after = fmt.Sprintf("after %d %.40s", i, strings.Join(strings.Fields(report.Statements[i-1].SQL), " "))
		}
		if i == n {
			c = o.seen[2*n-1] // the answer to the last one was lost
		}
		fmt.Fprintf(&b, "%-50s | %-34s | %s\n", after, c.left, c.next)
	}
	same(t, "crash.txt", b.String())
}

// without are all faults but these.
func without(but ...crashtest.Fault) (list []crashtest.Fault) {
	for _, f := range []crashtest.Fault{
		crashtest.CutBefore, crashtest.CutLost, crashtest.CutAfter, crashtest.CutInside, crashtest.KillBefore, crashtest.KillAfter,
		crashtest.DeadlockBefore, crashtest.DeadlockAfter, crashtest.LockWait, crashtest.CancelBefore, crashtest.CancelAfter,
		crashtest.RefusedCertification, crashtest.RefusedCommit, crashtest.Abandoned,
	} {
		keep := true
		for _, b := range but {
			keep = keep && f != b
		}
		if keep {
			list = append(list, f)
		}
	}
	return list
}

// costs writes how many round trips each of the three makes for one call, and how many rows and gaps it
// has locked.
func (r Recipe) costs(t *testing.T, engine string) {
	var b strings.Builder
	b.WriteString("         | round trips | locked rows and gaps\n")
	for _, of := range []struct {
		name string
		side Side
	}{{"naive", r.Naive}, {"solution", r.Solution}, {"onerow", r.Onerow}} {
		w := of.side.workflow(t)
		plain := dbtest.OpenDSN(t, w.DSN)
		exec(t, plain, of.side.Setup...)
		release := unpurged(t, plain)
		var locked int64
		for _, s := range cost.Of(t, w.DSN, w.Call) {
			locked += max(s.Locked, 0)
		}
		release()
		fmt.Fprintf(&b, "%-8s | %11d | %d\n", of.name, r.trips(t, w, plain), locked)
	}
	same(t, "cost."+engine+".txt", b.String())
}

// unpurged holds a snapshot until it is released, so that the server purges nothing meanwhile. What it has
// not purged yet is locked as well, and when it purges is its own affair.
func unpurged(t *testing.T, db *sql.DB) (release func()) {
	conn, err := db.Conn(t.Context())
	for _, statement := range []string{
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", // at READ COMMITTED there is no snapshot to hold
		"START TRANSACTION WITH CONSISTENT SNAPSHOT",
	} {
		if err == nil {
			_, err = conn.ExecContext(t.Context(), statement)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func deletes(tables []string) (list []string) {
	for _, name := range tables {
		list = append(list, "DELETE FROM `"+name+"`")
	}
	return list
}

// trips counts the round trips of one call.
func (r Recipe) trips(t *testing.T, w crashtest.Workflow, plain *sql.DB) int {
	t.Helper()
	exec(t, plain, deletes(w.Empty)...)
	if err := w.Setup(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	connector, db := counted(t, w)
	log, err := crashtest.Count(connector, func() error { return w.Call(t.Context(), db) })
	if err != nil {
		t.Fatalf("the call that is counted: %v", err)
	}
	return len(log)
}

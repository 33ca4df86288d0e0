package command

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/daemon"
	"github.com/onerow/onerow/cascade/command/internal/shell"
)

// TestKeepsItsConnections: a worker of several jobs comes back to its connections, and opens none in their
// place.
func TestKeepsItsConnections(t *testing.T) {
	w := ready(t)
	for id := 1; id <= 12; id++ {
		w.fill(id, 2, 3)
		w.ok("enqueue", "project", fmt.Sprint(id))
	}
	a := &shell.App{Environment: shell.Environment{Getenv: func(string) string { return "" }}, DSN: w.url(), PlanFile: w.plan}
	plan, err := a.Plan()
	if err != nil {
		t.Fatal(err)
	}
	worker, err := daemon.NewWorker(t.Context(), a, plan, daemon.WorkFlags{Batch: 5000, Target: 50 * time.Millisecond, Parallel: 6, Lease: 10 * time.Second}, cascade.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if n := worker.DB.Stats().MaxIdleClosed; n > 0 {
		t.Errorf("%d connections were closed because too many were idle", n)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if n := w.rows(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

package command

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
)

// TestKeepsItsConnections: a worker of several jobs comes back to its connections, and opens none in their
// place.
func TestKeepsItsConnections(t *testing.T) {
	w := ready(t)
	for id := 1; id <= 12; id++ {
		w.fill(id, 2, 3)
		w.ok("enqueue", "project", fmt.Sprint(id))
	}
	a := &app{environment: environment{getenv: func(string) string { return "" }}, dsn: w.url()}
	worker, err := newWorker(t.Context(), a, workFlags{planFlag: planFlag{Plan: w.plan}, Batch: 5000, Target: 50 * time.Millisecond, Parallel: 6, Lease: 10 * time.Second}, cascade.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if n := worker.db.Stats().MaxIdleClosed; n > 0 {
		t.Errorf("%d connections were closed because too many were idle", n)
	}
	if err := worker.close(); err != nil {
		t.Error(err)
	}
	if n := w.rows(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

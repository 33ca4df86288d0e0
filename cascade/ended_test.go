package cascade

import (
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestEndedByAnother: what came of an attempt is told by the worker that has the job.
func TestEndedByAnother(t *testing.T) {
	var seen []string // how attempts ended
	w, job := pairWorker(t, Config{MaxFailures: 2, OnEvent: func(e Event) {
		switch {
		case e.Ended != "":
			seen = append(seen, string(e.Ended))
		case e.LeaseLost:
			seen = append(seen, "lost")
		}
	}})
	c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
	if err != nil || len(c.Jobs) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	dbtest.Exec(t, w.db, "UPDATE onerow_job SET token = token + 1")
	for range 2 {
		if err := w.fail(t.Context(), c.Jobs[0], errors.New("slow"), false); err != nil {
			t.Fatal(err)
		}
		c.Jobs[0].Failures++
	}
	if got := get(t, w.db, job.ID); got.State != queue.Running || got.Failures != 0 || fmt.Sprint(seen) != "[lost lost]" {
		t.Errorf("%q: %+v", seen, got)
	}
	dbtest.Exec(t, w.db, "UPDATE onerow_job SET token = token - 1")
	if err := w.fail(t.Context(), c.Jobs[0], errors.New("slow"), false); err != nil || fmt.Sprint(seen) != "[lost lost dead]" {
		t.Errorf("%q, %v", seen, err)
	}
}

package onerowtest

import (
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// Queued fails the test unless the deletion of that row is queued and has not ended, and returns its job. id
// is the row's, as the application has it: a number, a text, a UUID.
func Queued(t testing.TB, db onerow.DB, resource string, id any) queue.Job {
	t.Helper()
	job, err := queue.Find(t.Context(), db, resource, encode(t, id))
	if err != nil {
		t.Fatalf("onerowtest: the deletion of %s %v is not queued: %v", resource, id, err)
	}
	if !job.State.Open() {
		t.Fatalf("onerowtest: the deletion of %s %v is not queued: its last job has ended, it is %s", resource, id, job.State)
	}
	return job
}

// encode is the id as jobs have it.
func encode(t testing.TB, id any) string {
	t.Helper()
	text, err := onerow.EncodeKey(id)
	if err != nil {
		t.Fatalf("onerowtest: %v", err)
	}
	return text
}

// NotQueued fails the test if the deletion of that row is queued.
func NotQueued(t testing.TB, db onerow.DB, resource string, id any) {
	t.Helper()
	switch job, err := queue.Find(t.Context(), db, resource, encode(t, id)); {
	case err == nil && job.State.Open():
		t.Fatalf("onerowtest: the deletion of %s %v is queued, as job %d", resource, id, job.ID)
	case err != nil && !errors.Is(err, queue.ErrNoJob):
		t.Fatalf("onerowtest: %v", err)
	}
}

package admin

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// condemn queues the cascade of a project.
func condemn(t testing.TB, db onerow.DB, id int64, grace time.Duration) queue.Job {
	t.Helper()
	d := queue.Deletion{Resource: "project", ResourceID: fmt.Sprint(id), Owner: "7", From: "active", Grace: grace}
	var err error
	if d.ID, err = queue.Log(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(t.Context(), db, d)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

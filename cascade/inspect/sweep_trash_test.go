package inspect

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// TestSweepTrash: an object keeps its place as long as its row is in the trash.
func TestSweepTrash(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		plan := foresttest.Plan()
		plan.Trash = schema.Age(time.Hour)
		cat, err := catalog.Read(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		ddl, err := cat.TrashDDL(plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, stmt := range ddl {
			dbtest.Exec(t, db, stmt)
		}
		foresttest.Project(t, db, 1)
		foresttest.Grow(t, db, 1, 2, 1, 1, 1)
		old := time.Now().Add(-48 * time.Hour)
		b := &bucket{objects: map[string]time.Time{"blob-100000": old, "blob-100001": old, "lost": old}}
		job := enqueue(t, db, "project", "1", 0)
		drain(t, db, plan, cascade.Config{Assets: b})
		if got := get(t, db, job.ID); got.State != queue.Done || len(b.deleted) > 0 {
			t.Fatalf("%+v, %v deleted", got, b.deleted)
		}
		if _, found := sweepOf(t, db, plan, b, SweepOptions{Delete: true}); !slices.Equal(found, []string{"lost deleted"}) {
			t.Errorf("the sweep finds %q", found)
		}
	})
}

package inspect

import (
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/schema"
)

// TestSearchesRefuseMisfits: what a worker would refuse is refused where nothing is deleted, too, with the
// same words.
func TestSearchesRefuseMisfits(t *testing.T) {
	pair := schema.Plan{Tables: []schema.Table{{Name: "a", Key: []string{"id"}},
		{Name: "b", Key: []string{"id"}, Parents: []schema.Edge{{Table: "a", Columns: []string{"a_id"}}}}}}
	db := openWith(t, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY, a_ref INT, KEY (a_ref))", "INSERT INTO a VALUES (1)")
	lost := []Orphan{{Resource: "a", ID: "7", Table: "b"}}
	_, enqueued := EnqueueOrphans(t.Context(), db, pair, lost)
	_, counted := DryRun(t.Context(), db, pair, "a", "1", 10_000, nil)
	searched := Orphans(t.Context(), db, pair, OrphanOptions{}, func(Orphan) error { return nil })
	for what, err := range map[string]error{"orphans": searched, "enqueue": enqueued, "dry run": counted} {
		if !errors.Is(err, fault.ErrMisfit) || !strings.Contains(err.Error(), "a_id") || !strings.Contains(err.Error(), "verify") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := EnqueueOrphans(t.Context(), db, pair, []Orphan{{Resource: "z", ID: "7"}}); !errors.Is(err, schema.ErrUnknownResource) {
		t.Error(err)
	}
}

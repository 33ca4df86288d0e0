package inspect

import (
	"reflect"
	"testing"

	"github.com/onerow/onerow/cascade/internal/foresttest"
)

// TestDryRunExact: it counts beyond every limit.
func TestDryRunExact(t *testing.T) {
	db := foresttest.Open(t)
	foresttest.Grow(t, db, 1, 4, 3, 2, 5)
	most, err := DryRun(t.Context(), db, forest, "project", "1", 1000, nil)
	if err != nil || len(most.Capped) > 0 {
		t.Fatalf("%+v, %v", most, err)
	}
	if few, err := DryRun(t.Context(), db, forest, "project", "1", 2, nil); err != nil || len(few.Capped) == 0 {
		t.Fatalf("%+v, %v", few, err)
	}
	if exact, err := DryRun(t.Context(), db, forest, "project", "1", 0, nil); err != nil || !reflect.DeepEqual(exact, most) {
		t.Errorf("%+v, %v, want %+v", exact, err, most)
	}
}

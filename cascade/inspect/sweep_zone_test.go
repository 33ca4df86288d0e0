package inspect

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestSweepGraceInEachZone: rows are young by the server's clock whatever the session's zone.
func TestSweepGraceInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db := foresttest.Open(t, zone)
		for i, minutes := range []int{59, 61} {
			foresttest.Insert(t, db, "screen", map[string]any{"id": i + 1, "project_id": 1, "blob_key": fmt.Sprint("b", minutes)})
			dbtest.Exec(t, db, "UPDATE screen SET updated_at = updated_at - INTERVAL ? MINUTE WHERE blob_key = ?", minutes, fmt.Sprint("b", minutes))
		}
		b := &bucket{objects: map[string]time.Time{"young": time.Now().Add(-59 * time.Minute), "old": time.Now().Add(-61 * time.Minute)}}
		if _, found := sweepOf(t, db, forest, b, SweepOptions{Grace: time.Hour}); !slices.Equal(found, []string{"old", "screen 2: b61"}) {
			t.Errorf("%q", found)
		}
	})
}

// TestSweepByTheServersClock: how old an object is is asked of the database, whose clock wrote the rows'
// times too; this process's clock may be wrong. Here the server is two days ahead.
func TestSweepByTheServersClock(t *testing.T) {
	ahead := time.Now().Add(48 * time.Hour)
	db := foresttest.Open(t, dbtest.Param("timestamp", fmt.Sprint(ahead.Unix())))
	b := &bucket{objects: map[string]time.Time{"young": ahead.Add(-59 * time.Minute), "old": ahead.Add(-61 * time.Minute)}}
	if _, found := sweepOf(t, db, forest, b, SweepOptions{Grace: time.Hour}); !slices.Equal(found, []string{"old"}) {
		t.Errorf("%q", found)
	}
	var now sql.NullInt64
	if err := onerow.QueryRow(t.Context(), db, "SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', UTC_TIMESTAMP())", nil, &now); err != nil || now.Int64 != ahead.Unix() {
		t.Errorf("the server's clock says %d, %v; want %d", now.Int64, err, ahead.Unix())
	}
}

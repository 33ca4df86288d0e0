package cascade

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// bucket is a store in memory that tells what is left.
type bucket struct {
	shelf
	objects map[string]time.Time
}

func (b *bucket) Delete(ctx context.Context, names []string) error {
	if err := b.shelf.Delete(ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		delete(b.objects, name)
	}
	return nil
}

// TestTrashAssets: an asset stays as long as its row is in the trash, and goes before the row
// leaves it for good. What has expired does not come back.
func TestTrashAssets(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx, plan := t.Context(), keptForest()
		plantTrash(t, db, plan)
		if err := smallForest(ctx, db); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-48 * time.Hour)
		b := &bucket{objects: map[string]time.Time{"a": old, "b": old, "c": old}}
		w, err := NewWorker(db, plan, Config{Assets: b})
		if err == nil {
			err = w.Drain(ctx)
		}
		if err != nil || b.names() != 0 {
			t.Fatalf("%v, %v deleted", err, b.deleted)
		}
		if n, err := admin.PurgeTrash(ctx, db, plan, b, 1000); n != 0 || err != nil {
			t.Errorf("%d rows purged, %v", n, err)
		}
		dbtest.Exec(t, db, "UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE table_name LIKE 'screen%' OR table_name LIKE 'reaction%'")
		p, err := recover.Rows(ctx, db, plan, 1, recover.Options{})
		if err != nil || p.Rows != 3 || p.Stuck != 2 || !strings.Contains(p.Why, "the row of screen to which (screen_id) refers is not there") {
			t.Errorf("a comment and a tag have lost their screens: %+v, %v", p, err)
		}
		if n, err := admin.PurgeTrash(ctx, db, plan, nil, 1000); n != 6 || err != nil {
			t.Errorf("without the assets %d rows purged, half of them copies of what is back, %v", n, err)
		}
		n, err := admin.PurgeTrash(ctx, db, plan, b, 1000)
		if left := slices.Sorted(maps.Keys(b.objects)); n != 2 || err != nil || !slices.Equal(left, []string{"c"}) {
			t.Errorf("%d rows purged, %v; left are %q", n, err, left)
		}
		if n, err := admin.PurgeTrash(ctx, db, plan, b, 1000); n != 0 || err != nil {
			t.Errorf("again: %d rows purged, %v", n, err)
		}
	})
}

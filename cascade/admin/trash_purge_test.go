package admin

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// keptForest is the forest with a trash.
func keptForest() schema.Plan {
	plan := foresttest.Plan()
	plan.Trash = schema.Age(time.Hour)
	return plan
}

// plantTrash makes the trash tables.
func plantTrash(t testing.TB, db *sql.DB, plan schema.Plan) {
	t.Helper()
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
}

// store is one in which some assets cannot be deleted, or none can.
type store struct {
	stay    []string
	down    bool
	calls   int
	deleted []string
}

func (s *store) Delete(_ context.Context, names []string) error {
	s.calls++
	for _, name := range names {
		if s.down || slices.Contains(s.stay, name) {
			return fmt.Errorf("%s cannot be deleted", name)
		}
	}
	s.deleted = append(s.deleted, names...)
	return nil
}

// TestTrashAssetsWait: a step that a restore has locked before it expired keeps its assets if the rows come
// back.
func TestTrashAssetsWait(t *testing.T) {
	db, ctx, plan := foresttest.Open(t), t.Context(), keptForest()
	plantTrash(t, db, plan)
	dbtest.Exec(t, db, "INSERT INTO onerow_trash VALUES (1, 1, 'screen', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 SECOND, NULL)")
	dbtest.Exec(t, db, `INSERT INTO onerow_trash_screen (onerow_job, onerow_step, id, blob_key) VALUES (1, 1, 5, 'a')`)
	b := &store{}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, tx, "DELETE FROM onerow_trash_screen")
	dbtest.Exec(t, tx, "DELETE FROM onerow_trash WHERE job_id = 1 AND step = 1")
	done := make(chan error, 1)
	go func() {
		_, err := PurgeTrash(ctx, db, plan, b, 100)
		done <- err
	}()
	dbtest.AwaitLock(t, db)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || len(b.deleted) != 0 {
		t.Errorf("%v, deleted %v", err, b.deleted)
	}
}

// TestTrashPurgeStuckAssets: what cannot be purged, for an asset that cannot be deleted or for want of a
// store, does not keep the rest in the trash. It is told, and goes when it can.
func TestTrashPurgeStuckAssets(t *testing.T) {
	db, ctx, plan := foresttest.Open(t), t.Context(), keptForest()
	plantTrash(t, db, plan)
	const steps = 3 * expiredAtOnce
	for i := range steps { // two rows with an asset in each, then rows without
		dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO onerow_trash VALUES (1, %d, 'screen', '', 2, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 DAY, NULL)", i+1))
		dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO onerow_trash_screen (onerow_job, onerow_step, id, blob_key) VALUES (1, %[1]d, %[1]d, 'a%[1]d'), (1, %[1]d, 100%[1]d, 'b%[1]d')", i+1))
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_trash VALUES (2, 1, 'comment', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 SECOND, NULL), (3, 1, 'comment', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 SECOND, NULL)")
	dbtest.Exec(t, db, "INSERT INTO onerow_trash_comment (onerow_job, onerow_step, id) VALUES (2, 1, 1), (3, 1, 2)")
	left := func() (n, rows int64) {
		t.Helper()
		if err := onerow.QueryRow(ctx, db, "SELECT (SELECT COUNT(*) FROM onerow_trash_screen), (SELECT SUM(kept_rows) FROM onerow_trash)", nil, &n, &rows); err != nil {
			t.Fatal(err)
		}
		return n, rows
	}
	if n, err := PurgeTrash(ctx, db, plan, nil, 1); n != 1 || err != nil {
		t.Errorf("without a store %d rows purged, %v", n, err)
	}
	s := &store{down: true}
	n, err := PurgeTrash(ctx, db, plan, s, 1000)
	if n != 1 || err == nil || !strings.Contains(err.Error(), "cannot be deleted") || s.calls > 50 {
		t.Errorf("while the store is down %d rows purged by %d calls, %v", n, s.calls, err)
	}
	s.down, s.stay = false, []string{"a1", "b7"}
	n, err = PurgeTrash(ctx, db, plan, s, 1000)
	if n != 2*steps-2 || err == nil || !strings.Contains(err.Error(), "cannot be deleted") {
		t.Errorf("while two cannot be deleted %d rows purged, %v", n, err)
	}
	if n, rows := left(); n != 2 || rows != 2 {
		t.Errorf("%d rows are left, %d are noted", n, rows)
	}
	list, err := TrashOf(ctx, db, 1)
	if err != nil || len(list) != 1 || list[0].Stuck != 2 || !strings.Contains(list[0].Why, "cannot be deleted") {
		t.Errorf("%+v, %v", list, err)
	}
	s.stay = nil
	if n, err := PurgeTrash(ctx, db, plan, s, 1000); n != 2 || err != nil {
		t.Errorf("afterwards %d rows purged, %v", n, err)
	}
}

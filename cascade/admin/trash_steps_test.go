package admin

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// kept puts a step into the trash that expires so many seconds from now, with a row where it keeps one.
func kept(t *testing.T, db *sql.DB, job, step int64, table, cut string, rows int, expires string) {
	t.Helper()
	dbtest.Exec(t, db, "INSERT INTO onerow_trash VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6), "+expires+", NULL)", job, step, table, cut, rows)
	if rows == 0 {
		return
	}
	columns, values := "onerow_job, onerow_step, id", "?, ?, 1"
	if table == "screen" {
		columns, values = columns+", blob_key", values+fmt.Sprintf(", 'blob-%d-%d'", job, step)
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_trash_"+table+" ("+columns+") VALUES ("+values+")", job, step)
}

const (
	gone = "UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE"
	soon = "UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE"
)

// steps are those in the trash, as job/step.
func steps(t *testing.T, db *sql.DB) string {
	t.Helper()
	return dbtest.Scan[string](t, db, "SELECT COALESCE(GROUP_CONCAT(CONCAT(job_id, '/', step) ORDER BY job_id, step SEPARATOR ' '), '') FROM onerow_trash")
}

func trashForest(t *testing.T) (*sql.DB, context.Context) {
	t.Helper()
	db := foresttest.Open(t)
	plantTrash(t, db, keptForest())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return db, ctx
}

// TestTrashPurgePages: steps that expire at one time, or that cannot go, are passed by once.
func TestTrashPurgePages(t *testing.T) {
	db, ctx := trashForest(t)
	const some = 2*expiredAtOnce + 5
	for i := range int64(some) {
		kept(t, db, 1, i+1, "screen", "", 1, "'2020-01-01'")                                       // of one job, at one time
		kept(t, db, 1000-i, 1, "screen", "", 1, fmt.Sprintf("'2020-01-02' + INTERVAL %d HOUR", i)) // the later, the older the job
		kept(t, db, 2, i+1, "comment", "", 1, "'2020-02-01'")
	}
	if n, err := PurgeTrash(ctx, db, keptForest(), nil, 1000); n != some || err != nil {
		t.Errorf("without a store %d rows purged, %v", n, err)
	}
	s := &store{}
	if n, err := PurgeTrash(ctx, db, keptForest(), s, 1000); n != 2*some || len(s.deleted) != 2*some || err != nil {
		t.Errorf("%d rows and %d assets purged, %v", n, len(s.deleted), err)
	}
}

// TestTrashPurgeKinds: an asset goes with a row that was deleted, and stays with one that lives: whose reference
// was cut, or that is back.
func TestTrashPurgeKinds(t *testing.T) {
	db, ctx := trashForest(t)
	kept(t, db, 1, 1, "screen", "", 1, gone)
	kept(t, db, 1, 2, "screen", `["project_id"]`, 1, gone)
	kept(t, db, 1, 3, "screen", "", 0, gone)
	kept(t, db, 1, -3, "screen", "", 0, gone)
	kept(t, db, 1, 4, "screen", "", 1, soon)
	kept(t, db, 1, 0, "", "", 0, gone)
	kept(t, db, 2, 0, "", "", 0, soon)
	s := &store{}
	if n, err := PurgeTrash(ctx, db, keptForest(), s, 100); n != 2 || err != nil || !slices.Equal(s.deleted, []string{"blob-1-1"}) {
		t.Errorf("%d rows and the assets %v purged, %v", n, s.deleted, err)
	}
	if got := steps(t, db); got != "1/4 2/0" {
		t.Errorf("left in the trash: %s", got)
	}
}

// TestTrashPurgeTroubled: what failed before is tried after all else, and another row's trouble is not noted
// at it.
func TestTrashPurgeTroubled(t *testing.T) {
	db, ctx := trashForest(t)
	kept(t, db, 1, 1, "comment", "", 1, "'2020-01-01'")
	dbtest.Exec(t, db, "UPDATE onerow_trash SET error = 'e'")
	kept(t, db, 1, 2, "comment", "", 1, gone)
	if n, err := PurgeTrash(ctx, db, keptForest(), nil, 1); n != 1 || err != nil || steps(t, db) != "1/1" {
		t.Errorf("%d purged, %v; left: %s", n, err, steps(t, db))
	}
	for _, at := range [][2]int64{{1, 3}, {2, 3}, {2, 1}} {
		kept(t, db, at[0], at[1], "screen", "", 1, soon)
	}
	dbtest.Exec(t, db, "UPDATE onerow_trash SET expires_at = "+gone+" WHERE job_id = 2 AND step = 3")
	if n, err := PurgeTrash(ctx, db, keptForest(), &store{down: true}, 100); n != 1 || err == nil {
		t.Errorf("%d purged, %v", n, err)
	}
	if n := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_trash WHERE kept_rows = 1 AND (error IS NOT NULL) = (job_id = 2 AND step = 3)"); n != 3 {
		t.Errorf("%d of 3 steps are as they should be", n)
	}
}

// TestTrashPurgeLate: who purges has read a step, which another one takes or which is kept anew before he
// comes to it. Steps of the same number or job are nothing to him.
func TestTrashPurgeLate(t *testing.T) {
	db, ctx := trashForest(t)
	kept(t, db, 1, 2, "screen", "", 1, gone)
	kept(t, db, 2, 1, "screen", "", 1, gone)
	kept(t, db, 3, 1, "screen", "", 1, soon)
	kept(t, db, 4, 1, "screen", "", 0, gone)
	kept(t, db, 5, 0, "", "", 0, soon)
	dbtest.Exec(t, db, "INSERT INTO onerow_trash_screen (onerow_job, onerow_step, id, blob_key) VALUES (1, 1, 1, 'back'), (4, 1, 1, 'back')")
	s := &store{}
	p := trashPurge{db: db, assets: s, columns: map[string]string{"screen": "blob_key"}}
	for _, at := range []expiredStep{{job: 1, step: 1, table: "screen", deleted: true}, {job: 3, step: 1, table: "screen", deleted: true},
		{job: 4, step: 1, table: "screen", deleted: true}, {job: 5}, {job: 3, step: 1, table: "comment"}, {job: 1, step: 1, table: "comment"}} {
		if n, err := p.step(ctx, at); n != 0 || err != nil || len(s.deleted) != 0 {
			t.Errorf("%+v: %d purged, assets %v, %v", at, n, s.deleted, err)
		}
	}
	if got := steps(t, db); got != "1/2 2/1 3/1 4/1 5/0" {
		t.Errorf("left in the trash: %s", got)
	}
}

// TestExpireTrash: what a job keeps goes; what is not to come back already, what it says of itself, and other
// jobs' rows stay as they are.
func TestExpireTrash(t *testing.T) {
	db, ctx := trashForest(t)
	for _, step := range []int64{-5, 0, 1, 2} {
		kept(t, db, 1, step, "comment", "", 0, soon)
	}
	kept(t, db, 1, 3, "comment", "", 0, "'2020-01-01'")
	kept(t, db, 2, 1, "comment", "", 0, soon)
	if n, err := ExpireTrash(ctx, db, 1); n != 2 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
	if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(CONCAT(job_id, '/', step) ORDER BY job_id, step SEPARATOR ' ') FROM onerow_trash WHERE expires_at < UTC_TIMESTAMP(6)"); got != "1/1 1/2 1/3" {
		t.Errorf("expired: %s", got)
	}
	if n := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_trash WHERE expires_at = '2020-01-01'"); n != 1 {
		t.Error("the time of a step that had expired was changed")
	}
	if n, err := ExpireTrash(ctx, db, 1); n != 0 || err != nil {
		t.Errorf("again: %d steps, %v", n, err)
	}
}

// TestReadTrashSize: the newest steps count, of the newest jobs.
func TestReadTrashSize(t *testing.T) {
	db, ctx := trashForest(t)
	for i, at := range [][2]int64{{1, 9}, {2, 1}, {2, 2}, {3, 1}} {
		kept(t, db, at[0], at[1], "comment", "", 1, soon)
		dbtest.Exec(t, db, "UPDATE onerow_trash SET kept_rows = ? WHERE job_id = ? AND step = ?", 1<<i, at[0], at[1])
	}
	kept(t, db, 3, -1, "comment", "", 0, soon)
	dbtest.Exec(t, db, "UPDATE onerow_trash SET kept_rows = 100 WHERE step = -1")
	for limit, rows := range map[int]int64{1: 8, 2: 8, 3: 12, 4: 14, 5: 15, 6: 15} {
		if s, err := ReadTrashSize(ctx, db, limit); err != nil || s != (TrashSize{Rows: rows, AtLeast: limit <= 5}) {
			t.Errorf("of %d steps: %+v, %v; want %d", limit, s, err, rows)
		}
	}
}

// TestPurgeTrashCost: where nothing has expired nothing is read, however much is kept.
func TestPurgeTrashCost(t *testing.T) {
	filled := func(n int) string {
		dsn := dbtest.DSN(t)
		foresttest.Plant(t, dbtest.OpenDSN(t, dsn))
		db := dbtest.OpenDSN(t, dsn)
		dbtest.Exec(t, db, "INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) "+cost.Numbers(n)+
			"SELECT i, 1, 'comment', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY FROM numbers")
		dbtest.Exec(t, db, "ANALYZE TABLE onerow_trash")
		return dsn
	}
	for _, s := range cost.Flat(t, filled(cost.Few), filled(cost.Many(t)), func(ctx context.Context, db *sql.DB) error {
		_, err := PurgeTrash(ctx, db, keptForest(), &store{}, 100)
		return err
	}) {
		if t.Log(s); s.Read > 10 || s.Locked > 0 {
			t.Errorf("%s, for nothing", s)
		}
	}
}

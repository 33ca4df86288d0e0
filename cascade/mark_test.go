package cascade

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// monitored marks the events of a host that goes, in each type of time.
var monitored = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "host", Key: []string{"id"}},
	{Name: "event", Key: []string{"id"}, Stays: true, Trash: schema.NoTrash, Parents: []schema.Edge{{Table: "host", Columns: []string{"host_id"}, OnDelete: schema.OnDeleteMark("gone at")}}},
	{Name: "alarm", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"host_id"}, OnDelete: schema.OnDeleteMark("host_deleted_at")}}},
	{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"about"}, When: map[string]string{"kind": "host"}, OnDelete: schema.OnDeleteMark("gone")}}},
}}

func plantMarks(t *testing.T, db *sql.DB) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE host (id BIGINT PRIMARY KEY)",
		"CREATE TABLE event (id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, `gone at` DATETIME NULL, KEY host (host_id, `gone at`))",
		"CREATE TABLE alarm (id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, host_deleted_at TIMESTAMP(6) NULL, KEY host (host_deleted_at, host_id))",
		"CREATE TABLE note (id BIGINT PRIMARY KEY, kind VARCHAR(9) NOT NULL, about BIGINT NOT NULL, gone DATETIME(3) NULL, KEY about (kind, about, gone))",
		"INSERT INTO host VALUES (1), (2)",
		"INSERT INTO event VALUES (1, 1, NULL), (2, 1, '2001-02-03 04:05:06'), (3, 2, NULL)",
		"INSERT INTO alarm VALUES (1, 1, NULL), (2, 1, NULL), (3, 2, NULL)",
		"INSERT INTO note VALUES (1, 'host', 1, NULL), (2, 'user', 1, NULL), (3, 'host', 2, NULL)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	plantTrash(t, db, monitored)
}

// TestMark: rows stay as they are but for the time, which is the database's, whatever the session's zone;
// what is marked already keeps its time. Rows that come back lose their mark, unless they belong to another
// row now.
func TestMark(t *testing.T) {
	db, ctx := dbtest.Open(t, dbtest.Zone("+09:00")), t.Context()
	plantMarks(t, db)
	if err := live.Verify(ctx, db, monitored); err != nil {
		t.Fatal(err)
	}
	w, err := NewWorker(db, monitored, Config{})
	if err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "host", ResourceID: "1"})
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if job = get(t, db, job.ID); job.State != queue.Done || job.Detached["event"] != 1 || job.Detached["alarm"] != 2 || job.Detached["note"] != 1 {
		t.Errorf("%+v", job)
	}
	state := func(table, mark, now string) string {
		return dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(id, IF("+mark+" IS NULL, ' not', IF("+mark+" BETWEEN "+now+" - INTERVAL 1 MINUTE AND "+now+", ' now', ' before')) ORDER BY id) FROM "+table)
	}
	check := func(event, alarm, note string) {
		t.Helper()
		for _, c := range [][2]string{{event, state("event", "`gone at`", "UTC_TIMESTAMP()")}, {alarm, state("alarm", "host_deleted_at", "NOW(6)")}, {note, state("note", "gone", "UTC_TIMESTAMP(6)")}} {
			if c[0] != c[1] {
				t.Errorf("%s, want %s", c[1], c[0])
			}
		}
	}
	check("1 now,2 before,3 not", "1 now,2 now,3 not", "1 now,2 not,3 not")
	dbtest.Exec(t, db, "UPDATE alarm SET host_id = 2 WHERE id = 2")
	dbtest.Exec(t, db, "UPDATE note SET kind = 'user' WHERE id = 1")
	p, err := recover.Rows(ctx, db, monitored, job.ID, recover.Options{})
	if err != nil || p.References != 1 || p.Changed != 2 || p.Stuck > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	check("1 now,2 before,3 not", "1 not,2 now,3 not", "1 now,2 not,3 not") // no trash keeps what events were
}

// TestMarkCost: rows that are marked already are not read.
func TestMarkCost(t *testing.T) {
	planted := func(rows int) string {
		dsn := dbtest.DSN(t)
		db := dbtest.OpenDSN(t, dsn)
		plantMarks(t, db)
		dbtest.Exec(t, db, "INSERT INTO event "+cost.Numbers(rows)+"SELECT i + 10, 1, UTC_TIMESTAMP() FROM numbers")
		dbtest.Exec(t, db, "INSERT INTO alarm "+cost.Numbers(rows)+"SELECT i + 10, 1, UTC_TIMESTAMP() FROM numbers")
		dbtest.Exec(t, db, "INSERT INTO note "+cost.Numbers(rows)+"SELECT i + 10, 'host', 1, UTC_TIMESTAMP() FROM numbers")
		dbtest.Exec(t, db, "ANALYZE TABLE event, alarm, note")
		return dsn
	}
	cost.Flat(t, planted(cost.Few), planted(cost.Many(t)), func(ctx context.Context, db *sql.DB) error {
		w, err := NewWorker(db, monitored, Config{})
		if err == nil {
			_, err = queue.Enqueue(ctx, db, queue.Deletion{Resource: "host", ResourceID: "1"})
		}
		return errors.Join(err, w.Drain(ctx))
	})
}

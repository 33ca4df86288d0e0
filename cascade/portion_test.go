package cascade

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// archive is a room with boxes, full of sheets: the leaves, of which a batch takes few.
var archive = schema.Plan{Tables: []schema.Table{
	{Name: "room", Key: []string{"id"}},
	{Name: "box", Key: []string{"id"}, Parents: []schema.Edge{{Table: "room", Columns: []string{"room_id"}}}},
	{Name: "sheet", Key: []string{"id"}, Parents: []schema.Edge{{Table: "box", Columns: []string{"box_id"}}}},
}}

// fillArchive makes one room; boxes[i] is how many sheets are in box i+1.
func fillArchive(t *testing.T, db *sql.DB, boxes []int) (sheets int64) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{"CREATE TABLE room (id INT PRIMARY KEY)", "INSERT INTO room VALUES (1)",
		"CREATE TABLE box (id INT PRIMARY KEY, room_id INT NOT NULL, FOREIGN KEY (room_id) REFERENCES room (id))",
		"CREATE TABLE sheet (id INT PRIMARY KEY AUTO_INCREMENT, box_id INT NOT NULL, FOREIGN KEY (box_id) REFERENCES box (id))"} {
		dbtest.Exec(t, db, stmt)
	}
	for i, n := range boxes {
		dbtest.Exec(t, db, "INSERT INTO box VALUES (?, 1)", i+1)
		if n > 0 {
			dbtest.Exec(t, db, "INSERT INTO sheet (box_id) VALUES "+strings.TrimSuffix(strings.Repeat(fmt.Sprintf("(%d),", i+1), n), ","))
		}
		sheets += int64(n)
	}
	return sheets
}

// TestManyLeaves: a statement that deletes leaves lists parents that have about a batch of
// them. Would it list all parents each time, a batch would take the longer the more batches
// there were. A box may also have none, or many times a batch.
func TestManyLeaves(t *testing.T) {
	dsn := dbtest.DSN(t)
	plain := dbtest.OpenDSN(t, dsn)
	boxes := make([]int, 60)
	for i := range boxes {
		boxes[i] = 30
	}
	boxes[7], boxes[8], boxes[40] = 0, 0, 450
	sheets := fillArchive(t, plain, boxes)
	db, connector := racetest.Counted(t, dsn)
	job := begin(t, plain, "room", "1")
	var got queue.Job
	log, err := crashtest.Count(connector, func() error {
		got = finish(t, db, archive, Config{Batch: 50, Target: -1, Chunk: 60}, job.ID)
		return nil
	})
	if err != nil || got.State != queue.Done || got.Tables["sheet"] != sheets || got.Tables["box"] != 60 {
		t.Fatalf("%+v, %v", got, err)
	}
	statements, listed := 0, 0
	for _, s := range log {
		if strings.HasPrefix(s.SQL, "DELETE ") && strings.Contains(s.SQL, " FROM `sheet` WHERE") {
			statements++
			listed += 1 + strings.Count(s.SQL, ",")
		}
	}
	if most := 6 * len(boxes); listed > most || statements > 3*int(sheets)/50 {
		t.Errorf("%d statements listed %d boxes, want no more than %d", statements, listed, most)
	}
}

package cascade

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// thread is posts with comments that answer comments.
var thread = schema.Plan{Tables: []schema.Table{
	{Name: "post", Key: []string{"id"}},
	{Name: "comment", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "post", Columns: []string{"post_id"}}, {Table: "comment", Columns: []string{"answers"}}}},
}}

func plantThread(t testing.TB, db *sql.DB, answers, references string) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "CREATE TABLE post (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
	dbtest.Exec(t, db, "CREATE TABLE comment (id INT NOT NULL PRIMARY KEY, post_id INT NULL, answers INT "+answers+", KEY (post_id), KEY (answers)"+references+") ENGINE=InnoDB")
	dbtest.Exec(t, db, "INSERT INTO post VALUES (1), (2)")
}

const threadReferences = ", FOREIGN KEY (post_id) REFERENCES post (id), FOREIGN KEY (answers) REFERENCES comment (id)"

// TestDeepTree: a chain of 10,000 rows, of which only the first is below the root, and one
// of which all are. No row goes before the one that is below it, as the foreign keys prove.
func TestDeepTree(t *testing.T) {
	const depth = 10_000
	for name, post := range map[string]string{"by the chain": "IF(i = 1, 1, NULL)", "by both": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			plantThread(t, db, "NULL", threadReferences)
			for from := 1; from <= depth; from += 500 {
				dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO comment WITH RECURSIVE s (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i, %s, IF(i = 1, NULL, i - 1) FROM s", from, from+499, post))
			}
			begun := time.Now()
			got := finish(t, db, thread, Config{}, begin(t, db, "post", "1").ID)
			if got.State != queue.Done || got.DeletedRows != depth {
				t.Errorf("%+v", got)
			}
			t.Logf("%s", time.Since(begun).Round(time.Millisecond))
		})
	}
}

// TestLoops: a loop of rows is cut where a column may be NULL; else the job fails and names
// a row of it.
func TestLoops(t *testing.T) {
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		db := dbtest.Open(t)
		plantThread(t, db, "NULL", threadReferences)
		dbtest.Exec(t, db, "INSERT INTO comment VALUES (1, 1, NULL), (2, NULL, 1), (3, NULL, 2), (4, 1, NULL), (5, 1, 4), (6, 2, NULL)")
		dbtest.Exec(t, db, "UPDATE comment SET answers = 3 WHERE id = 1")
		dbtest.Exec(t, db, "UPDATE comment SET answers = 5 WHERE id = 4")
		got := finish(t, db, thread, Config{}, begin(t, db, "post", "1").ID)
		if got.State != queue.Done || got.DeletedRows != 5 || count(t, db, "SELECT COUNT(*) FROM comment") != 1 {
			t.Errorf("%+v", got)
		}
		// A root in a loop with what is below it.
		dbtest.Exec(t, db, "INSERT INTO comment VALUES (11, NULL, NULL), (12, NULL, 11)")
		dbtest.Exec(t, db, "UPDATE comment SET answers = 12 WHERE id = 11")
		if got := finish(t, db, thread, Config{}, begin(t, db, "comment", "11").ID); got.State != queue.Done || got.DeletedRows != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		db := dbtest.Open(t)
		plantThread(t, db, "NOT NULL DEFAULT 0", "")
		dbtest.Exec(t, db, "INSERT INTO comment VALUES (1, 1, 2), (2, NULL, 1), (3, 1, 3), (4, 1, 0)")
		job := begin(t, db, "post", "1")
		w, err := NewWorker(db, thread, Config{MaxFailures: 1})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, w)
		got := get(t, db, job.ID)
		if got.State != queue.Dead || !strings.Contains(got.LastError, fault.ErrLoop.Error()) || !strings.Contains(got.LastError, "row 1 of comment") {
			t.Errorf("%+v", got)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM comment"); n != 2 {
			t.Errorf("%d comments, want the two of the loop", n)
		}
		dbtest.Exec(t, db, "UPDATE comment SET answers = 0 WHERE id = 1")
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		drain(t, w)
		if got := get(t, db, job.ID); got.State != queue.Done || got.DeletedRows != 4 {
			t.Errorf("%+v", got)
		}
	})
}

package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// TestOrphansNoReference: what schemas write for no reference at all is told, and no job is
// queued that would delete rows which were never below anything.
func TestOrphansNoReference(t *testing.T) {
	post := func(key []string, columns ...string) schema.Plan {
		return schema.Plan{Tables: []schema.Table{{Name: "post", Key: key, Parents: []schema.Edge{{Table: "post", Columns: columns}}}}}
	}
	for _, c := range []struct {
		name, ddl, rows string
		plan            schema.Plan
		queued          int
	}{
		{"number", "CREATE TABLE post (id INT PRIMARY KEY, parent INT NOT NULL DEFAULT 0, KEY (parent))",
			"(1, 0), (2, 1), (3, -1), (4, 77)", post([]string{"id"}, "parent"), 1},
		{"decimal", "CREATE TABLE post (id DECIMAL(9,2) PRIMARY KEY, parent DECIMAL(9,2) NOT NULL, KEY (parent))",
			"(1, 0), (2, 1), (3, 0.10)", post([]string{"id"}, "parent"), 1},
		{"text", "CREATE TABLE post (id VARCHAR(40) PRIMARY KEY, parent VARCHAR(40) NOT NULL, KEY (parent))",
			"('a', ''), ('b', 'a'), ('c', '0'), ('d', '00000000-0000-0000-0000-000000000000'), ('e', '10')", post([]string{"id"}, "parent"), 1},
		{"bytes", "CREATE TABLE post (id VARBINARY(16) PRIMARY KEY, parent VARBINARY(16) NOT NULL, KEY (parent))",
			"(x'01', ''), (x'02', x'01'), (x'03', x'0000'), (x'04', x'0010')", post([]string{"id"}, "parent"), 1},
		{"composite", "CREATE TABLE post (shop INT, id INT, parent INT NOT NULL, PRIMARY KEY (shop, id), KEY (shop, parent))",
			"(1, 1, 0), (1, 2, 1), (1, 3, 88)", post([]string{"shop", "id"}, "shop", "parent"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := openWith(t, c.ddl, "INSERT INTO post VALUES "+c.rows)
			lines, found := orphansOf(t, db, c.plan, OrphanOptions{})
			done, err := EnqueueOrphans(t.Context(), db, c.plan, found)
			if err != nil || done.Queued != c.queued || done.ReportOnly != len(found)-c.queued || !strings.Contains(fmt.Sprint(lines), "no reference at all") {
				t.Fatalf("%+v, %v: %q", done, err, lines)
			}
			before := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM post")
			drain(t, db, c.plan, cascade.Config{})
			if left := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM post"); left != before-1 {
				t.Errorf("%d of %d rows are left", left, before)
			}
		})
	}
}

// TestOrphansLeftOnPurpose: rows that a job has parked, and what a person has decided about
// them, are not undone by a new job; nor is a dead job passed over.
func TestOrphansLeftOnPurpose(t *testing.T) {
	plan := schema.Plan{Tables: []schema.Table{{Name: "a", Key: []string{"id"}},
		{Name: "b", Key: []string{"id"}, Parents: []schema.Edge{{Table: "a", Columns: []string{"a_id"}}}}}}
	db := openWith(t, "CREATE TABLE a (id INT PRIMARY KEY)",
		"CREATE TABLE b (id INT PRIMARY KEY, a_id INT, KEY (a_id))",
		"CREATE TABLE hold (id INT, FOREIGN KEY (id) REFERENCES b (id))",
		"INSERT INTO b VALUES (1, 7), (2, 8)", "INSERT INTO hold VALUES (1)")
	_, early := orphansOf(t, db, plan, OrphanOptions{}) // before the jobs
	job := enqueue(t, db, "a", "7", 0)
	drain(t, db, plan, cascade.Config{})
	if got := get(t, db, job.ID); got.State != queue.Leftovers {
		t.Fatalf("%+v", got)
	}
	dbtest.Exec(t, db, "DELETE FROM hold")
	keeps := func(what, says string, orphans ...Orphan) {
		t.Helper()
		lines, now := orphansOf(t, db, plan, OrphanOptions{})
		if len(lines) != 2 || !strings.Contains(lines[0], fmt.Sprintf("(job %d", job.ID)) || !strings.Contains(lines[0], says) || now[1].ReportOnly != "" {
			t.Fatalf("%s: %q", what, lines)
		}
		for _, list := range [][]Orphan{now[:1], orphans} {
			if done, err := EnqueueOrphans(t.Context(), db, plan, list); err != nil || done.Queued != 0 || done.ReportOnly != 1 {
				t.Errorf("%s: %+v, %v", what, done, err)
			}
		}
	}
	keeps("leftovers", "parked", early[0])
	list, err := queue.ListParked(t.Context(), db, queue.ParkedOptions{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := queue.SkipParked(t.Context(), db, list[0].ID); err != nil {
		t.Fatal(err)
	}
	keeps("skipped", "skipped", early[0])
	dbtest.Exec(t, db, "UPDATE onerow_job_archive SET state = 'dead'")
	dbtest.Exec(t, db, "DELETE FROM onerow_parked")
	keeps("dead", "dead", early[0])
	if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
		t.Fatal(err)
	}
	if done, err := EnqueueOrphans(t.Context(), db, plan, early); err != nil || done.Open != 1 || done.Queued != 1 {
		t.Errorf("retried: %+v, %v", done, err)
	}
	drain(t, db, plan, cascade.Config{})
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{}); lines != nil || dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM b") != 0 {
		t.Errorf("left: %q", lines)
	}
}

package cascade

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestSharedReference: rows below a column that several rows above have the same value in go with the first
// of these, as a foreign key that restricts demands, each once, and come back. A key that cascades is
// refused: what the engines do there differs.
func TestSharedReference(t *testing.T) {
	plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
		{Name: "site", Key: []string{"id"}},
		{Name: "host", Key: []string{"id"}, Parents: []schema.Edge{{Table: "site", Columns: []string{"site"}}, {Table: "site", Columns: []string{"spare"}}}},
		{Name: "item", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"pool"}, References: []string{"pool"}}}},
		{Name: "part", Key: []string{"id"}, Parents: []schema.Edge{{Table: "item", Columns: []string{"item"}}}},
		{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"pool"}, References: []string{"pool"}, OnDelete: schema.OnDeleteDetach}}},
	}}
	ctx := t.Context()
	for _, c := range []struct {
		root, id string
		left     string // hosts, items, parts, notes with a pool
		deleted  int64
		config   Config
	}{
		{"host", "1", "4 1 1 1", 4, Config{}},
		{"site", "1", "2 1 1 1", 7, Config{}},
		{"site", "1", "2 1 1 1", 7, Config{Chunk: 1, Batch: 1, Target: -1}},
		{"site", "2", "2 0 0 0", 9, Config{}},
		{"site", "2", "2 0 0 0", 9, Config{Chunk: 1, Batch: 1, Target: -1}},
	} {
		t.Run(c.root+c.id, func(t *testing.T) {
			db := dbtest.Open(t, dbtest.Param("foreign_key_checks", "1"))
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := conn.ExecContext(ctx, "SET SESSION restrict_fk_on_non_standard_key = 0"); err != nil && !strings.Contains(err.Error(), "1193") {
				t.Fatal(err)
			}
			if err := migrations.Up(ctx, db); err != nil {
				t.Fatal(err)
			}
			for _, stmt := range []string{
				"CREATE TABLE site (id INT PRIMARY KEY)",
				"CREATE TABLE host (id INT PRIMARY KEY, site INT NOT NULL, spare INT NULL, pool INT NOT NULL, KEY pool (pool), FOREIGN KEY (site) REFERENCES site (id), FOREIGN KEY (spare) REFERENCES site (id))",
				"CREATE TABLE item (id INT PRIMARY KEY, pool INT NOT NULL, CONSTRAINT below FOREIGN KEY (pool) REFERENCES host (pool))",
				"CREATE TABLE part (id INT PRIMARY KEY, item INT NOT NULL, FOREIGN KEY (item) REFERENCES item (id))",
				"CREATE TABLE note (id INT PRIMARY KEY, pool INT NULL, FOREIGN KEY (pool) REFERENCES host (pool) ON DELETE RESTRICT)",
				"INSERT INTO site VALUES (1), (2)",
				"INSERT INTO host VALUES (1, 1, NULL, 7), (2, 2, 1, 7), (3, 1, NULL, 7), (4, 2, NULL, 7), (5, 2, NULL, 8)",
				"INSERT INTO item VALUES (1, 7), (2, 7), (3, 8)",
				"INSERT INTO part VALUES (1, 1), (2, 2), (3, 3)",
				"INSERT INTO note VALUES (1, 7), (2, 8)",
			} {
				if _, err := conn.ExecContext(ctx, stmt); err != nil {
					t.Fatal(err)
				}
			}
			plantTrash(t, db, plan)
			if err := live.Verify(ctx, db, plan); err != nil {
				t.Fatal(err)
			}
			before, err := schematest.Read(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			w, err := NewWorker(db, plan, c.config)
			if err != nil {
				t.Fatal(err)
			}
			job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: c.root, ResourceID: c.id})
			if err == nil {
				err = w.Drain(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
			if job = get(t, db, job.ID); job.State != queue.Done || job.DeletedRows != c.deleted || job.Detached["note"] == 0 {
				t.Errorf("%+v", job)
			}
			left := dbtest.Scan[string](t, db, "SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM host), (SELECT COUNT(*) FROM item), (SELECT COUNT(*) FROM part), (SELECT COUNT(pool) FROM note))")
			if left != c.left {
				t.Errorf("left are %s, want %s", left, c.left)
			}
			p, err := recover.Rows(ctx, db, plan, job.ID, recover.Options{})
			if err != nil || p.Stuck+p.Changed > 0 {
				t.Errorf("%+v, %v", p, err)
			}
			after, err := before.Again(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range schematest.Diff(before, after) {
				t.Error(line)
			}
			for _, stmt := range []string{"ALTER TABLE item DROP FOREIGN KEY below", "ALTER TABLE item ADD CONSTRAINT below FOREIGN KEY (pool) REFERENCES host (pool) ON DELETE CASCADE"} {
				if _, err := conn.ExecContext(ctx, stmt); err != nil {
					t.Fatal(err)
				}
			}
			var differs *live.VerifyError
			if err := live.Verify(ctx, db, plan); !errors.As(err, &differs) || !strings.Contains(err.Error(), "of which no unique key makes sure that it is one row") {
				t.Errorf("a key that cascades is accepted: %v", err)
			}
		})
	}
}

package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/schema"
)

// A root, 100 rows below it, 101 below each of those.
const (
	treeRows = 1 + 100 + 100*101
	sqlRoot  = `INSERT INTO %[1]sroot VALUES (1)`
	sqlMids  = `INSERT INTO %[1]smid WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, 1 FROM n`
	sqlTips  = `INSERT INTO %[1]stip (mid_id, about) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101)
SELECT m.id, REPEAT('x', 40) FROM %[1]smid AS m JOIN n`
	sqlTreeJobs = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
SELECT 'root', id, 0, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM root`
)

var tree = schema.Plan{Tables: []schema.Table{
	{Name: "root", Key: []string{"id"}},
	{Name: "mid", Key: []string{"id"}, Parents: []schema.Edge{{Table: "root", Columns: []string{"root_id"}}}},
	{Name: "tip", Key: []string{"id"}, Parents: []schema.Edge{{Table: "mid", Columns: []string{"mid_id"}}}},
}}

// trees delete one, row by row of it: by the engine's foreign keys, by hand, by a job.
func trees(ctx context.Context, s *site) ([]way, error) {
	for _, prefix := range []string{"", "fk_"} {
		if err := newTree(ctx, s, prefix); err != nil {
			return nil, err
		}
	}
	if err := s.exec(ctx, "DROP TABLE IF EXISTS own_fence", "CREATE TABLE own_fence (id INT PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB", "INSERT INTO own_fence VALUES (1, 7)"); err != nil {
		return nil, err
	}
	const fenced = byHand + ", fenced batches of 1,000"
	ways := []way{
		{name: "a foreign key's CASCADE", all: planted(s, "fk_", func(ctx context.Context) error {
			return send(ctx, s.db, statement{text: "DELETE FROM fk_root WHERE id = 1"})
		})},
		{name: fenced, all: planted(s, "", func(ctx context.Context) error { return s.treeByHand(ctx, false) })},
		{name: "onerow, as it comes", aim: aim{of: fenced, share: 0.9}, all: drained(s, cascade.Config{})},
		{name: "onerow, batches of 1,000", aim: aim{of: fenced, share: 0.9}, all: drained(s, cascade.Config{Batch: 1000, Target: -1})},
	}
	if s.archiver != "" {
		ways = append(ways, way{name: "pt-archiver, started for each table", all: planted(s, "", s.treeByArchiver)})
	}
	return ways, nil
}

// planted times the end of a tree that was planted before.
func planted(s *site, prefix string, end func(ctx context.Context) error) func(context.Context) (int, time.Duration, error) {
	return plantedBefore(s, prefix, func(context.Context) error { return nil }, end)
}

// plantedBefore calls idle before and after a second in which nobody does anything.
func plantedBefore(s *site, prefix string, idle, end func(ctx context.Context) error) func(context.Context) (int, time.Duration, error) {
	return func(ctx context.Context) (int, time.Duration, error) {
		var plant []string
		for _, text := range []string{sqlRoot, sqlMids, sqlTips} {
			plant = append(plant, fmt.Sprintf(text, prefix))
		}
		if err := s.exec(ctx, plant...); err != nil {
			return 0, 0, err
		}
		if err := idle(ctx); err != nil {
			return 0, 0, err
		}
		time.Sleep(time.Second) // what was planted is written, and what was deleted before is purged
		if err := idle(ctx); err != nil {
			return 0, 0, err
		}
		begin := time.Now()
		err := end(ctx)
		return treeRows, time.Since(begin), err
	}
}

// drained has a worker delete the tree, one that runs all the time: it knows the tables, and that nobody else
// is there.
func drained(s *site, c cascade.Config) func(ctx context.Context) (int, time.Duration, error) {
	w, err := cascade.NewWorker(s.db, tree, c)
	if err != nil {
		return func(context.Context) (int, time.Duration, error) { return 0, 0, err }
	}
	return plantedBefore(s, "", w.Drain, func(ctx context.Context) error {
		if err := s.exec(ctx, sqlTreeJobs); err != nil {
			return err
		}
		return w.Drain(ctx)
	})
}

// newTree makes the tables, which have foreign keys if they have a prefix.
func newTree(ctx context.Context, s *site, prefix string) error {
	mid, tip := "", ""
	if prefix != "" {
		mid, tip = ", FOREIGN KEY (root_id) REFERENCES fk_root (id) ON DELETE CASCADE", ", FOREIGN KEY (mid_id) REFERENCES fk_mid (id) ON DELETE CASCADE"
	}
	return s.exec(ctx, fmt.Sprintf("DROP TABLE IF EXISTS %[1]stip, %[1]smid, %[1]sroot", prefix),
		fmt.Sprintf("CREATE TABLE %sroot (id BIGINT PRIMARY KEY) ENGINE=InnoDB", prefix),
		fmt.Sprintf("CREATE TABLE %smid (id BIGINT PRIMARY KEY, root_id BIGINT NOT NULL, KEY (root_id, id)%s) ENGINE=InnoDB", prefix, mid),
		fmt.Sprintf("CREATE TABLE %stip (id BIGINT PRIMARY KEY AUTO_INCREMENT, mid_id BIGINT NOT NULL, about VARCHAR(100) NOT NULL, KEY (mid_id, id)%s) ENGINE=InnoDB", prefix, tip))
}

// treeByArchiver deletes from the leaves up, in batches of 1,000 by primary key.
func (s *site) treeByArchiver(ctx context.Context) error {
	c, err := mysql.ParseDSN(s.dsn)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return err
	}
	for _, part := range []struct{ table, key, where string }{
		{"tip", "mid_id", "mid_id BETWEEN 1 AND 100"}, {"mid", "root_id", "root_id = 1"}, {"root", "PRIMARY", "id = 1"},
	} {
		source := fmt.Sprintf("h=%s,P=%s,u=%s,D=%s,t=%s,i=%s", host, port, c.User, c.DBName, part.table, part.key)
		if c.Passwd != "" {
			source += ",p=" + c.Passwd
		}
		cmd := exec.CommandContext(ctx, s.archiver, "--source", source, "--where", part.where, "--purge", "--bulk-delete", "--limit", "1000", //nolint:gosec // the folder that whoever runs it names
			"--commit-each", "--primary-key-only", "--no-check-charset", "--no-safe-auto-increment")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("pt-archiver: %w: %s", err, out)
		}
	}
	var left int
	err = onerow.QueryRow(ctx, s.apart, "SELECT (SELECT COUNT(*) FROM root) + (SELECT COUNT(*) FROM mid) + (SELECT COUNT(*) FROM tip)", nil, &left)
	if err == nil && left > 0 {
		err = fmt.Errorf("pt-archiver has left %d rows", left)
	}
	return err
}

// treeByHand deletes the tips of ten rows at a time, then what they were below; each transaction proves a
// token. byKeys: the tips' keys are read before.
func (s *site) treeByHand(ctx context.Context, byKeys bool) error {
	batch := func(text string, args ...any) error {
		return inTx(ctx, s.db, func(tx *sql.Tx) error {
			var token int64
			if err := tx.QueryRowContext(ctx, "SELECT token FROM own_fence WHERE id = 1 AND token = 7 FOR UPDATE").Scan(&token); err != nil {
				return err
			}
			return send(ctx, tx, statement{text, args})
		})
	}
	mids, err := ids(ctx, s.db, "SELECT id FROM mid WHERE root_id = 1")
	if err != nil {
		return err
	}
	const some = 10
	for ; len(mids) > 0; mids = mids[some:] {
		column, keys := "mid_id", mids[:some]
		if byKeys {
			column = "id"
			if keys, err = ids(ctx, s.db, "SELECT id FROM tip WHERE mid_id IN "+marks(some), mids[:some]...); err != nil {
				return err
			}
		}
		if err := batch("DELETE FROM tip WHERE "+column+" IN "+marks(len(keys)), keys...); err != nil {
			return err
		}
	}
	if err := batch("DELETE FROM mid WHERE root_id = 1"); err != nil {
		return err
	}
	return batch("DELETE FROM root WHERE id = 1")
}

func marks(n int) string { return "(?" + strings.Repeat(", ?", n-1) + ")" }

func ids(ctx context.Context, db onerow.DB, query string, args ...any) (ids []any, err error) {
	err = onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

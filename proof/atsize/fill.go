package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Status string `db:"status"`
}

// size is a filled schema.
type size struct {
	rows     int
	owners   []int64 // of the working set
	db       *sql.DB
	projects *repo.Repo[project]
	keys     *idempotency.Keys
	own      counters // what reading the counters adds to them
	results  []result // of each verb
}

// archivedFrom is where the ids of the archive begin.
const archivedFrom = 1_000_000_000

// fills write the rows from ? to 1,000,000 more, below a last one. Owner n has the rows from 1000(n-1)+1 to
// 1000n.
var fills = []string{
	`INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, version, created_at, updated_at, status, due_at)
 SELECT i, (i + 999) DIV 1000, CONCAT('n', i), CONCAT('n', i), CONCAT('n', i), 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'open', '2030-01-01' + INTERVAL i MOD 7 DAY FROM (` + numbers + `) AS n WHERE i <= ?`,
	`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, version, created_at, updated_at, archived_at, status, due_at)
 SELECT 1000000000 + i, (i + 999) DIV 1000, CONCAT('a', i), CONCAT('a', i), CONCAT('a', i), 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'open', '2030-01-01' + INTERVAL i MOD 7 DAY FROM (` + numbers + `) AS n
 WHERE i <= ? AND i MOD 10 = 0`,
	`INSERT INTO onerow_request (resource, owner, request_id, row_id, fingerprint, call_token, created_at)
 SELECT 'project', (i + 999) DIV 1000, CONCAT('r', i), i, '', '', UTC_TIMESTAMP(6) FROM (` + numbers + `) AS n WHERE i <= ?`,
	`INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, completed_at, expires_at, codec, result)
 SELECT '7', 'charge', CONCAT('k', LPAD(i, 9, '0')), 'complete', i, '0123456789abcdef', 'filler', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6),
 UTC_TIMESTAMP(6) + INTERVAL i MOD 1000 HOUR, 'json/1', '{"amount":1}' FROM (` + numbers + `) AS n WHERE i <= ?`,
}

const (
	numbers = `SELECT ? + 1000 * a.i + b.i + 1 AS i FROM thousand AS a JOIN thousand AS b`
	million = 1_000_000
)

func newSize(ctx context.Context, server *devdb.Server, rows, owners int) (s *size, err error) {
	name := fmt.Sprintf("atsize_%d", rows)
	if err := server.CreateDatabase(ctx, name); err != nil {
		return nil, err
	}
	db, err := pool.Open(server.DSN(name))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the counters are a session's
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
		Columns: []schema.Column{{Name: "status", Type: "VARCHAR(20) NOT NULL"}, {Name: "due_at", Type: "DATETIME(6) NULL"}},
		Indexes: []schema.Index{{Columns: []string{"user_id", "status", "due_at", "id"}, Archived: true}},
	}}}
	s = &size{rows: rows, db: db}
	for n := range min(owners, rows/perOwner) {
		s.owners = append(s.owners, int64(n*(rows/perOwner)/min(owners, rows/perOwner)+1))
	}
	var failed [4]error
	s.projects, failed[0] = repo.New[project](plan, "project")
	s.keys, failed[1] = idempotency.New(idempotency.Config{})
	failed[2] = migrations.Up(ctx, db)
	for _, statement := range append(plan.DDL(),
		"CREATE TABLE thousand (i INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
		"INSERT INTO thousand WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n",
	) {
		_, err := db.ExecContext(ctx, statement)
		failed[3] = errors.Join(failed[3], err)
	}
	if err := errors.Join(failed[:]...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.fill(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *size) fill(ctx context.Context) error {
	begin := time.Now()
	for from := 0; from < s.rows; from += million {
		for _, query := range fills {
			if _, err := s.db.ExecContext(ctx, query, from, s.rows); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d rows", min(from+million, s.rows), s.rows)
	}
	if _, err := s.db.ExecContext(ctx, "ANALYZE TABLE project, project_archive, onerow_request, onerow_key"); err != nil {
		return err
	}
	for _, owner := range s.owners {
		if err := s.warm(ctx, owner); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, ", filled and read in %v\n", time.Since(begin).Round(time.Second))
	var bytes float64
	err := onerow.QueryRow(ctx, s.db, "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()", nil, &bytes)
	fmt.Printf("%d rows: %.1f GB, working set %d owners with %d projects each\n", s.rows, bytes/1e9, len(s.owners), perOwner)
	return err
}

// warm reads what the verbs need of an owner.
func (s *size) warm(ctx context.Context, owner int64) error {
	last := owner * perOwner
	key := func(i int64) string { return fmt.Sprintf("k%09d", i) }
	for _, q := range []struct {
		query string
		args  []any
	}{
		{"SELECT SUM(LENGTH(name_key)) FROM project WHERE id > ? AND id <= ?", []any{last - perOwner, last}},
		{"SELECT SUM(LENGTH(name_key)) FROM project_archive WHERE id > ? AND id <= ?", []any{archivedFrom + last - perOwner, archivedFrom + last}},
		{"SELECT COUNT(name_key) FROM project WHERE user_id = ?", []any{owner}},
		{"SELECT COUNT(row_id) FROM onerow_request WHERE resource = 'project' AND owner = ?", []any{fmt.Sprint(owner)}},
		{"SELECT SUM(LENGTH(result)) FROM onerow_key WHERE tenant = '7' AND operation = 'charge' AND idem_key > ? AND idem_key <= ?", []any{key(last - perOwner), key(last)}},
	} {
		var sum float64
		if err := onerow.QueryRow(ctx, s.db, q.query, q.args, &sum); err != nil {
			return fmt.Errorf("%w: %s", err, q.query)
		}
	}
	return nil
}

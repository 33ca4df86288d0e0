package check

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/proof/soak/load"
)

// row is a row of a resource.
type row struct {
	id, owner int64
	name      string
	key       []byte
	hits      int64
	over      bool
	hidden    bool
	active    bool
	archived  bool
}

// readRows scan the tables: nothing else runs.
var readRows = map[string][2]string{
	load.ProjectResource: {
		`SELECT id, user_id, name, name_key, hits, is_over_quota, 0 FROM project`,
		`SELECT id, user_id, name, name_key, hits, 0, deletion_id IS NOT NULL FROM project_archive`},
	load.ScreenResource: {
		`SELECT id, project_id, filename, filename_key, 0, 0, 0 FROM screen`,
		`SELECT id, project_id, filename, filename_key, 0, 0, deletion_id IS NOT NULL FROM screen_archive`},
	load.CommentResource: {`SELECT id, screen_id, '', '', 0, 0, 0 FROM comment`, ``},
}

func (c *checker) readRows(ctx context.Context) error {
	for resource, queries := range readRows {
		all := map[int64]*row{}
		c.rows[resource] = all
		for i, query := range queries {
			if query == "" {
				continue
			}
			err := c.query(ctx, query, func(rows *sql.Rows) error {
				var r row
				if err := rows.Scan(&r.id, &r.owner, &r.name, &r.key, &r.hits, &r.over, &r.hidden); err != nil {
					return err
				}
				was, both := all[r.id]
				if both {
					was.archived = true
					c.add(Tables, Doubled, "%s %d is in both tables", resource, r.id)
					return nil
				}
				r.active, r.archived = i == 0, i == 1
				all[r.id] = &r
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// request is a record of a create.
type request struct {
	owner int64
	id    string
	row   int64 // 0: none
}

const readRequests = `SELECT resource, owner, request_id, row_id FROM onerow_request`

func (c *checker) readRequests(ctx context.Context) error {
	return c.query(ctx, readRequests, func(rows *sql.Rows) error {
		var resource, owner, id string
		var rowID sql.NullString
		if err := rows.Scan(&resource, &owner, &id, &rowID); err != nil {
			return err
		}
		r := request{id: id}
		var err error
		if r.owner, err = number(owner); err != nil {
			return err
		}
		if rowID.Valid {
			if r.row, err = number(rowID.String); err != nil {
				return err
			}
		}
		c.made[resource] = append(c.made[resource], r)
		return nil
	})
}

// number decodes a key that is an integer.
func number(key string) (int64, error) {
	parts, err := onerow.DecodeKey(key)
	if err != nil {
		return 0, err
	}
	n, ok := parts[0].(int64)
	if !ok || len(parts) != 1 {
		return 0, fmt.Errorf("%w: %q", onerow.ErrInvalidKey, key)
	}
	return n, nil
}

// job is a finished cascade.
type job struct {
	id, root, deletion int64
	state              string
}

const (
	readOpenJobs  = `SELECT id, resource, resource_id, state, COALESCE(last_error, '') FROM onerow_job`
	readEndedJobs = `SELECT id, resource, resource_id, deletion_id, state, COALESCE(last_error, '') FROM onerow_job_archive`
)

func (c *checker) readJobs(ctx context.Context) error {
	err := c.query(ctx, readOpenJobs, func(rows *sql.Rows) error {
		var id int64
		var resource, root, state, lastError string
		err := rows.Scan(&id, &resource, &root, &state, &lastError)
		c.add(Jobs, Stuck, "job %d of %s %s is still %s after the drain; its last error: %q", id, resource, root, state, lastError)
		return err
	})
	if err != nil {
		return err
	}
	return c.query(ctx, readEndedJobs, func(rows *sql.Rows) error {
		var j job
		var resource, root, lastError string
		if err := rows.Scan(&j.id, &resource, &root, &j.deletion, &j.state, &lastError); err != nil {
			return err
		}
		if j.state != "done" && j.state != "cancelled" && j.state != "restored" {
			c.add(Jobs, Stuck, "job %d of %s %s ended %s: %q", j.id, resource, root, j.state, lastError)
		}
		var err error
		j.root, err = number(root)
		c.jobs[resource] = append(c.jobs[resource], j)
		return err
	})
}

// nameKey is what the unique index holds for a name; "" for what is no name.
func nameKey(resource, name string) string {
	kind := names.KindName
	if resource == load.ScreenResource {
		kind = names.KindFilename
	}
	parsed, err := kind.Parse(name)
	if err != nil {
		return ""
	}
	return parsed.Key
}

package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// filled is a schema with rows of one owner: active ones, copies of one name, archived ones and hidden ones,
// with screens below the first project, comments below the first screen, remembered requests and finished
// jobs.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	dsn := dbtest.DSN(t, dbtest.Isolation(level))
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	for _, stmt := range desk().DDL() {
		dbtest.Exec(t, db, stmt)
	}
	const now = "UTC_TIMESTAMP(6)"
	for _, query := range []string{
		"INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at, code) " + cost.Numbers(rows) +
			"SELECT i, 1, CONCAT('n', i), CONCAT('n', i), CONCAT('n', i), 0, 0, 1, " + now + ", " + now + ", i FROM numbers",
		"INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at) " + cost.Numbers(rows) +
			"SELECT 1000000 + i, IF(i > 990 AND i <= 1000, 2, 1), CONCAT('n1 (Copy ', i, ')'), CONCAT('n1 (copy ', i, ')'), 'n1', i, 0, 1, " + now + ", " + now + " FROM numbers",
		"INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at, archived_at, deletion_id, deleted_from) " +
			cost.Numbers(rows) + "SELECT 2000000 + i, IF(i > 990 AND i <= 1000, 2, 1), 'n1', 'n1', 'n1', 0, 0, 1, " + now + ", " + now + ", " + now + ", IF(i BETWEEN 101 AND 900, i, NULL), IF(i BETWEEN 101 AND 900, 'active', NULL) FROM numbers",
		"INSERT INTO screen (id, project_id, client_filename, client_filename_base, stem_key, copy_no, version, created_at, updated_at) " + cost.Numbers(rows) +
			"SELECT i, 1, CONCAT('s', i, '.png'), CONCAT('s', i), CONCAT('s', i), 0, 1, " + now + ", " + now + " FROM numbers",
		"INSERT INTO comment (id, screen_id, body, version, created_at, updated_at) " + cost.Numbers(rows) +
			"SELECT i, 1, 'b', 1, " + now + ", " + now + " FROM numbers",
		"INSERT INTO screen (id, project_id, client_filename, client_filename_base, stem_key, copy_no, version, created_at, updated_at) VALUES (3000000, 2000002, 'a.png', 'a', 'a', 0, 1, " + now + ", " + now + ")",
		"INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, grace_us, requested_at) " + cost.Numbers(rows) +
			"SELECT 'project', IF(i <= 500, 10, 10000 + i), 1, 'active', 0, " + now + " FROM numbers",
		"INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) " + cost.Numbers(rows) +
			"SELECT i, 'project', IF(i <= 500, 10, 10000 + i), i, 'done', " + now + ", 1, 1, 0, " + now + ", " + now + " FROM numbers",
		"INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) " + cost.Numbers(rows) +
			"SELECT 1000000 + i, 'project', 1000000 + i, 1000000 + i, 'ready', " + now + ", " + now + " FROM numbers",
		"INSERT INTO onerow_request (resource, owner, request_id, row_id, fingerprint, call_token, created_at) " + cost.Numbers(rows) +
			"SELECT 'project', 1, CONCAT('old', i), i, '', '', " + now + " - INTERVAL 1 DAY FROM numbers",
		"INSERT INTO ticket (id, tenant_id, workspace_id, name, name_key, stem_key, created_at, updated_at) " + cost.Numbers(rows) +
			"SELECT UNHEX(LPAD(HEX(i), 32, '0')), 1, UNHEX(LPAD('1', 32, '0')), CONCAT('n', i), CONCAT('n', i), CONCAT('n', i), " + now + ", " + now + " FROM numbers",
		"INSERT INTO ticket_archive (id, tenant_id, workspace_id, name, name_key, stem_key, created_at, updated_at, archived_at) " + cost.Numbers(rows) +
			"SELECT UNHEX(LPAD(HEX(1000000 + i), 32, '0')), 1, UNHEX(LPAD('1', 32, '0')), 'n', 'n', 'n', " + now + ", " + now + ", " + now + " FROM numbers",
		"ANALYZE TABLE ticket, ticket_archive, project, project_archive, screen, comment, onerow_request, onerow_deletion, onerow_job, onerow_job_archive",
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
	}
	return dsn
}

// TestCosts: what a verb reads and locks does not depend on how many rows its owner, or anybody, has.
func TestCosts(t *testing.T) {
	r := newRepos(t)
	cursor := func(id int64) repo.Cursor { return repo.Cursor(must(onerow.EncodeKey(id))) }
	for _, level := range levels {
		few, many := filled(t, cost.Few, level), filled(t, cost.Many(t), level)
		c := cost.Compare(t, few, many, 60)
		c.Call("get", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Get(ctx, db, 7)) })
		c.Call("find", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Find(ctx, db, 1, "n7")) })
		c.Call("list", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 1, repo.PageOptions{}))
		})
		c.Call("list of a small owner", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 2, repo.PageOptions{Limit: 5}))
		})
		c.Call("archived ones of a small owner", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 2, repo.PageOptions{State: schema.Archived, Limit: 5}))
		})
		c.Call("first names", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.ListByName(ctx, db, 1, "", repo.PageOptions{}))
		})
		c.Call("names with a prefix", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.ListByName(ctx, db, 1, "n70", repo.PageOptions{Limit: 5}))
		})
		c.Call("names of a small owner", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.ListByName(ctx, db, 2, "n", repo.PageOptions{Limit: 5}))
		})
		c.Call("last page", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 1, repo.PageOptions{After: cursor(1_000_800)}))
		})
		c.Call("archived", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 1, repo.PageOptions{State: schema.Archived}))
		})
		c.Call("archived, hidden rows first", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.List(ctx, db, 1, repo.PageOptions{State: schema.Archived, After: cursor(2_000_100)}))
		})
		c.Call("create", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("a")))
		})
		c.Call("create again", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("a")))
		})
		c.Call("a name that is taken", func(ctx context.Context, db *sql.DB) error {
			return refused(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"}))
		})
		c.Call("a value that is taken", func(ctx context.Context, db *sql.DB) error {
			code := int64(5)
			return refused(r.projects.Create(ctx, db, Project{UserID: 1, Name: "B", Code: &code}))
		})
		c.Call("archive below a row in the archive", func(ctx context.Context, db *sql.DB) error { return second(r.screens.Archive(ctx, db, 3_000_000)) })
		c.Call("remember a request with its row", func(ctx context.Context, db *sql.DB) error { // as a packet has it
			return second(db.ExecContext(ctx, `INSERT INTO onerow_request
  (resource, owner, request_id, fingerprint, call_token, row_id, created_at)
  VALUES (?, ?, ?, ?, ?, LAST_INSERT_ID(), UTC_TIMESTAMP(6))`, "project", "1", "whole", "", ""))
		})
		c.Call("forget requests", func(ctx context.Context, db *sql.DB) error { return second(repo.PurgeRequests(ctx, db, time.Hour, 20)) })
		c.Call("create a screen", func(ctx context.Context, db *sql.DB) error {
			return second(r.screens.Create(ctx, db, Screen{ProjectID: 7, Filename: "b.png"}))
		})
		c.Call("rename", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Rename(ctx, db, 7, "N 7")) })
		c.Call("update", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.Update(ctx, db, 7, func(row *Project) error { row.Note += "x"; return nil }))
		})
		c.Call("archive", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Archive(ctx, db, 8)) })
		c.Call("activate", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Activate(ctx, db, 8)) })
		c.Call("activate beside copies", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Activate(ctx, db, 2_000_001)) })
		c.Call("activate beside copies, in a transaction", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := tx.ExecContext(ctx, "DO 1")
				if err == nil {
					err = onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error { return second(r.projects.Activate(ctx, tx, 2_000_005)) })
				}
				return err
			})
		})
		c.Call("delete with grace", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.Delete(ctx, db, 9, repo.Grace(time.Hour)))
		})
		c.Call("cancel", func(ctx context.Context, db *sql.DB) error { return second(r.projects.CancelDelete(ctx, db, 9)) })
		c.Call("hide", func(ctx context.Context, db *sql.DB) error {
			return second(r.projects.Delete(ctx, db, 2_000_003, repo.Grace(time.Hour)))
		})
		c.Call("restore", func(ctx context.Context, db *sql.DB) error {
			var id int64
			if err := onerow.QueryRow(ctx, db, "SELECT deletion_id FROM project_archive WHERE id = 2000003", nil, &id); err != nil {
				return err
			}
			return second(repo.Restore(ctx, db, plan(), id))
		})
		c.Call("restore again", func(ctx context.Context, db *sql.DB) error {
			var id int64
			if err := onerow.QueryRow(ctx, db, "SELECT MAX(id) FROM onerow_deletion WHERE resource = 'project' AND resource_id = '2000003'", nil, &id); err != nil {
				return err
			}
			return second(repo.Restore(ctx, db, plan(), id))
		})
		c.Call("delete", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Delete(ctx, db, 9)) })
		c.Call("delete again", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Delete(ctx, db, 9)) })
		c.Call("delete what was deleted often", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Delete(ctx, db, 10)) })
		mine := r.projects.OwnedBy(1)
		c.Call("get of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.Get(ctx, db, 12)) })
		c.Call("get of another's", func(ctx context.Context, db *sql.DB) error { return refused(mine.Get(ctx, db, 1_000_995)) })
		c.Call("rename of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.Rename(ctx, db, 12, "N 12")) })
		c.Call("update of an owner's", func(ctx context.Context, db *sql.DB) error {
			return second(mine.Update(ctx, db, 12, func(row *Project) error { row.Note += "x"; return nil }))
		})
		c.Call("archive of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.Archive(ctx, db, 12)) })
		c.Call("activate of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.Activate(ctx, db, 12)) })
		c.Call("delete with grace of an owner's", func(ctx context.Context, db *sql.DB) error {
			return second(mine.Delete(ctx, db, 12, repo.Grace(time.Hour)))
		})
		c.Call("cancel of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.CancelDelete(ctx, db, 12)) })
		c.Call("hide an owner's", func(ctx context.Context, db *sql.DB) error {
			return second(mine.Delete(ctx, db, 2_000_004, repo.Grace(time.Hour)))
		})
		c.Call("show an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.CancelDelete(ctx, db, 2_000_004)) })
		c.Call("delete of an owner's", func(ctx context.Context, db *sql.DB) error { return second(mine.Delete(ctx, db, 12)) })
		c.Call("delete of an owner's again", func(ctx context.Context, db *sql.DB) error { return second(mine.Delete(ctx, db, 12)) })
		c.Call("delete of another's", func(ctx context.Context, db *sql.DB) error { return refused(mine.Delete(ctx, db, 1_000_995)) })
		costsOfMoves(t, c, r)
		costsOfEdits(t, c)
		costsOfTickets(t, c)
		c.Source(".", nil)
	}
}

// costsOfMoves: nor does what is above or below matter.
func costsOfMoves(t *testing.T, c *cost.Costs, r repos) {
	c.Call("give", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Move(ctx, db, 14, give(2))) })
	c.Call("give again", func(ctx context.Context, db *sql.DB) error { return second(r.projects.Move(ctx, db, 14, give(2))) })
	c.Call("give back beside copies", func(ctx context.Context, db *sql.DB) error {
		return second(r.projects.Move(ctx, db, 1_000_995, give(1)))
	})
	c.Call("give beside copies", func(ctx context.Context, db *sql.DB) error {
		if err := second(r.projects.Rename(ctx, db, 1_000_996, "n1")); err != nil {
			return err
		}
		return second(r.projects.Move(ctx, db, 1_000_996, give(1)))
	})
	c.Call("give beside a value that is taken", func(ctx context.Context, db *sql.DB) error {
		code := int64(15)
		res, err := r.projects.Create(ctx, db, Project{UserID: 3, Name: "coded", Code: &code})
		if err != nil {
			return err
		}
		return refused(r.projects.Move(ctx, db, res.Row.ID, give(1)))
	})
	c.Call("move a screen", func(ctx context.Context, db *sql.DB) error { return second(r.screens.Move(ctx, db, 1, under(16))) })
	c.Call("activate below a row in the archive", func(ctx context.Context, db *sql.DB) error { return second(r.screens.Activate(ctx, db, 3_000_000)) })
	c.Call("move a screen from below a row in the archive", func(ctx context.Context, db *sql.DB) error {
		return second(r.screens.Move(ctx, db, 3_000_000, under(16)))
	})
	c.Call("move a screen below a row in the archive", func(ctx context.Context, db *sql.DB) error {
		return refused(r.screens.Move(ctx, db, 1, under(2_000_050)))
	})
	c.Call("move a comment", func(ctx context.Context, db *sql.DB) error { return second(r.comments.Move(ctx, db, 7, onScreen(2))) })
}

// costsOfEdits: nor where a row is edited in the archive.
func costsOfEdits(t *testing.T, c *cost.Costs) {
	edited := plan()
	edited.Resources[0].EditArchived = true
	projects := must(repo.New[Project](edited, "project"))
	const id = 2_000_060
	c.Call("rename in the archive", func(ctx context.Context, db *sql.DB) error { return second(projects.Rename(ctx, db, id, "N 6")) })
	c.Call("update in the archive", func(ctx context.Context, db *sql.DB) error {
		return second(projects.Update(ctx, db, id, func(row *Project) error { row.Note += "x"; return nil }))
	})
	c.Call("give in the archive", func(ctx context.Context, db *sql.DB) error { return second(projects.Move(ctx, db, id, give(2))) })
}

// refused is an error unless there was one.
func refused(_ any, err error) error {
	if err == nil {
		return errors.New("it was not refused")
	}
	return nil
}

// desk is the plan of the tickets with UUIDs.
func desk() schema.Plan { return scopedShape().plan }

// costsOfTickets: the same where the application makes the ids, and an owner has two columns.
func costsOfTickets(t *testing.T, c *cost.Costs) {
	tickets := must(repo.NewOf[Scoped, uuid.UUID, Workspace](desk(), "ticket"))
	owner := Workspace{1, uuid.UUID{15: 1}}
	create := func(n int, name string) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			return second(tickets.Create(ctx, db, Scoped{ID: uid(n), TenantID: 1, WorkspaceID: owner.ID, Name: name}))
		}
	}
	plain := desk()
	plain.Resources[0].Archive, plain.Resources[0].Indexes = "", nil
	unarchived := must(repo.NewOf[Scoped, uuid.UUID, Workspace](plain, "ticket"))
	id := uid(1)
	c.Call("create by id", create(1, "A"))
	c.Call("create by id, without an archive", func(ctx context.Context, db *sql.DB) error {
		return second(unarchived.Create(ctx, db, Scoped{ID: uid(3), TenantID: 1, WorkspaceID: owner.ID, Name: "C"}))
	})
	c.Call("create by id again", create(1, "A"))
	c.Call("create by id, its name taken", func(ctx context.Context, db *sql.DB) error { return refused(nil, create(2, "A")(ctx, db)) })
	c.Call("first page of tickets", func(ctx context.Context, db *sql.DB) error {
		return second(tickets.List(ctx, db, owner, repo.PageOptions{}))
	})
	c.Call("last page of archived tickets", func(ctx context.Context, db *sql.DB) error {
		return second(tickets.List(ctx, db, owner, repo.PageOptions{State: schema.Archived, After: repo.Cursor(must(onerow.EncodeKey(uuid.UUID{13: 15, 14: 68, 15: 118})))}))
	})
	c.Call("find a ticket", func(ctx context.Context, db *sql.DB) error { return second(tickets.Find(ctx, db, owner, "n7")) })
	c.Call("archive a ticket", func(ctx context.Context, db *sql.DB) error { return second(tickets.Archive(ctx, db, id)) })
	c.Call("create by id, archived", create(1, "A"))
	c.Call("activate a ticket", func(ctx context.Context, db *sql.DB) error { return second(tickets.Activate(ctx, db, id)) })
	c.Call("hide a ticket", func(ctx context.Context, db *sql.DB) error {
		return second(tickets.Delete(ctx, db, id, repo.Grace(time.Hour)))
	})
	c.Call("cancel for a ticket", func(ctx context.Context, db *sql.DB) error {
		return second(tickets.OwnedBy(owner).CancelDelete(ctx, db, id))
	})
	c.Call("delete a ticket", func(ctx context.Context, db *sql.DB) error { return second(tickets.Delete(ctx, db, id)) })
	c.Call("create by id, deleted", func(ctx context.Context, db *sql.DB) error { return refused(nil, create(1, "A")(ctx, db)) })
	c.Call("create by id, deleted, in a caller's transaction", func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			return refused(tickets.Create(ctx, tx, Scoped{ID: id, TenantID: 1, WorkspaceID: owner.ID, Name: "A"}))
		})
	})
}

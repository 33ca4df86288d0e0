package repo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
)

// TestFailedVerbLeavesNothing: a verb that fails for good after its first write has
// written nothing, also when the caller commits the transaction that it joined. Only a
// cancel holds its deletion.
func TestFailedVerbLeavesNothing(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	p := r.projects
	active := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	archived := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"})).Row.ID
	must(p.Archive(ctx, db, archived))
	hidden := must(p.Create(ctx, db, Project{UserID: 1, Name: "C"})).Row.ID
	must(p.Delete(ctx, db, hidden, repo.Grace(time.Hour)))
	state := func() (all [7]int) {
		five := rows(t, db)
		copy(all[:], five[:])
		all[5] = count(t, db, "SELECT COUNT(*) FROM onerow_request") + count(t, db, "SELECT COUNT(*) FROM project")*100 + count(t, db, "SELECT COUNT(*) FROM project_archive")*10000 +
			count(t, db, "SELECT COALESCE(SUM(user_id), 0) FROM project")*1000000
		all[6] = count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE state = 'scheduled'") + 100*count(t, db, "SELECT COUNT(*) FROM onerow_job_archive")
		return all
	}
	fresh := Project{UserID: 1, Name: "D"}
	verbs := map[string]struct {
		refuses string // what the trigger is on
		call    func(db onerow.DB) error
	}{
		"delete":                  {"DELETE ON project", func(db onerow.DB) error { return second(p.Delete(ctx, db, active)) }},
		"delete with grace":       {"DELETE ON project", func(db onerow.DB) error { return second(p.Delete(ctx, db, active, repo.Grace(time.Hour))) }},
		"delete what is archived": {"DELETE ON project_archive", func(db onerow.DB) error { return second(p.Delete(ctx, db, archived)) }},
		"delete, unmarked":        {"INSERT ON onerow_quota_mark", func(db onerow.DB) error { return second(p.Delete(ctx, db, active)) }},
		"archive":                 {"DELETE ON project", func(db onerow.DB) error { return second(p.Archive(ctx, db, active)) }},
		"activate":                {"DELETE ON project_archive", func(db onerow.DB) error { return second(p.Activate(ctx, db, archived)) }},
		"cancel":                  {"DELETE ON project_archive", func(db onerow.DB) error { return second(p.CancelDelete(ctx, db, hidden)) }},
		"move":                    {"INSERT ON onerow_quota_mark", func(db onerow.DB) error { return second(p.Move(ctx, db, active, give(2))) }},
		"create":                  {"INSERT ON onerow_quota_mark", func(db onerow.DB) error { return second(p.Create(ctx, db, fresh)) }},
		"create with a request id": {"INSERT ON onerow_quota_mark", func(db onerow.DB) error {
			return second(p.Create(ctx, db, fresh, repo.RequestID("r")))
		}},
	}
	for name, v := range verbs {
		must(db.ExecContext(ctx, "CREATE TRIGGER refuses BEFORE "+v.refuses+" FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'"))
		before := state()
		if name == "cancel" {
			before[6]-- // the job is held, no longer scheduled: somebody wanted the row back
		}
		tx := must(db.BeginTx(ctx, nil))
		var my *mysql.MySQLError
		if err := v.call(tx); !errors.As(err, &my) || my.Number != 1644 || errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("%s: %v", name, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if after := state(); after != before {
			t.Errorf("%s failed and left %v, before %v", name, after, before)
		}
		must(db.ExecContext(ctx, "DROP TRIGGER refuses"))
	}
}

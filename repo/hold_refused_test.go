package repo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// TestCancelRefused: whatever lasting thing keeps the row from coming back, its owner has said
// that it is to stay: nobody deletes it when the grace period ends.
func TestCancelRefused(t *testing.T) {
	byServer := func(numbers ...uint16) func(error) bool {
		return func(err error) bool {
			var my *mysql.MySQLError
			for _, n := range numbers {
				if errors.As(err, &my) && my.Number == n {
					return true
				}
			}
			return false
		}
	}
	for name, tt := range map[string]struct {
		refuse, allow string
		refusal       func(error) bool
	}{
		"a trigger": {
			"CREATE TRIGGER refuses BEFORE INSERT ON project FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'",
			"DROP TRIGGER refuses",
			byServer(1644),
		},
		"a check": {
			"ALTER TABLE project ADD CONSTRAINT refuses CHECK (note <> 'n')",
			"ALTER TABLE project DROP CONSTRAINT refuses",
			byServer(3819, 4025),
		},
		"a foreign key": {
			"ALTER TABLE project ADD CONSTRAINT refuses FOREIGN KEY (id) REFERENCES screen (id)",
			"ALTER TABLE project DROP FOREIGN KEY refuses",
			byServer(1452),
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, p, ctx := open(t), newRepos(t).projects, t.Context()
			id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A", Note: "n"})).Row.ID
			del := must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
			must(db.ExecContext(ctx, tt.refuse))
			cancels := map[string]func(onerow.DB) error{
				"cancel":  func(db onerow.DB) error { return second(p.CancelDelete(ctx, db, id)) },
				"restore": func(db onerow.DB) error { return second(repo.Restore(ctx, db, plan(), del.DeletionID)) },
			}
			state := func() queue.State { return must(queue.Get(ctx, db, del.JobID)).State }
			for verb, cancel := range cancels {
				if err := cancel(db); !tt.refusal(err) {
					t.Fatalf("%s: %v", verb, err)
				}
				if got := state(); got != queue.Held {
					t.Errorf("%s: the job is %s", verb, got)
				}
				must(db.ExecContext(ctx, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, state = 'scheduled'"))
				tx := must(db.BeginTx(ctx, nil))
				if err := cancel(tx); !tt.refusal(err) {
					t.Errorf("%s, joined: %v", verb, err)
				}
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				if got := state(); got != queue.Held {
					t.Errorf("%s, joined: the job is %s", verb, got)
				}
			}
			must(db.ExecContext(ctx, tt.allow))
			if err := cancels["cancel"](db); err != nil || state() != queue.Cancelled {
				t.Errorf("then: %v, the job is %s", err, state())
			}
		})
	}
}

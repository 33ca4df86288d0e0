package cascade

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestApart: what is done with a job keeps no call about another row waiting, be it one of another resource
// with the same id. Not asked of an Enqueue that finds an open job: of a duplicate in a unique key InnoDB
// locks the gap before it as well, at READ COMMITTED too. At REPEATABLE READ calls that find no job lock
// gaps, too.
func TestApart(t *testing.T) {
	db := openForest(t, dbtest.Isolation(sql.LevelReadCommitted))
	deletion := func(n int) queue.Deletion {
		return queue.Deletion{ID: int64(n), Resource: []string{"project", "folder"}[n%2], ResourceID: key(int64(n / 2)), Owner: "7", Grace: time.Hour}
	}
	scheduled := func(ctx context.Context, db *sql.DB, n int) error { return second(queue.Enqueue(ctx, db, deletion(n))) }
	dead := func(ctx context.Context, db *sql.DB, n int) error {
		return second(db.ExecContext(ctx, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
 VALUES (?, ?, ?, ?, 'dead', UTC_TIMESTAMP(6), 1, 1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, n*1_000_000, deletion(n).Resource, deletion(n).ResourceID, n))
	}
	racetest.Apart(t, db, []string{"onerow_job", "onerow_job_archive"}, []racetest.Verb{
		{Name: "log", Call: func(ctx context.Context, db onerow.DB, n int) error { return second(queue.Log(ctx, db, deletion(n))) }},
		{Name: "enqueue", Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(queue.Enqueue(ctx, db, deletion(n)))
		}},
		{Name: "cancel", Setup: scheduled, Call: func(ctx context.Context, db onerow.DB, n int) error {
			d := deletion(n)
			return queue.Cancel(ctx, db, d.Resource, d.ResourceID, d.ID)
		}},
		{Name: "hold", Setup: scheduled, Call: func(ctx context.Context, db onerow.DB, n int) error {
			d := deletion(n)
			return queue.Hold(ctx, db, d.Resource, d.ResourceID, d.ID, "name taken")
		}},
		{Name: "find", Setup: scheduled, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(queue.Find(ctx, db, deletion(n).Resource, deletion(n).ResourceID))
		}},
		{Name: "retry", Setup: dead, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(queue.Retry(ctx, db, int64(n)*1_000_000))
		}},
	})
}

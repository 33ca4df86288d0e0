package admin

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
)

// WorkerStatus is a worker's last sign of life. Times are UTC, by the database's clock.
type WorkerStatus struct {
	Name      string    `json:"name"`
	StartedAt time.Time `json:"started_at"`
	// SeenAt is its last sign of life: every 5 seconds at least while it works or is idle, a batch that takes
	// longer apart. A worker that ends cleanly is not listed; one that was killed is, for an hour.
	SeenAt time.Time `json:"seen_at"`
	// Ago is how long ago that was, in microseconds, by the database's clock.
	Ago time.Duration `json:"-"`
	// Throttle is why it waits, as cascade.Event has it; "" if it does not.
	Throttle string `json:"throttle,omitempty"`
	// JobID is the job that it worked then; 0 for none. One of them, if it works several.
	JobID int64 `json:"job_id,omitempty"`
}

// sqlWorkers reads the table, which has a row per worker of the last hour.
const sqlWorkers = `SELECT name, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', started_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', seen_at),
  TIMESTAMPDIFF(MICROSECOND, seen_at, UTC_TIMESTAMP(6)), CAST(throttle AS BINARY), job_id FROM onerow_worker ORDER BY name LIMIT 1000`

// Workers lists the workers that showed a sign of life, by name, 1000 at most. One statement.
func Workers(ctx context.Context, db onerow.DB) ([]WorkerStatus, error) {
	return readAll(ctx, db, "cascade: list workers", sqlWorkers, nil, func(rows *sql.Rows, w *WorkerStatus) error {
		var started, seen, job sql.NullInt64
		var ago int64
		var throttle sql.NullString
		err := rows.Scan(&w.Name, &started, &seen, &ago, &throttle, &job)
		w.StartedAt, w.SeenAt, w.Ago = dbtime.At(started), dbtime.At(seen), time.Duration(ago)*time.Microsecond
		w.Throttle, w.JobID = throttle.String, job.Int64
		return err
	})
}

package admin

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/queue"
)

// Stats are figures about the whole queue, for metrics and pages.
type Stats struct {
	// Open is how many jobs are scheduled, held, paused, ready and running.
	Open map[queue.State]int64 `json:"open"`
	// Due is how many of them a worker may take now; a running one is due when its lease ends.
	Due int64 `json:"due"`
	// OldestAge is for how long the job has been due that is due longest and that no
	// worker has; 0 if none is.
	OldestAge time.Duration `json:"oldest_age"`
	// Dead and Leftovers are how many jobs wait for somebody.
	Dead      int64 `json:"dead"`
	Leftovers int64 `json:"leftovers"`
	// Parked is how many rows wait for somebody.
	Parked int64 `json:"parked"`
	// Ended is how many jobs have ended in the last minute, however they did.
	Ended int64 `json:"ended"`
	// Workers is how many workers were seen in the last 30 seconds.
	Workers int64 `json:"workers"`
	// Paused is the switch.
	Paused PauseState `json:"paused"`
	// Resources are those that are paused.
	Resources []PauseState `json:"resources,omitempty"`
}

// sqlStats reads in one snapshot: the open jobs, by the index due; the dead ones and leftovers, by the
// archive's index (state, id); those that have ended lately, by (finished_at); the parked rows, by theirs;
// the workers; the switch, and what is paused.
const sqlStats = `SELECT CASE WHEN state = 'scheduled' AND due_at <= UTC_TIMESTAMP(6) THEN 'ready' ELSE state END AS what, COUNT(*), IF(due_at <= UTC_TIMESTAMP(6), 'due', NULL) AS is_due
  FROM onerow_job FORCE INDEX (due) GROUP BY what, is_due
UNION ALL SELECT 'oldest', TIMESTAMPDIFF(MICROSECOND, MIN(due_at), UTC_TIMESTAMP(6)), NULL
  FROM (SELECT MIN(due_at) AS due_at FROM onerow_job FORCE INDEX (due) GROUP BY resource) AS first WHERE due_at <= UTC_TIMESTAMP(6)
UNION ALL SELECT 'dead', COUNT(*), NULL FROM onerow_job_archive FORCE INDEX (state) WHERE state = 'dead'
UNION ALL SELECT 'leftovers', COUNT(*), NULL FROM onerow_job_archive FORCE INDEX (state) WHERE state = 'leftovers'
UNION ALL SELECT 'ended', COUNT(*), NULL FROM onerow_job_archive FORCE INDEX (finished_at) WHERE finished_at >= UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE
UNION ALL SELECT 'parked', COUNT(*), NULL FROM onerow_parked WHERE state = 'parked'
UNION ALL SELECT 'workers', COUNT(*), NULL FROM onerow_worker WHERE seen_at >= UTC_TIMESTAMP(6) - INTERVAL 30 SECOND
UNION ALL SELECT 'switch', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at), CAST(reason AS BINARY) FROM onerow_switch WHERE name = 'pause' AND is_on = 1
UNION ALL SELECT CONCAT('resource ', name), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at), value FROM onerow_control WHERE kind = 'pause'`

// ReadStats reads the figures. The cost grows with the number of open jobs, of parked rows and of jobs that
// have ended in the last minute, not with that of finished jobs. One statement.
func ReadStats(ctx context.Context, db onerow.DB) (Stats, error) {
	s := Stats{Open: map[queue.State]int64{queue.Scheduled: 0, queue.Held: 0, queue.OnPause: 0, queue.Ready: 0, queue.Running: 0}}
	err := onerow.Query(ctx, db, sqlStats, nil, func(rows *sql.Rows) error {
		var what string
		var n sql.NullInt64
		var text sql.NullString
		if err := rows.Scan(&what, &n, &text); err != nil {
			return err
		}
		switch what {
		case "oldest":
			s.OldestAge = time.Duration(n.Int64) * time.Microsecond
		case "ended":
			s.Ended = n.Int64
		case "parked":
			s.Parked = n.Int64
		case "workers":
			s.Workers = n.Int64
		case "switch":
			s.Paused = PauseState{On: true, Reason: text.String, Since: dbtime.At(n)}
		case string(queue.Dead):
			s.Dead = n.Int64
		case string(queue.Leftovers):
			s.Leftovers = n.Int64
		default:
			if resource, ok := strings.CutPrefix(what, "resource "); ok {
				s.Resources = append(s.Resources, PauseState{On: true, Resource: resource, Reason: text.String, Since: dbtime.At(n)})
				break
			}
			s.Open[queue.State(what)] += n.Int64
			if text.String == "due" {
				s.Due += n.Int64
			}
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("cascade: read the queue's figures: %w", err)
	}
	return s, nil
}

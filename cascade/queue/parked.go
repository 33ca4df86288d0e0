package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
)

// Parked is a row that a job could not delete, with what is wrong with it. Its job goes
// on without it and ends with [Leftovers].
type Parked struct {
	ID    int64 `json:"id"`
	JobID int64 `json:"job_id"`
	// Resource and ResourceID name the job's root row; "" if the job is gone.
	Resource   string `json:"resource,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	// Table and Key say which row it is; the key is encoded, see [onerow.EncodeKey].
	Table string `json:"table"`
	Key   string `json:"key"`
	// Error is why it could not be deleted, shortened.
	Error string `json:"error"`
	// Skipped: somebody has decided that it stays, see [SkipParked].
	Skipped bool `json:"skipped"`
	// ParkedAt is UTC, by the database's clock.
	ParkedAt time.Time `json:"parked_at"`
}

// ParkedOptions says which rows [ListParked] returns. The zero value means the newest 100.
type ParkedOptions struct {
	// JobID limits the list to one job. nil: all.
	JobID *int64
	// Open leaves out those that were skipped.
	Open bool
	// After is the id of the last row of the previous page. 0: from the newest.
	After int64
	// Limit is how many rows are returned at most. Default 100, maximum 1000.
	Limit int
}

// sqlParked walks the primary key, the index (state, id), or one_row's part of a job
// backwards, and looks each row's job up by the primary keys of the two tables.
const sqlParked = `SELECT p.id, p.job_id, COALESCE(o.resource, a.resource), COALESCE(o.resource_id, a.resource_id), p.table_name, p.row_key, CAST(p.error AS BINARY),
  p.state = 'skipped', TIMESTAMPDIFF(MICROSECOND, '1970-01-01', p.parked_at)
FROM onerow_parked AS p LEFT JOIN onerow_job AS o ON o.id = p.job_id LEFT JOIN onerow_job_archive AS a ON a.id = p.job_id
WHERE p.id < ?`

// ListParked returns rows that are parked or skipped, the newest first. One statement.
func ListParked(ctx context.Context, db onerow.DB, o ParkedOptions) ([]Parked, error) {
	after, limit := page(o.After, o.Limit)
	query, args := sqlParked, []any{after}
	if o.JobID != nil {
		query, args = query+" AND p.job_id = ?", append(args, *o.JobID)
	}
	if o.Open {
		query += " AND p.state = 'parked'"
	}
	var list []Parked
	err := onerow.Query(ctx, db, query+" ORDER BY p.id DESC LIMIT ?", append(args, limit), func(rows *sql.Rows) error {
		var p Parked
		var resource, id, table, key []byte
		var parked sql.NullInt64
		if err := rows.Scan(&p.ID, &p.JobID, &resource, &id, &table, &key, &p.Error, &p.Skipped, &parked); err != nil {
			return err
		}
		p.Resource, p.ResourceID, p.Table, p.Key, p.ParkedAt = string(resource), string(id), string(table), string(key), dbtime.At(parked)
		list = append(list, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cascade: list parked rows: %w", err)
	}
	return list, nil
}

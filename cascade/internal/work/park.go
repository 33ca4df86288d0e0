package work

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/rowkey"
)

// sqlPark: the unique key one_row makes it one entry, also when the batch is run again.
const sqlPark = `INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, ?, ?, ` + dbtext.Param + `, 'parked', UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE error = VALUES(error), version = version + 1`

// Park notes a row that cannot be deleted, in the transaction of a batch, after the fence. It is exported for
// the tests of package cascade, as ParkedKeys and ParkedCounts are. One statement.
func Park(ctx context.Context, tx *onerow.Tx, jobID int64, table, encodedKey, errText string) error {
	_, err := tx.ExecContext(ctx, sqlPark, jobID, []byte(table), []byte(encodedKey), dbtext.Arg(dbtext.Fit(errText, fault.MaxText)))
	return err
}

// sqlJobParked reads the job's rows by the unique key one_row.
const sqlJobParked = `SELECT table_name, row_key FROM onerow_parked WHERE job_id = ?`

// ParkedKeys are the rows that the job does not try, by table: parked and skipped ones. One statement.
func ParkedKeys(ctx context.Context, db onerow.DB, jobID int64) (map[string][]string, error) {
	keys := map[string][]string{}
	err := onerow.Query(ctx, db, sqlJobParked, []any{jobID}, func(rows *sql.Rows) error {
		var table, key []byte
		if err := rows.Scan(&table, &key); err != nil {
			return err
		}
		keys[string(table)] = append(keys[string(table)], string(key))
		return nil
	})
	return keys, err
}

// sqlCountParked reads the job's rows by the unique key one_row.
const sqlCountParked = `SELECT COALESCE(SUM(state = 'parked'), 0), COUNT(*) FROM onerow_parked WHERE job_id = ?`

// ParkedCounts is how many rows of a job are parked, and how many are parked or skipped. In a transaction
// that holds the job's fence nobody changes them any more. A job that ends has leftovers if any is parked; a
// total below the worker's own means that an operator has unparked one. One statement.
func ParkedCounts(ctx context.Context, db onerow.DB, jobID int64) (parked, all int64, err error) {
	err = onerow.QueryRow(ctx, db, sqlCountParked, []any{jobID}, &parked, &all)
	return parked, all, err
}

// park notes a row, in a batch of its own; the job skips the row from then on. With MaxParked rows parked
// already, it fails with ErrParked, and the job is dead.
func (r *run) park(ctx context.Context, t *graph.Table, key rowkey.Key, cause error) error {
	encoded, err := t.Key.Encode(key)
	if err != nil {
		return fmt.Errorf("cascade: a row of %s cannot be parked: %w; what was wrong with it: %w", t.Name, err, cause)
	}
	if r.parkedRows() >= r.limits.MaxParked {
		if err := r.tooManyParked(ctx, encoded, t, cause); err != nil {
			return err
		}
	}
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ Tally) (bool, error) {
		return false, Park(ctx, tx, r.JobID, t.Name, encoded, fault.Redact(cause))
	})
	if err != nil {
		return err
	}
	r.leave(t, key)
	r.changes++
	r.lease.Parked(ctx, t.Name, encoded, fault.Redact(cause))
	return nil
}

// tooManyParked refuses to park one more row, unless enough of the job's were skipped. One statement.
func (r *run) tooManyParked(ctx context.Context, encoded string, t *graph.Table, cause error) error {
	var open int64
	err := backoff.Read(ctx, func() (err error) {
		open, _, err = ParkedCounts(ctx, r.db, r.JobID)
		return err
	})
	if err != nil || open < int64(r.limits.MaxParked) {
		return err
	}
	return fmt.Errorf("%w: %d of job %d, and the next would be %s of %s; look at cascade-worker parked list --job %d, repair or skip them, then retry job %d, or raise MaxParked: %w",
		fault.ErrParked, open, r.JobID, encoded, t.Name, r.JobID, r.JobID, cause)
}

// parkedRows is how many rows the job does not try, as far as the worker knows.
func (r *run) parkedRows() (n int) {
	for _, keys := range r.parked {
		n += len(keys)
	}
	return n
}

// leave takes a row for one that is not to be tried.
func (r *run) leave(t *graph.Table, key rowkey.Key) {
	if r.parked[t.Name] == nil {
		r.parked[t.Name] = map[rowkey.Key]bool{}
	}
	r.parked[t.Name][key] = true
}

// loadParked reads which rows earlier attempts have parked. Edges to their tables are
// read, lest they be deleted unread. One statement.
func (r *run) loadParked(ctx context.Context) error {
	r.parked = map[string]map[rowkey.Key]bool{}
	var stored map[string][]string
	err := backoff.Read(ctx, func() (err error) {
		stored, err = ParkedKeys(ctx, r.db, r.JobID)
		return err
	})
	if err != nil || len(stored) == 0 {
		return err
	}
	for table, keys := range stored {
		t := r.graph.Table(table)
		if t == nil {
			continue
		}
		for _, encoded := range keys {
			if key, err := t.Key.Decode(encoded); err == nil { // else the key has changed: it is another row now
				r.leave(t, key)
			}
		}
		r.check.suspectRows(r.graph, t.Node)
	}
	return nil
}

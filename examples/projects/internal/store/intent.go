package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// insertIntent notes an intent that lives for an hour, by the database's clock. The
// key is new, so nobody waits.
const insertIntent = `INSERT INTO blob_intent (blob_key, project_id, state, due_at)
  VALUES (?, ?, 'pending', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)`

// reserve notes that a file is about to be written, and returns its key. An
// autocommit INSERT; whether or not it was done, nothing needs to be undone.
func (s *Store) reserve(ctx context.Context, projectID int64) (string, error) {
	key := newKey(projectID)
	if _, err := s.db.ExecContext(ctx, insertIntent, key, projectID); err != nil {
		return "", fmt.Errorf("store: note the upload: %w", err)
	}
	return key, nil
}

// deleteIntent is by primary key; the state decides between the upload and the
// sweep.
const deleteIntent = `DELETE FROM blob_intent WHERE blob_key = ? AND state = 'pending'`

// fulfil deletes the intent in the transaction that makes the file's row.
func (s *Store) fulfil(ctx context.Context, tx *onerow.Tx, key string) error {
	n, err := onerow.Affected(ctx, tx, deleteIntent, key)
	if err == nil && n != 1 {
		err = ErrUploadLost
	}
	return err
}

// expireIntent is by primary key.
const expireIntent = `UPDATE blob_intent SET state = 'expired', due_at = UTC_TIMESTAMP(6) WHERE blob_key = ? AND state = 'pending'`

// expireTime is what an upload whose context ended still takes to give up.
const expireTime = 5 * time.Second

// expire gives an upload up: the sweep deletes its file.
func (s *Store) expire(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), expireTime)
	defer cancel()
	_, err := s.db.ExecContext(ctx, expireIntent, key)
	return err
}

// insertReplaced notes the key of the row that this transaction holds, so it
// is in no intent.
const insertReplaced = `INSERT INTO blob_intent (blob_key, project_id, state, due_at) VALUES (?, ?, 'replaced', UTC_TIMESTAMP(6))`

// replaced notes, in the transaction that takes a file from its row, that the file
// is to be deleted.
func (s *Store) replaced(ctx context.Context, tx *onerow.Tx, key string, projectID int64) error {
	_, err := tx.ExecContext(ctx, insertReplaced, key, projectID)
	return err
}

// sweepBatch is how many intents a sweep takes at most.
const sweepBatch = 200

// selectDue reads the index (due_at), plainly: it locks nothing. The others are by
// primary key.
const (
	selectDue = `SELECT blob_key, state FROM blob_intent WHERE due_at <= UTC_TIMESTAMP(6) ORDER BY due_at LIMIT ?`
	claimDue  = `UPDATE blob_intent SET state = 'expired' WHERE blob_key = ? AND state = 'pending'`
	dropDue   = `DELETE FROM blob_intent WHERE blob_key = ? AND state <> 'pending'`
	postpone  = `UPDATE blob_intent SET due_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE WHERE blob_key = ? AND state <> 'pending'`
)

// due is an intent that a sweep takes on.
type due struct{ key, state string }

// SweepOnce deletes the files of due intents and then the intents, at most 200, and
// returns how many. A pending intent is claimed first; from then on an upload that
// comes too late cannot be published any more. A crash in between leaves the intent,
// and the next sweep deletes the file again, which is a success. A file that cannot
// be deleted is tried again a minute later; the error says so. One statement, and
// one or two per intent.
func (s *Store) SweepOnce(ctx context.Context) (swept int, err error) {
	var all []due
	err = onerow.Query(ctx, s.db, selectDue, []any{sweepBatch}, func(rows *sql.Rows) error {
		var d due
		err := rows.Scan(&d.key, &d.state)
		all = append(all, d)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store: sweep: %w", err)
	}
	var errs []error
	for _, d := range all {
		done, err := s.sweepOne(ctx, d)
		if done {
			swept++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("store: sweep the file %s: %w", d.key, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return swept, errors.Join(errs...)
}

func (s *Store) sweepOne(ctx context.Context, d due) (done bool, err error) {
	if d.state == "pending" {
		n, err := onerow.Affected(ctx, s.db, claimDue, d.key)
		if err != nil || n != 1 { // 0: it was published just now, or another sweep has it
			return false, err
		}
	}
	if err := s.deleteFile(ctx, d.key, d.state != "replaced"); err != nil {
		_, perr := s.db.ExecContext(ctx, postpone, d.key)
		return false, errors.Join(err, perr)
	}
	_, err = s.db.ExecContext(ctx, dropDue, d.key)
	return err == nil, err
}

// deleteFile deletes a file; one that is missing is a success. partial: also what
// was written of it before a process was killed.
func (s *Store) deleteFile(ctx context.Context, key string, partial bool) error {
	keys := []string{key}
	if partial {
		rest, err := s.files.partial(key)
		if err != nil {
			return err
		}
		keys = append(keys, rest...)
	}
	return s.files.Delete(ctx, keys)
}

// sweepEvery is the pause between two sweeps that found nothing.
const sweepEvery = 2 * time.Second

// Sweep runs SweepOnce until ctx ends, and returns nil. Errors are logged.
func (s *Store) Sweep(ctx context.Context) error {
	for {
		n, err := s.SweepOnce(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
		case onerow.Retryable(err):
			s.log.WarnContext(ctx, "sweep of files: postponed", "error", err)
		default:
			s.log.ErrorContext(ctx, "sweep of files", "error", err)
		}
		if n > 0 && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepEvery):
		}
	}
}

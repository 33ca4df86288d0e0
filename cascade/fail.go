package cascade

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// Pauses between attempts: of a job that failed, doubling with each failure, and of
// a job that could not be worked for want of the database.
const (
	firstBackoff = time.Second
	longBackoff  = 5 * time.Minute
	postponement = time.Second
	longestError = 2000
)

func backoff(failures int) time.Duration {
	d := firstBackoff
	for n := 1; n < failures && d < longBackoff; n++ {
		d *= 2
	}
	return jitter(min(d, longBackoff))
}

// jitter is d, give or take a half, so that workers do not march in step.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d) //nolint:gosec // jitter, not a secret
}

// sqlEnded notes an attempt that did not end the job, by the primary key and only
// for the holder of the token, who alone changes the failures.
const sqlEnded = `UPDATE onerow_job SET state = ?, failures = failures + ?, last_error = ` + dbtext.Param + `, worker = NULL, batch_seq = batch_seq + 1,
  due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

// postpone makes the job due a little later. It is no failure. One statement.
func (w *Worker) postpone(ctx context.Context, job Job, cause error) error {
	return w.store(ctx, job, Ready, 0, cause, jitter(postponement))
}

// fail counts a failure: the job is due again after a pause, or dead. One statement,
// 5 when it is dead.
func (w *Worker) fail(ctx context.Context, job Job, cause error) error {
	failures := job.Failures + 1
	if failures < w.cfg.MaxFailures && !hopeless(cause) {
		return w.store(ctx, job, Ready, 1, cause, backoff(failures))
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	ours := false
	err := onerow.InTx(ctx, w.db, func(ctx context.Context, tx *onerow.Tx) error {
		n, err := onerow.Affected(ctx, tx, sqlEnded, string(Running), 1, dbtext.Arg(redact(cause)), 0, job.ID, job.Token)
		if ours = n > 0; err != nil || !ours {
			return err // another worker has the job, and its own outcome
		}
		r := run{Worker: w, job: job}
		return r.archive(ctx, tx, Dead)
	})
	if err != nil {
		return fmt.Errorf("cascade: job %d is dead, which could not be stored: %w", job.ID, err)
	}
	w.tellEnded(Dead, ours)
	return nil
}

func (w *Worker) store(ctx context.Context, job Job, state State, failures int, cause error, pause time.Duration) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	n, err := onerow.Affected(ctx, w.db, sqlEnded, string(state), failures, dbtext.Arg(redact(cause)), pause.Microseconds(), job.ID, job.Token)
	if err != nil {
		return fmt.Errorf("cascade: store the failure of job %d, which is due when its lease ends: %w", job.ID, err)
	}
	w.tellEnded(state, n > 0)
	return nil
}

// tellEnded tells of the end of an attempt, or that it was another worker's by then.
func (w *Worker) tellEnded(state State, ours bool) {
	if ours {
		w.cfg.Observer.Ended(state)
		return
	}
	w.cfg.Observer.LeaseLost()
}

// sqlArchive and sqlDrop follow on the row that the fence, or sqlEnded, has locked.
const (
	sqlArchive = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, ?, due_at, token, ?, batch_seq, failures, last_error, created_at, started_at, UTC_TIMESTAMP(6)
FROM onerow_job WHERE id = ? AND token = ?`
	sqlDrop = `DELETE j FROM onerow_job AS j WHERE j.id = ? AND j.token = ?`
)

// archive moves the job, whose row this transaction has locked, to the archive.
func (r *run) archive(ctx context.Context, tx *onerow.Tx, state State) error {
	r.state = state
	if _, err := tx.ExecContext(ctx, sqlArchive, string(state), r.cfg.Name, r.job.ID, r.job.Token); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, sqlDrop, r.job.ID, r.job.Token)
	return err
}

// What may hold a secret in an error of an asset store or of a throttle: the user of an
// address, that of a DSN in go-sql-driver's form, and the signature of a signed address.
var (
	driverDSN = regexp.MustCompile(`[^\s/]*:[^\s]*@((?:tcp|tcp4|tcp6|unix)\()`)
	userInfo  = regexp.MustCompile(`://[^/\s]+@`) // up to the last one: a password may have a @
	keyValues = regexp.MustCompile(`(?i)\b((?:[\w-]*(?:password|passwd|pwd|secret|signature|token|credential|api_?key|authorization)[\w-]*|sig)["']?\s*[=:]\s*)` +
		`(?:(?:bearer|basic)\s+)?(?:"[^"]*"|'[^']*'|[^&\s,;]+)`)
)

// redact is the text of an error as it is stored and logged.
func redact(err error) string {
	text := driverDSN.ReplaceAllString(err.Error(), "…@${1}")
	text = userInfo.ReplaceAllString(text, "://…@")
	return cut(keyValues.ReplaceAllString(text, "${1}…"), longestError)
}

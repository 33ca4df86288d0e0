package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/onerow/onerow"
)

// purgeBatch is how many rows one DELETE removes.
const purgeBatch = 200

// A purge reads the keys without locks, by the index that covers them, then deletes by
// the primary key what is still expired: a range DELETE over the index of times would
// lock the gaps in which others insert.
const (
	sqlExpiredKeys       = `SELECT tenant, operation, idem_key FROM onerow_key FORCE INDEX (expires_at) WHERE expires_at <= UTC_TIMESTAMP(6) ORDER BY expires_at LIMIT ?`
	sqlPurgeKeys         = `DELETE FROM onerow_key WHERE expires_at <= UTC_TIMESTAMP(6) AND status <> 'in_progress' AND (`
	sqlExpiredAdmissions = `SELECT tenant, operation, idem_key FROM onerow_admission FORCE INDEX (until_at) WHERE until_at <= UTC_TIMESTAMP(6) ORDER BY until_at LIMIT ?`
	sqlPurgeAdmissions   = `DELETE FROM onerow_admission WHERE until_at <= UTC_TIMESTAMP(6) AND (`
	sqlOneKey            = `(tenant = ? AND operation = ? AND idem_key = ?)`
)

// Purge removes up to limit expired keys and ended admissions, in batches of 200 rows that
// each commit by themselves, oldest first, and returns how many it removed: less
// than limit when nothing more is expired. It may run beside everything and beside
// itself; never calling it is as right, the table then grows. What References keep
// is the caller's to remove. Statements: 2 for each batch, 1
// for a table in which nothing is expired.
func (k *Keys) Purge(ctx context.Context, db onerow.DB, limit int) (int, error) {
	purged, err := purge(ctx, db, limit, sqlExpiredKeys, sqlPurgeKeys)
	if err == nil && purged < limit {
		var more int
		more, err = purge(ctx, db, limit-purged, sqlExpiredAdmissions, sqlPurgeAdmissions)
		purged += more
	}
	if purged > 0 {
		k.cfg.Metrics.Add(EventPurged, "", purged)
	}
	return purged, err
}

func purge(ctx context.Context, db onerow.DB, limit int, find, remove string) (purged int, err error) {
	for purged < limit {
		want := min(purgeBatch, limit-purged)
		var found int
		var n int64
		err := single(ctx, db, func(db onerow.DB) (err error) {
			var args []any
			found = 0
			err = onerow.Query(ctx, db, find, []any{want}, func(rows *sql.Rows) error {
				var tenant, operation, id []byte
				err := rows.Scan(&tenant, &operation, &id)
				args = append(args, tenant, operation, id)
				found++
				return err
			})
			if err != nil || found == 0 {
				return err
			}
			list := strings.TrimPrefix(strings.Repeat(" OR "+sqlOneKey, found), " OR ")
			n, err = onerow.Affected(ctx, db, remove+list+")", args...)
			return err
		})
		purged += int(n)
		if err != nil || found < want || n == 0 { // none: another purge is at the same rows
			return purged, err
		}
	}
	return purged, nil
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

package keyadmin

import (
	"context"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/purge"
)

// sqlOneKey is one key of the list of a DELETE.
const sqlOneKey = `tenant = ? AND operation = ? AND idem_key = ?`

// What is expired, or old, is read without locks by the index of its times, and deleted by the primary key.
var (
	expiredKeys = purge.Table{
		Find:   `SELECT tenant, operation, idem_key FROM onerow_key FORCE INDEX (expires_at) WHERE expires_at <= UTC_TIMESTAMP(6) ORDER BY expires_at LIMIT ?`,
		Delete: `DELETE k FROM onerow_key AS k FORCE INDEX (PRIMARY) WHERE expires_at <= UTC_TIMESTAMP(6) AND status <> 'in_progress' AND (`,
		Key:    sqlOneKey,
	}
	endedAdmissions = purge.Table{
		Find:   `SELECT tenant, operation, idem_key FROM onerow_admission FORCE INDEX (until_at) WHERE until_at <= UTC_TIMESTAMP(6) ORDER BY until_at LIMIT ?`,
		Delete: `DELETE a FROM onerow_admission AS a FORCE INDEX (PRIMARY) WHERE until_at <= UTC_TIMESTAMP(6) AND (`,
		Key:    sqlOneKey,
	}
	oldAudits = purge.Table{
		Find: `SELECT tenant, operation, idem_key, token, action FROM onerow_key_audit FORCE INDEX (acted_at)
 WHERE acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY acted_at LIMIT ?`,
		Delete: `DELETE a FROM onerow_key_audit AS a FORCE INDEX (PRIMARY) WHERE acted_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND (`,
		Key:    sqlOneKey + ` AND token = ? AND action = ?`,
	}
)

// Purge removes up to limit expired keys and ended admissions, in batches of 200 rows that each commit by
// themselves, oldest first, and returns how many it removed: less than limit when nothing more is expired. It
// may run beside everything and beside itself; never calling it is as right, the table then grows. What
// References keep is the caller's to remove. Statements: 2 for each batch, 1 for a table in which nothing is
// expired.
func Purge(ctx context.Context, db onerow.DB, keys *idempotency.Keys, limit int) (int, error) {
	purged, err := expiredKeys.Purge(ctx, db, limit)
	if err == nil && purged < int64(limit) {
		var more int64
		more, err = endedAdmissions.Purge(ctx, db, limit-int(purged))
		purged += more
	}
	if purged > 0 {
		keys.Config().Metrics.Add("purged", "", int(purged))
	}
	return int(purged), err
}

// ToPurge is how many keys are expired and admissions ended, limit at most of each. Two statements.
func ToPurge(ctx context.Context, db onerow.DB, limit int) (int, error) {
	keys, err := expiredKeys.Waiting(ctx, db, limit)
	if err != nil {
		return 0, errtext.Wrap(err, "keyadmin: count expired keys")
	}
	admissions, err := endedAdmissions.Waiting(ctx, db, limit)
	return int(keys + admissions), errtext.Wrap(err, "keyadmin: count ended admissions")
}

// PurgeAudits removes what operators did to keys more than age ago, by the database's clock, limit at
// most, and returns how many: less than limit when nothing more is that old. Nothing depends on
// these rows. Batches and statements as for [Purge].
func PurgeAudits(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	n, err := oldAudits.Purge(ctx, db, limit, age.Microseconds())
	return n, errtext.Wrap(err, "keyadmin: purge audits")
}

// AuditsToPurge is how many of these are older than age, limit at most. One statement.
func AuditsToPurge(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
	n, err := oldAudits.Waiting(ctx, db, limit, age.Microseconds())
	return n, errtext.Wrap(err, "keyadmin: count old audits")
}

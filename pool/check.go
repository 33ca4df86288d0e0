package pool

import (
	"context"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/settings"
)

// ErrSetting means: with this setting of the session or the server a promise of the toolkit cannot hold. The
// detail is a [SettingError].
var ErrSetting = settings.ErrSetting

// SettingError is the detail of [ErrSetting]: Setting, a system variable or a parameter of the data source
// name; Value, what it is set to; Why, which promise cannot hold; and Fix, what to change. All are texts.
type SettingError = settings.SettingError

// Need is what a caller of [Check] relies on beside what all do.
type Need = settings.Need

// RowLocks keep all others who write out of a row: not on a node of Galera, nor of Group Replication with
// several primaries. One node alone is refused as well, for another one may join while the program runs.
const RowLocks = settings.RowLocks

// Check asks for the settings with which a promise of the toolkit cannot hold, and answers with [ErrSetting]
// for the first of them:
//
//   - autocommit = 0, and completion_type other than NO_CHAIN: writes are lost silently
//   - READ UNCOMMITTED
//   - unique_checks = 0, foreign_key_checks = 0
//   - sql_safe_updates = 1, and sql_big_selects = 0, which a max_join_size sets: statements are refused
//   - sql_select_limit: results are cut off silently
//   - sql_auto_is_null = 1, and MariaDB's EMPTY_STRING_IS_NULL in sql_mode: NULL means something else
//   - PAD_CHAR_TO_FULL_LENGTH in sql_mode: a key in a CHAR column may equal nothing
//   - sql_log_bin = 0 where there is a binary log; MariaDB's enforce_storage_engine, if it is not InnoDB
//   - a timestamp of the session's own: leases and expiries are written with a clock that stands still
//   - binlog_format = STATEMENT, where there is a binary log, at READ COMMITTED
//   - a character set with which the driver's interpolateParams is an SQL injection, if it is on: see [Open]
//   - character_set_client, character_set_connection and character_set_results that differ, as with SET
//     CHARACTER SET: texts and bytes are converted, and what cannot be is a question mark; and binary
//   - a node of a cluster without causal reads: fewer bits than 7 in wsrep_sync_wait where wsrep is on; a
//     group_replication_consistency that does not wait. A pool of [Open] whose data source name sets the
//     variable itself is taken at its word; so is a session of any other that has SET @onerow_routed = 1.
//   - a pool that sends several statements at once, and did not ask, on a node of Galera
//   - with [RowLocks], which live.Verify needs for a plan with parents that is not for a cluster: a server
//     of a cluster whose other nodes take writes
//   - a server or session that is read only (read_only, super_read_only, innodb_read_only,
//     transaction_read_only)
//
// It looks at one session; those of a pool are alike, unless the program sets them up on its own.
// live.Verify and the cascade's worker begin with it; the worker waits where only the last is in the way.
// One statement; one more if the character set is none of the safe ones, or there are no causal reads. It
// writes nothing. Other errors: the driver's.
func Check(ctx context.Context, db onerow.DB, needs ...Need) error {
	return settings.Check(ctx, db, needs...) //nolint:wrapcheck // it is ours
}

package pool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
)

// ErrSetting means: with this setting of the session or the server a promise of the toolkit cannot hold. The
// detail is a [SettingError].
var ErrSetting = errors.New("onerow: a promise cannot hold with this setting")

// SettingError is the detail of [ErrSetting].
type SettingError struct {
	// Setting is a system variable, or a parameter of the data source name.
	Setting string
	// Value is what it is set to.
	Value string
	// Why says which promise cannot hold.
	Why string
	// Fix says what to change.
	Fix string
}

// Error names the setting, its value, what is wrong with it and what to change.
func (e *SettingError) Error() string {
	return fmt.Sprintf("onerow: %s is %q: %s; %s", e.Setting, e.Value, e.Why, e.Fix)
}

// Is makes errors.Is(err, ErrSetting) true.
func (e *SettingError) Is(target error) bool { return target == ErrSetting }

// refusal is what there is to say about a setting, whatever its name and value.
type refusal struct{ why, fix string }

func (r refusal) of(setting, value string) error {
	return &SettingError{Setting: setting, Value: value, Why: r.why, Fix: r.fix}
}

var (
	autocommitOff = refusal{
		"what is written outside of a transaction would be lost silently when the connection is closed",
		"take autocommit out of the data source name, or set autocommit = 1 on the server; pool.Open does so itself",
	}
	readUncommitted = refusal{
		"a decision would be taken on rows that are never committed",
		"set READ-COMMITTED or REPEATABLE-READ; pool.Open sets READ-COMMITTED if the data source name says nothing",
	}
	chainedCommits = refusal{
		"COMMIT would begin the next transaction, and what is written in it be lost silently when the connection is closed",
		"set completion_type = NO_CHAIN",
	}
	uniqueUnchecked = refusal{
		"the server may skip the check of unique indexes, and they are what decides",
		"set unique_checks = 1",
	}
	safeUpdates = refusal{
		"the server refuses statements that name their key, where it would scan a small table instead (error 1175)",
		"set sql_safe_updates = 0 for the application; it is meant for people at a prompt",
	}
	statementBinlog = refusal{
		"the server refuses writes at READ COMMITTED with it (error 1665)",
		"set binlog_format = ROW or MIXED on the server, or REPEATABLE-READ in the data source name",
	}
	staleReads = refusal{
		"a node of the cluster answers before it has applied what was committed on another: a row that was just written is not there",
		"open the pool with pool.Open, which sets it; where all requests of an owner go to one node, say so by setting it in pool.Open's data source name",
	}
	lockedInPart = refusal{
		"other nodes of this cluster take writes too and do not see its row locks, so a row could come below one that is deleted there",
		"let the plan say cluster: true, also where one node takes all writes for the time being; live.Verify then names the columns to add",
	}
	torn = refusal{
		"a node of Galera that aborts a transaction for another node's may run the rest of its packet outside of it, and answer that all was committed",
		"open the pool with pool.Open, which sends each statement by itself there, or with pool.Guard",
	}
	readOnly = refusal{
		"the server takes no writes: it is a replica, or was demoted",
		"connect to the primary",
	}
)

// Need is what a caller of [Check] relies on beside what all do.
type Need int

// RowLocks keep all others who write out of a row: not on a node of Galera, nor of Group Replication with
// several primaries. One node alone is refused as well, for another one may join while the program runs.
const RowLocks Need = 1

// Check asks for the settings with which a promise of the toolkit cannot hold, and answers with [ErrSetting]
// for the first of them:
//
//   - autocommit = 0, and completion_type other than NO_CHAIN: writes are lost silently
//   - READ UNCOMMITTED
//   - unique_checks = 0, foreign_key_checks = 0
//   - sql_safe_updates = 1, and sql_big_selects = 0, which a max_join_size sets: statements are refused
//   - sql_select_limit: results are cut off silently
//   - sql_auto_is_null = 1, and MariaDB's EMPTY_STRING_IS_NULL in sql_mode: NULL means something else
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
	variables := map[string]string{}
	err := onerow.Query(ctx, db, readSettings, nil, func(rows *sql.Rows) error {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		variables[strings.ToLower(narrow(name))] = narrow(value)
		return nil
	})
	switch {
	case mysqlerr.Number(err) == erTooBigSelect:
		return bigSelects.of("sql_big_selects", "OFF")
	case err != nil:
		return fmt.Errorf("onerow: read the settings: %w", err)
	case variables["sql_select_limit"] == "": // every server has it: MariaDB cuts this off as well
		return selectLimit.of("sql_select_limit", strconv.Itoa(len(variables)))
	}
	if err := checkSession(variables); err != nil {
		return err
	}
	if charset := variables["character_set_client"]; !isSafe(charset) {
		if err := checkInterpolation(ctx, db, charset); err != nil {
			return err
		}
	}
	if err := checkCharsets(variables); err != nil {
		return err
	}
	if stale := checkCausal(variables); stale != nil {
		var chosen sql.NullString
		switch err := onerow.QueryRow(ctx, db, askRouted, nil, &chosen); {
		case err != nil:
			return fmt.Errorf("onerow: ask whether old answers are wanted: %w", err)
		case chosen.String != "1":
			return stale
		}
	}
	if hosts.IsGalera(variables) && packs(ctx, db) {
		return torn.of("wsrep_on", "ON")
	}
	if slices.Contains(needs, RowLocks) {
		if err := checkLocks(variables); err != nil {
			return err
		}
	}
	return checkWrites(variables)
}

// A variable of the session, so no table.
const askRouted = `SELECT ` + routed

// SHOW, and not SELECT @@…: each engine and version lacks some of these, and leaves them out here. It touches
// no table of the application's and takes no lock.
// The timestamp is told only where it is hours from now, for a wall clock that is put back has an hour twice.
const readSettings = `SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'completion_type', 'unique_checks', 'foreign_key_checks',
'sql_safe_updates', 'sql_auto_is_null', 'sql_select_limit', 'sql_big_selects', 'sql_mode', 'sql_log_bin', 'enforce_storage_engine',
'tx_isolation', 'transaction_isolation', 'log_bin', 'binlog_format', 'character_set_client', 'character_set_connection', 'character_set_results',
'read_only', 'super_read_only', 'innodb_read_only', 'tx_read_only', 'transaction_read_only',
'wsrep_on', 'wsrep_provider', 'wsrep_sync_wait',
'group_replication_group_name', 'group_replication_consistency', 'group_replication_single_primary_mode')
OR Variable_name = 'timestamp' AND ABS(Value - UNIX_TIMESTAMP(SYSDATE())) > 9000`

const erTooBigSelect = 1104

// narrow reads ASCII in a character set of two or four bytes, which is what is to be found out here.
func narrow(text string) string { return strings.ReplaceAll(text, "\x00", "") }

func checkSession(is map[string]string) error {
	isolation := "transaction_isolation"
	if is[isolation] == "" {
		isolation = "tx_isolation"
	}
	switch {
	case is["autocommit"] == "OFF":
		return autocommitOff.of("autocommit", "OFF")
	case is[isolation] == "READ-UNCOMMITTED":
		return readUncommitted.of(isolation, is[isolation])
	case is["log_bin"] == "ON" && is["binlog_format"] == "STATEMENT" && is[isolation] == "READ-COMMITTED":
		return statementBinlog.of("binlog_format", "STATEMENT")
	}
	return checkRequired(is)
}

// packs says whether the sessions of a pool send statements together.
func packs(ctx context.Context, db onerow.DB) (packs bool) {
	conn, own := db.(interface{ Raw(f func(any) error) error })
	switch h := db.(type) {
	case *onerow.Tx:
		return h.Together()
	case interface {
		Conn(ctx context.Context) (*sql.Conn, error)
	}:
		session, err := h.Conn(ctx)
		if err != nil {
			return false
		}
		defer session.Close() //nolint:errcheck // nothing was done with it
		conn, own = session, true
	}
	if !own {
		return false
	}
	_ = conn.Raw(func(c any) error { //nolint:errcheck // it says that the session is gone, and the next statement does, too
		session, guarded := c.(wire.Session)
		packs = guarded && session.TakesPackets()
		return nil
	})
	return packs
}

// checkCausal looks at clusters only. A plugin without a group has nobody to wait for. AFTER makes those who
// write wait.
func checkCausal(is map[string]string) error {
	const sync, consistency = "wsrep_sync_wait", "group_replication_consistency"
	bits, _ := strconv.Atoi(is[sync]) //nolint:errcheck // 0 is what it is taken for
	switch {
	case hosts.IsGalera(is):
		if bits&7 != 7 {
			return staleReads.of(sync, is[sync])
		}
	case is["group_replication_group_name"] == "", strings.HasPrefix(is[consistency], "BEFORE") && is[consistency] != failover, is[consistency] == "AFTER":
	case is[consistency] != failover || is["group_replication_single_primary_mode"] != "ON":
		return staleReads.of(consistency, is[consistency])
	}
	return nil
}

// checkLocks: a plugin without a group, and a group with one primary, lock as one server does.
func checkLocks(is map[string]string) error {
	const single = "group_replication_single_primary_mode"
	switch {
	case hosts.IsGalera(is):
		return lockedInPart.of("wsrep_on", "ON")
	case is["group_replication_group_name"] != "" && is[single] == "OFF":
		return lockedInPart.of(single, "OFF")
	}
	return nil
}

const failover = "BEFORE_ON_PRIMARY_FAILOVER"

// checkWrites comes last: who waits for a server to be promoted, as the cascade's worker does, has seen all
// else by then.
func checkWrites(is map[string]string) error {
	if name, value := hosts.ReadOnly(is); name != "" {
		return readOnly.of(name, value)
	}
	return nil
}

// The two bytes are one character in each of the unsafe character sets, and the second one is a backslash.
// Whoever puts the text into quotes doubles it, and the second backslash takes the closing quote with it.
const (
	askInterpolation = `SELECT LENGTH(?)`
	endsInBackslash  = "\xe9\\"
)

// checkInterpolation finds out whether the driver interpolates: a foreign pool does not say.
func checkInterpolation(ctx context.Context, db onerow.DB, charset string) error {
	var length int
	err := onerow.QueryRow(ctx, db, askInterpolation, []any{endsInBackslash}, &length)
	const erParse = 1064
	switch {
	case mysqlerr.Number(err) == erParse:
		return unsafeInterpolation("character_set_client", charset)
	case err != nil:
		return fmt.Errorf("onerow: try an argument in the character set %s: %w", charset, err)
	}
	return nil
}

package settings

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/node"
	"github.com/onerow/onerow/internal/wire"
)

// Need is what a caller of [Check] relies on beside what all do.
type Need int

// RowLocks keep all others who write out of a row: not on a node of Galera, nor of Group Replication with
// several primaries. One node alone is refused as well, for another one may join while the program runs.
const RowLocks Need = 1

// Check asks for the settings that pool.Check lists, and answers with [ErrSetting] for the first with which a
// promise cannot hold. The engine and schema/live begin with it, which open no pool.
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
		return bigSelects.Of("sql_big_selects", "OFF")
	case err != nil:
		return fmt.Errorf("onerow: read the settings: %w", err)
	case variables["sql_select_limit"] == "": // every server has it: MariaDB cuts this off as well
		return selectLimit.Of("sql_select_limit", strconv.Itoa(len(variables)))
	}
	if err := checkSession(variables); err != nil {
		return err
	}
	if charset := variables["character_set_client"]; !IsSafe(charset) {
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
	if node.IsGalera(variables) && packs(ctx, db) {
		return torn.Of("wsrep_on", "ON")
	}
	if slices.Contains(needs, RowLocks) {
		if err := checkLocks(variables); err != nil {
			return err
		}
	}
	return checkWrites(variables)
}

// Routed is the session's variable for who reads a cluster without waiting, and knows it: [Check] asks for
// it, for a server does not tell a value that was chosen from its default.
const Routed = `@onerow_routed`

// A variable of the session, so no table.
const askRouted = `SELECT ` + Routed

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
		return AutocommitOff.Of("autocommit", "OFF")
	case is[isolation] == "READ-UNCOMMITTED":
		return ReadUncommitted.Of(isolation, is[isolation])
	case is["log_bin"] == "ON" && is["binlog_format"] == "STATEMENT" && is[isolation] == "READ-COMMITTED":
		return statementBinlog.Of("binlog_format", "STATEMENT")
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
	case node.IsGalera(is):
		if bits&7 != 7 {
			return staleReads.Of(sync, is[sync])
		}
	case is["group_replication_group_name"] == "", strings.HasPrefix(is[consistency], "BEFORE") && is[consistency] != failover, is[consistency] == "AFTER":
	case is[consistency] != failover || is["group_replication_single_primary_mode"] != "ON":
		return staleReads.Of(consistency, is[consistency])
	}
	return nil
}

// checkLocks: a plugin without a group, and a group with one primary, lock as one server does.
func checkLocks(is map[string]string) error {
	const single = "group_replication_single_primary_mode"
	switch {
	case node.IsGalera(is):
		return lockedInPart.Of("wsrep_on", "ON")
	case is["group_replication_group_name"] != "" && is[single] == "OFF":
		return lockedInPart.Of(single, "OFF")
	}
	return nil
}

const failover = "BEFORE_ON_PRIMARY_FAILOVER"

// checkWrites comes last: who waits for a server to be promoted, as the cascade's worker does, has seen all
// else by then.
func checkWrites(is map[string]string) error {
	if name, value := node.ReadOnly(is); name != "" {
		return readOnly.Of(name, value)
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
		return UnsafeInterpolation.Of("character_set_client", charset)
	case err != nil:
		return fmt.Errorf("onerow: try an argument in the character set %s: %w", charset, err)
	}
	return nil
}

package pool

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/hosts"
	"github.com/onerow/onerow/internal/settings"
)

const setClientCharset = `, SESSION character_set_client = `

// Causal reads. A MariaDB that was built without wsrep lacks its variables, and MySQL those of a plugin that
// it has not loaded (error 1193). Neither asks for more than a session of one's own.
const (
	setSyncWait = ` /*M! , SESSION wsrep_sync_wait = @@wsrep_sync_wait | IF(@@wsrep_on, 7, 0) */`
	setBefore   = ` /*!80014 , SESSION group_replication_consistency = IF(@@group_replication_consistency IN ('EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER'),
 IF(@@group_replication_single_primary_mode, 'BEFORE_ON_PRIMARY_FAILOVER', 'BEFORE'), @@group_replication_consistency) */`
	setRouted = `, ` + settings.Routed + ` = 1`
)

// These replace the modes that a session may not have. No text may be empty here, for it could be NULL, and
// two commas are one.
const (
	modeBegins = `REPLACE(REPLACE(`
	modeEnds   = `, '` + settings.EmptyMode + `', ','), '` + settings.PaddedMode + `', ',')`
	setMode    = `, SESSION sql_mode = ` + modeBegins + `@@sql_mode` + modeEnds
)

// setUpTexts are alternatives that set up a session of the configuration, tried in order until the server
// takes one. What the configuration says itself comes after what it may choose, so it wins, and before what
// has to be so.
func setUpTexts(cfg *mysql.Config) [][]string {
	level, mode := hosts.SetIsolation, setMode
	more, causal := "", setSyncWait+setBefore
	if len(charsets(cfg)) == 0 { // else the driver sends SET NAMES
		more = setCharsets(cfg)
	}
	if saysConsistency(cfg) {
		more, causal = more+setRouted, ""
	}
	for _, param := range slices.Sorted(maps.Keys(cfg.Params)) {
		value := cfg.Params[param]
		switch {
		case variable(param) == "sql_mode":
			value, mode = modeOf(value), ""
		case isIsolation(param):
			level = ""
		}
		if strings.Contains(value, "#") || strings.Contains(value, "--") {
			value += "\n" // a comment in it ends here, not after what follows
		}
		more += ", " + param + " = " + value
	}
	more += settings.SetRequired() + mode
	texts := [][]string{{hosts.SetAutocommit + level + causal + more}}
	if causal != "" {
		texts = append(texts, []string{hosts.SetAutocommit + level + more})
	}
	if level != "" {
		texts = append(texts, []string{hosts.SetReadCommitted, hosts.SetAutocommit + more})
	}
	return texts
}

// modeOf is a value for sql_mode, where it is made of one that only the server knows.
func modeOf(value string) string {
	if strings.EqualFold(strings.TrimSpace(value), "DEFAULT") {
		value = "@@GLOBAL.sql_mode"
	}
	if !strings.Contains(value, "@@") {
		return value
	}
	return modeBegins + value + modeEnds
}

// setCharsets puts all three into the character set of the handshake, which a server may be set to
// ignore, or to change in init_connect. It keeps a collation that the server has chosen for it.
func setCharsets(cfg *mysql.Config) string {
	charset, collation := handshakeCharset(cfg), cfg.Collation
	if collation == "" {
		collation = defaultCharset + "_general_ci"
	}
	return setClientCharset + charset + ", SESSION character_set_results = " + charset +
		", SESSION collation_connection = IF(@@character_set_connection = '" + charset + "', @@collation_connection, '" + collation + "')"
}

// isIsolation says whether the parameter is the isolation level, by either engine's name.
func isIsolation(param string) bool {
	name := variable(param)
	return name == "tx_isolation" || name == "transaction_isolation"
}

// saysConsistency says whether the configuration itself says how causal reads are. A value is sent as it is,
// so it may hold a second assignment.
func saysConsistency(cfg *mysql.Config) bool {
	for param, value := range cfg.Params {
		text := strings.ToLower(param + "=" + value)
		if strings.Contains(text, "wsrep_sync_wait") || strings.Contains(text, "group_replication_consistency") {
			return true
		}
	}
	return false
}

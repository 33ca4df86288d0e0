package pool

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// required is a variable that has to have one value in each session. [Open] sets it, whatever the server's
// default is, and refuses a data source name that says another value; [Check] asks for it.
type required struct {
	name  string
	value string   // as SHOW VARIABLES has it
	also  []string // other spellings of the value, in lower case
	refusal
}

var (
	isOff = []string{"0", "false"}
	isOn1 = []string{"1", "true"}
)

var requiredSettings = []required{
	{"completion_type", "NO_CHAIN", []string{"0"}, chainedCommits},
	{"unique_checks", "ON", isOn1, uniqueUnchecked},
	{"foreign_key_checks", "ON", isOn1, refusal{
		"a row could come below one that is being deleted, and the foreign keys that a plan relies on would hold nothing back",
		"set foreign_key_checks = 1",
	}},
	{"sql_safe_updates", "OFF", isOff, safeUpdates},
	{"sql_auto_is_null", "OFF", isOff, refusal{
		"after an INSERT a look for what is not there finds the row that was inserted",
		"set sql_auto_is_null = 0",
	}},
	{"sql_select_limit", "18446744073709551615", nil, selectLimit},
	{"sql_big_selects", "ON", isOn1, bigSelects},
}

var (
	selectLimit = refusal{
		"the server leaves out rows of a result and does not say so: marks, jobs and whole migrations are passed over",
		"set sql_select_limit = 18446744073709551615, which is its default",
	}
	bigSelects = refusal{
		"the server refuses joins by a guess of how many rows they read (error 1104)",
		"set sql_big_selects = 1; a max_join_size sets it to 0",
	}
	emptyIsNull = refusal{
		"the server takes an empty text for none: a column that must not be NULL refuses what the toolkit writes, and no comparison with it is true",
		"take EMPTY_STRING_IS_NULL out of sql_mode",
	}
	mixedCharsets = refusal{
		"the server converts what is sent to it, bytes too: what the other character set lacks is stored as a question mark, or comes back as one",
		"set charset=utf8mb4 in the data source name, and none of the variables: it sets all three",
	}
	binaryCharset = refusal{
		"the server takes no text for what it is: MySQL makes no JSON of it, and a column with another character set gets its bytes",
		"set charset=utf8mb4 in the data source name",
	}
	unlogged = refusal{
		"no replica hears of what is written, and it is gone when one of them is promoted",
		"set sql_log_bin = 1",
	}
	otherEngine = refusal{
		"the server makes tables of another engine than they ask for, and one without transactions keeps no promise",
		"set enforce_storage_engine = InnoDB, or nothing, for the application",
	}
	stoppedClock = refusal{
		"leases and expiries are written with the session's clock, and it stands still",
		"set timestamp = DEFAULT",
	}
)

// setRequired is the assignments of all of them. They come behind what the data source name says, in
// whose values there may be an assignment that nobody has looked at.
func setRequired() string {
	var b strings.Builder
	for _, r := range requiredSettings {
		b.WriteString(", SESSION " + r.name + " = " + r.value)
	}
	return b.String()
}

// Only MariaDB has the mode. No text may be empty here, for it would be NULL, and two commas are one.
const (
	emptyMode    = "EMPTY_STRING_IS_NULL"
	withoutEmpty = `, '` + emptyMode + `', ',')`
	setMode      = ` /*M! , SESSION sql_mode = REPLACE(@@sql_mode` + withoutEmpty + ` */`
)

// modeWithoutEmpty is a value for sql_mode, where it is made of one that only the server knows.
func modeWithoutEmpty(value string) string {
	if strings.EqualFold(strings.TrimSpace(value), "DEFAULT") {
		value = "@@GLOBAL.sql_mode"
	}
	if !strings.Contains(value, "@@") {
		return value
	}
	return `/*M! REPLACE( */ ` + value + ` /*M! ` + withoutEmpty + ` */`
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

var charsetWords = regexp.MustCompile(`(?i)\b(character_set_(client|connection|results)|collation_connection|names|charset|character set)\b`)

// refuseParam looks at one system variable of the configuration.
func refuseParam(cfg *mysql.Config, param, name, value string) error {
	for _, r := range requiredSettings {
		if name == r.name && value != strings.ToLower(r.value) && value != "default" && !slices.Contains(r.also, value) {
			return r.of(param, value)
		}
	}
	switch {
	case name == "sql_mode" && saysEmptyIsNull(value):
		return emptyIsNull.of(param, value)
	case name == "sql_log_bin" && value != "1" && value != "on" && value != "true":
		return unlogged.of(param, value)
	case name == "timestamp" && value != "0" && value != "default":
		return stoppedClock.of(param, value)
	case charsetWords.MatchString(param + "=" + value):
		return refuseCharset(cfg, param, name, value)
	}
	return nil
}

func saysEmptyIsNull(mode string) bool {
	const bit = 1 << 32
	number, err := strconv.ParseUint(mode, 10, 64)
	return strings.Contains(mode, strings.ToLower(emptyMode)) || err == nil && number&bit != 0
}

// refuseCharset lets a variable pass that says again what the handshake, or SET NAMES, says.
func refuseCharset(cfg *mysql.Config, param, name, value string) error {
	said := charsets(cfg)
	if len(said) == 0 {
		said = []string{handshakeCharset(cfg)}
	}
	charset := value
	if name == "collation_connection" {
		charset, _, _ = strings.Cut(value, "_")
	}
	if charsetWords.FindString(name) != name || !slices.ContainsFunc(said, func(s string) bool { return sameCharset(s, charset) }) {
		return mixedCharsets.of(param, value)
	}
	return nil
}

// sameCharset: MariaDB and MySQL have two names for one.
func sameCharset(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.TrimSuffix(a, "mb3") == strings.TrimSuffix(b, "mb3")
}

// checkRequired looks at what a session has.
func checkRequired(is map[string]string) error {
	for _, r := range requiredSettings {
		if value, ok := is[r.name]; ok && !strings.EqualFold(value, r.value) {
			return r.of(r.name, value)
		}
	}
	switch mode := is["sql_mode"]; {
	case strings.Contains(mode, emptyMode):
		return emptyIsNull.of("sql_mode", mode)
	case is["log_bin"] == "ON" && is["sql_log_bin"] == "OFF":
		return unlogged.of("sql_log_bin", "OFF")
	case is["enforce_storage_engine"] != "" && !strings.EqualFold(is["enforce_storage_engine"], "InnoDB"):
		return otherEngine.of("enforce_storage_engine", is["enforce_storage_engine"])
	case is["timestamp"] != "":
		return stoppedClock.of("timestamp", is["timestamp"])
	}
	return nil
}

// checkCharsets looks at the three that the driver sets to one. Nothing is converted then.
func checkCharsets(is map[string]string) error {
	client := is["character_set_client"]
	for _, name := range []string{"character_set_connection", "character_set_results"} {
		switch value := is[name]; {
		case value == "binary":
			return binaryCharset.of(name, value)
		case value == "":
			return mixedCharsets.of(name, "NULL")
		case value != client:
			return mixedCharsets.of(name, value)
		}
	}
	return nil
}

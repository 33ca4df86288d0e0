package settings

import (
	"slices"
	"strings"
)

// required is a variable that has to have one value in each session. pool.Open sets it, whatever the server's
// default is, and refuses a data source name that says another value; [Check] asks for it.
type required struct {
	name  string
	value string   // as SHOW VARIABLES has it
	also  []string // other spellings of the value, in lower case
	Refusal
}

var (
	isOff = []string{"0", "false"}
	isOn1 = []string{"1", "true"}
)

var requiredSettings = []required{
	{"completion_type", "NO_CHAIN", []string{"0"}, chainedCommits},
	{"unique_checks", "ON", isOn1, uniqueUnchecked},
	{"foreign_key_checks", "ON", isOn1, Refusal{
		"a row could come below one that is being deleted, and the foreign keys that a plan relies on would hold nothing back",
		"set foreign_key_checks = 1",
	}},
	{"sql_safe_updates", "OFF", isOff, safeUpdates},
	{"sql_auto_is_null", "OFF", isOff, Refusal{
		"after an INSERT a look for what is not there finds the row that was inserted",
		"set sql_auto_is_null = 0",
	}},
	{"sql_select_limit", "18446744073709551615", nil, selectLimit},
	{"sql_big_selects", "ON", isOn1, bigSelects},
}

// The sql_modes that no session may have. EmptyMode is MariaDB's.
const (
	EmptyMode  = "EMPTY_STRING_IS_NULL"
	PaddedMode = "PAD_CHAR_TO_FULL_LENGTH"
)

// SetRequired is the assignments of all of them. They come after what the data source name says, in
// whose values there may be an assignment that nobody has looked at.
func SetRequired() string {
	var b strings.Builder
	for _, r := range requiredSettings {
		b.WriteString(", SESSION " + r.name + " = " + r.value)
	}
	return b.String()
}

// RefuseParam says why a variable of a data source name may not have a value, which is in lower case and has
// no quotes, or nil: it is none of the required, or as it has to be.
func RefuseParam(param, name, value string) error {
	for _, r := range requiredSettings {
		if name == r.name && value != strings.ToLower(r.value) && value != "default" && !slices.Contains(r.also, value) {
			return r.Of(param, value)
		}
	}
	return nil
}

// checkRequired looks at what a session has.
func checkRequired(is map[string]string) error {
	for _, r := range requiredSettings {
		if value, ok := is[r.name]; ok && !strings.EqualFold(value, r.value) {
			return r.Of(r.name, value)
		}
	}
	switch mode := is["sql_mode"]; {
	case strings.Contains(mode, EmptyMode):
		return EmptyIsNull.Of("sql_mode", mode)
	case strings.Contains(mode, PaddedMode):
		return PaddedChars.Of("sql_mode", mode)
	case is["log_bin"] == "ON" && is["sql_log_bin"] == "OFF":
		return Unlogged.Of("sql_log_bin", "OFF")
	case is["enforce_storage_engine"] != "" && !strings.EqualFold(is["enforce_storage_engine"], "InnoDB"):
		return otherEngine.Of("enforce_storage_engine", is["enforce_storage_engine"])
	case is["timestamp"] != "":
		return StoppedClock.Of("timestamp", is["timestamp"])
	}
	return nil
}

// checkCharsets looks at the three that the driver sets to one. Nothing is converted then.
func checkCharsets(is map[string]string) error {
	client := is["character_set_client"]
	for _, name := range []string{"character_set_connection", "character_set_results"} {
		switch value := is[name]; {
		case value == "binary":
			return BinaryCharset.Of(name, value)
		case value == "":
			return MixedCharsets.Of(name, "NULL")
		case value != client:
			return MixedCharsets.Of(name, value)
		}
	}
	return nil
}

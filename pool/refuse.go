package pool

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/settings"
)

// charsetWords are the words by which a parameter's name, or its value, names a character set.
var charsetWords = regexp.MustCompile(`(?i)\b(character_set_(client|connection|results)|collation_connection|names|charset|character set)\b`)

// refuseParam looks at one system variable of the configuration.
func refuseParam(cfg *mysql.Config, param, name, value string) error {
	if err := settings.RefuseParam(param, name, value); err != nil {
		return err
	}
	on := value == "1" || value == "on" || value == "true"
	switch {
	case name == "autocommit" && !on:
		return settings.AutocommitOff.Of(param, value)
	case isIsolation(param) && (strings.Contains(value, "uncommitted") || value == "0"):
		return settings.ReadUncommitted.Of(param, value)
	case name == "sql_mode" && saysMode(value, settings.EmptyMode, 1<<32):
		return settings.EmptyIsNull.Of(param, value)
	case name == "sql_mode" && saysMode(value, settings.PaddedMode, 1<<31):
		return settings.PaddedChars.Of(param, value)
	case name == "sql_log_bin" && !on:
		return settings.Unlogged.Of(param, value)
	case name == "timestamp" && value != "0" && value != "default":
		return settings.StoppedClock.Of(param, value)
	case charsetWords.MatchString(param + "=" + value):
		return refuseCharset(cfg, param, name, value)
	}
	return nil
}

// saysMode says whether a value for sql_mode, a list of names or a number, has the mode of a name and bit.
func saysMode(value, mode string, bit uint64) bool {
	number, err := strconv.ParseUint(value, 10, 64)
	return strings.Contains(value, strings.ToLower(mode)) || err == nil && number&bit != 0
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
		return settings.MixedCharsets.Of(param, value)
	}
	return nil
}

// sameCharset: MariaDB and MySQL have two names for one.
func sameCharset(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.TrimSuffix(a, "mb3") == strings.TrimSuffix(b, "mb3")
}

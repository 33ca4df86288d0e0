package pool

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/settings"
)

// defaultCharset is the driver's, when the configuration says nothing.
const defaultCharset = "utf8mb4"

// CanInterpolate says whether InterpolateParams is safe with the character sets that the configuration names:
// its charset, each of a list of them, its collation, and the system variables among its Params.
func CanInterpolate(cfg *mysql.Config) bool {
	setting, _ := unsafeCharset(cfg)
	return setting == ""
}

// unsafeCharset is the first setting with another character set than the safe ones.
func unsafeCharset(cfg *mysql.Config) (setting, value string) {
	for _, charset := range charsets(cfg) {
		if !settings.IsSafe(charset) {
			return "charset", charset
		}
	}
	if !settings.IsSafe(handshakeCharset(cfg)) {
		return "collation", cfg.Collation
	}
	for _, param := range slices.Sorted(maps.Keys(cfg.Params)) {
		value := cfg.Params[param]
		if namesCharset.MatchString(param+"="+value) && !settings.IsSafe(strings.Trim(value, `'" `)) {
			return param, value
		}
	}
	return "", ""
}

// namesCharset finds the system variables in Params that name a character set for what the client sends, or
// could: a value is sent as it is, so it may hold a second assignment.
var namesCharset = regexp.MustCompile(`(?i)character_set_client|character_set_connection|charset|character set|names`)

// handshakeCharset is what a collation's name begins with.
func handshakeCharset(cfg *mysql.Config) string {
	if cfg.Collation == "" {
		return defaultCharset
	}
	charset, _, _ := strings.Cut(strings.ToLower(cfg.Collation), "_")
	return charset
}

// isUTF8MB4 says whether all that the configuration says is utf8mb4.
func isUTF8MB4(cfg *mysql.Config) bool {
	return !slices.ContainsFunc(append(charsets(cfg), handshakeCharset(cfg)), func(charset string) bool { return !strings.EqualFold(charset, "utf8mb4") })
}

// charsets is the list charset=a,b of the data source name, which the configuration does not show otherwise.
func charsets(cfg *mysql.Config) []string {
	dsn := cfg.FormatDSN()
	_, params, _ := strings.Cut(dsn[strings.LastIndexByte(dsn, '/')+1:], "?")
	for param := range strings.SplitSeq(params, "&") {
		if list, ok := strings.CutPrefix(param, "charset="); ok {
			return strings.Split(list, ",")
		}
	}
	return nil
}

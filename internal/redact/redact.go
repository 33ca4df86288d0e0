// Package redact takes secrets out of the texts of errors.
//
// Open this package when an error of an asset store, a throttle or a driver shows what it must not.
package redact

import "regexp"

// Patterns of what may hold a secret: the user of an address, that of a DSN in go-sql-driver's form, and the
// signature of a signed address.
var (
	driverDSN = regexp.MustCompile(`[^\s/]*:[^\s]*@((?:tcp|tcp4|tcp6|unix)\()`)
	userInfo  = regexp.MustCompile(`://[^/\s]+@`) // up to the last one: a password may have a @
	keyValues = regexp.MustCompile(`(?i)\b((?:[\w-]*(?:password|passwd|pwd|secret|signature|token|credential|api_?key|authorization)[\w-]*|sig)["']?\s*[=:]\s*)` +
		`(?:(?:bearer|basic)\s+)?(?:"[^"]*"|'[^']*'|[^&\s,;]+)`)
)

// Text is a text without them.
func Text(text string) string {
	text = driverDSN.ReplaceAllString(text, "…@${1}")
	text = userInfo.ReplaceAllString(text, "://…@")
	return keyValues.ReplaceAllString(text, "${1}…")
}

package fault

import (
	"regexp"

	"github.com/onerow/onerow/internal/dbtext"
)

// What may hold a secret in an error of an asset store or of a throttle: the user of an
// address, that of a DSN in go-sql-driver's form, and the signature of a signed address.
var (
	driverDSN = regexp.MustCompile(`[^\s/]*:[^\s]*@((?:tcp|tcp4|tcp6|unix)\()`)
	userInfo  = regexp.MustCompile(`://[^/\s]+@`) // up to the last one: a password may have a @
	keyValues = regexp.MustCompile(`(?i)\b((?:[\w-]*(?:password|passwd|pwd|secret|signature|token|credential|api_?key|authorization)[\w-]*|sig)["']?\s*[=:]\s*)` +
		`(?:(?:bearer|basic)\s+)?(?:"[^"]*"|'[^']*'|[^&\s,;]+)`)
)

// MaxText is what fits into the columns for errors and reasons of jobs and parked rows, in bytes.
const MaxText = 2000

// Redact is the text of an error as it is stored and logged.
func Redact(err error) string {
	text := driverDSN.ReplaceAllString(err.Error(), "…@${1}")
	text = userInfo.ReplaceAllString(text, "://…@")
	return dbtext.Fit(keyValues.ReplaceAllString(text, "${1}…"), MaxText)
}

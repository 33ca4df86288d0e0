package httpkey

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/onerow/onerow/idempotency"
)

// The headers of this package.
const (
	// HeaderKey carries the key of a request.
	HeaderKey = "Idempotency-Key"
	// HeaderReplayed is "true" on an answer that was made by an earlier request.
	HeaderReplayed = "Idempotency-Replayed"
	// HeaderUnrecorded is "true" on an answer that could not be stored: the work was done, a request
	// with the same key will not get this answer.
	HeaderUnrecorded = "Idempotency-Unrecorded"
)

// What [ParseKey] answers.
var (
	// ErrKeyMissing: there is no Idempotency-Key.
	ErrKeyMissing = errors.New("httpkey: the Idempotency-Key is missing")
	// ErrKeyMalformed: there is one, and it is not a key.
	ErrKeyMalformed = errors.New("httpkey: the Idempotency-Key is malformed")
)

// ParseKey reads the Idempotency-Key of a request's headers. It takes
//
//   - a structured-field string (RFC 9651): "…", of printable ASCII, where \" and \\ stand for " and \;
//     without parameters;
//   - a raw value: visible ASCII without quotes, commas and semicolons. A comma may come from a proxy that
//     joined two headers.
//
// "abc" and abc are the same key; nothing is cut and case counts. One that is empty, has more than
// idempotency.MaxKey bytes, or is sent in two headers is [ErrKeyMalformed].
func ParseKey(h http.Header) (string, error) {
	values := h.Values(HeaderKey)
	switch len(values) {
	case 0:
		return "", ErrKeyMissing
	case 1:
	default:
		return "", fmt.Errorf("%w: it was sent %d times", ErrKeyMalformed, len(values))
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		text := quoted.FindStringSubmatch(key)
		if text == nil {
			return "", fmt.Errorf("%w: a key in quotes is printable ASCII, with a backslash before a quote or a backslash only, and nothing after it", ErrKeyMalformed)
		}
		key = unescape.Replace(text[1])
	} else if at := notRaw.FindStringIndex(key); at != nil {
		return "", fmt.Errorf("%w: byte %d is not allowed in a key without quotes", ErrKeyMalformed, at[0]+1)
	}
	switch {
	case key == "":
		return "", fmt.Errorf("%w: it is empty", ErrKeyMalformed)
	case len(key) > idempotency.MaxKey:
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrKeyMalformed, len(key), idempotency.MaxKey)
	}
	return key, nil
}

var (
	quoted   = regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\])*)"$`) // a structured-field string
	unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	notRaw   = regexp.MustCompile(`[^!#-+\--:<-~]`)
)

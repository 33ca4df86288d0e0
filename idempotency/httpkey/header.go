package httpkey

import (
	"errors"
	"fmt"
	"net/http"
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
	value := strings.Trim(values[0], " \t")
	var key string
	var err error
	if strings.HasPrefix(value, `"`) {
		key, err = quoted(value)
	} else {
		key, err = raw(value)
	}
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", fmt.Errorf("%w: it is empty", ErrKeyMalformed)
	case len(key) > idempotency.MaxKey:
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrKeyMalformed, len(key), idempotency.MaxKey)
	}
	return key, nil
}

func raw(value string) (string, error) {
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || c == '"' || c == ',' || c == ';' {
			return "", fmt.Errorf("%w: byte %d is not allowed in a key without quotes", ErrKeyMalformed, i+1)
		}
	}
	return value, nil
}

// quoted decodes a structured-field string that is the whole value.
func quoted(value string) (string, error) {
	var key strings.Builder
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"' && i == len(value)-1:
			return key.String(), nil
		case c == '"':
			return "", fmt.Errorf("%w: there is more after the closing quote", ErrKeyMalformed)
		case c == '\\':
			i++
			if i == len(value) || value[i] != '"' && value[i] != '\\' {
				return "", fmt.Errorf("%w: a backslash stands before a quote or a backslash only", ErrKeyMalformed)
			}
			key.WriteByte(value[i])
		case c < ' ' || c > '~':
			return "", fmt.Errorf("%w: byte %d is not printable ASCII", ErrKeyMalformed, i+1)
		default:
			key.WriteByte(c)
		}
	}
	return "", fmt.Errorf("%w: the closing quote is missing", ErrKeyMalformed)
}

// Package key writes the value of a primary key, or of an owner, in the one form in which the toolkit's
// tables hold it, and reads it back. Two different keys never have the same form, and one key has only one.
// It knows nothing of a database.
//
// Open this package when the form of a key in the toolkit's tables is at stake: it never changes for what is
// stored.
package key

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/onerow/onerow/internal/answers"
)

// MaxLen is the length in bytes of the columns that hold encoded keys.
const MaxLen = 512

// ErrInvalid means: a value cannot be a key, or text is not an encoded key.
var ErrInvalid = answers.New(400, "not a valid id", "onerow: not a key")

// Encode writes the parts of a key as onerow.EncodeKey says.
func Encode(parts ...any) (string, error) {
	if len(parts) == 0 {
		return "", fmt.Errorf("%w: it has no parts", ErrInvalid)
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodePart(&b, part); err != nil {
			return "", err
		}
	}
	if b.Len() > MaxLen {
		return "", fmt.Errorf("%w: its encoded form has %d bytes, %d fit", ErrInvalid, b.Len(), MaxLen)
	}
	return b.String(), nil
}

func encodePart(b *strings.Builder, part any) error {
	v := reflect.ValueOf(part)
	switch {
	case !v.IsValid():
		return fmt.Errorf("%w: a part is nil", ErrInvalid)
	case v.CanInt():
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case v.Kind() == reflect.String:
		b.WriteByte('\'')
		b.WriteString(escapeText.Replace(v.String()))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		b.WriteString("0x" + hex.EncodeToString(v.Bytes()))
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8:
		raw := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(raw), v)
		b.WriteString("0x" + hex.EncodeToString(raw))
	default:
		return fmt.Errorf("%w: a part is a %T, not an integer, text or bytes", ErrInvalid, part)
	}
	return nil
}

var (
	escapeText   = strings.NewReplacer("%", "%25", ",", "%2C", "'", "%27")
	unescapeText = strings.NewReplacer("%25", "%", "%2C", ",", "%27", "'")
)

// Decode reads what [Encode] wrote, as onerow.DecodeKey says.
func Decode(encoded string) ([]any, error) {
	var parts []any
	for text := range strings.SplitSeq(encoded, ",") {
		part, err := decodePart(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if again, err := Encode(parts...); err != nil || again != encoded {
		return nil, fmt.Errorf("%w: %q is not the canonical form", ErrInvalid, encoded)
	}
	return parts, nil
}

func decodePart(text string) (any, error) {
	switch {
	case strings.HasPrefix(text, "'"):
		return unescapeText.Replace(text[1:]), nil
	case strings.HasPrefix(text, "0x"):
		raw, err := hex.DecodeString(text[2:])
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrInvalid, text, err)
		}
		return raw, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrInvalid, text, err)
	}
	return n, nil
}

package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/exactjson"
)

// KeyOf makes a [Key].ID of the named fields of a message: 64 hexadecimal digits. What is not named (a sent
// date, a retry count) does not count. msg is anything that encoding/json marshals to an object; a
// json.RawMessage or []byte is taken as JSON. A field is named as in JSON, "user.id" is a field of a field.
//
// The order of the fields, in the message and in the call, does not matter, nor does white space or how a
// number is written (1, 1.0 and 10e-1 are one). A field that is missing or null is [ErrField]: else all
// messages that lack it would be one. So is a number other than 0 with an exponent of more than 18 digits.
// The work grows with the length of msg, not faster.
func KeyOf(msg any, fields ...string) (string, error) {
	if len(fields) == 0 {
		return "", fmt.Errorf("%w: no fields were named, all messages would be one", ErrField)
	}
	data, err := jsonOf(msg)
	if err != nil {
		return "", err
	}
	tree, err := treeOf(data)
	if err != nil {
		return "", err
	}
	object, isObject := tree.(map[string]any)
	if !isObject {
		return "", fmt.Errorf("%w: a %T is no object with fields", ErrField, msg)
	}
	names := slices.Clone(fields)
	slices.Sort(names)
	h := sha256.New()
	for _, name := range slices.Compact(names) {
		v, found := field(object, name)
		if !found || v == nil {
			return "", fmt.Errorf("%w: it has no field %q", ErrField, name)
		}
		writeText(h, 'f', name)
		if err := writeTree(h, v); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// field finds a field by its name, then by its path.
func field(object map[string]any, name string) (any, bool) {
	if v, found := object[name]; found {
		return v, true
	}
	first, rest, isPath := strings.Cut(name, ".")
	if inner, isObject := object[first].(map[string]any); isPath && isObject {
		return field(inner, rest)
	}
	return nil, false
}

// writeTree hashes a value so that no two different values share their bytes: each with its kind and length.
// It fails at a number with a hostile exponent, and at what is unclear.
func writeTree(h hash.Hash, v any) error {
	switch v := v.(type) {
	case nil:
		writeText(h, 'z', "")
	case bool:
		writeText(h, 'b', fmt.Sprint(v))
	case string:
		writeText(h, 's', v)
	case json.Number:
		text, err := exactjson.Number(v.String())
		if err != nil {
			return errtext.Errorf("%w: %w", ErrField, err)
		}
		writeText(h, 'n', text)
	case unclear:
		return fmt.Errorf("%w: %s", ErrField, string(v))
	case []any:
		writeLength(h, 'a', len(v))
		for _, item := range v {
			if err := writeTree(h, item); err != nil {
				return err
			}
		}
	case map[string]any:
		writeLength(h, 'o', len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			writeText(h, 'f', name)
			if err := writeTree(h, v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeText(h hash.Hash, kind byte, s string) {
	writeLength(h, kind, len(s))
	h.Write([]byte(s))
}

func writeLength(h hash.Hash, kind byte, n int) {
	var head [9]byte
	head[0] = kind
	binary.BigEndian.PutUint64(head[1:], uint64(n)) //nolint:gosec // a length is not negative
	h.Write(head[:])
}

// unclear is a value in a tree that readers of its JSON take for different things, or for what is something
// else, and why.
type unclear string

// jsonOf is the JSON of a message, which may be JSON already.
func jsonOf(msg any) (data []byte, err error) {
	switch m := msg.(type) {
	case json.RawMessage:
		data = m
	case []byte:
		data = m
	default:
		if data, err = exactjson.Marshal(msg); err != nil {
			return nil, errtext.Errorf("%w: %w", ErrField, err)
		}
	}
	return data, nil
}

// treeOf is JSON as encoding/json reads it, its numbers as they were written.
func treeOf(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: its JSON is not valid UTF-8", ErrField)
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil { // of any depth it is not, either
		return nil, errtext.Errorf("%w: %w", ErrField, err)
	}
	r := reader{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	r.d.UseNumber()
	tree, err := r.value()
	if err != nil {
		return nil, errtext.Errorf("%w: %w", ErrField, err)
	}
	return tree, nil
}

// reader reads JSON that is valid.
type reader struct {
	data []byte
	d    *json.Decoder
}

// token is the next one, and whether it is a text with half of a surrogate pair, which reads as U+FFFD.
func (r *reader) token() (token json.Token, half bool, err error) {
	start := r.d.InputOffset()
	if token, err = r.d.Token(); err != nil {
		return nil, false, err
	}
	if _, isText := token.(string); isText {
		half = hasHalf(r.data[start:r.d.InputOffset()])
	}
	return token, half, nil
}

func (r *reader) value() (any, error) {
	token, half, err := r.token()
	switch {
	case err != nil:
		return nil, err
	case half:
		return unclear("a text has half of a surrogate pair"), nil
	case token == json.Delim('['):
		list := []any{}
		for r.d.More() {
			item, err := r.value()
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = r.d.Token()
		return list, err
	case token == json.Delim('{'):
		object := map[string]any{}
		for r.d.More() {
			if err := r.field(object); err != nil {
				return nil, err
			}
		}
		_, err = r.d.Token()
		return object, err
	}
	return token, nil
}

func (r *reader) field(object map[string]any) error {
	token, half, err := r.token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	v, err := r.value()
	if err != nil {
		return err
	}
	if _, twice := object[name]; twice {
		v = unclear(fmt.Sprintf("the name %.100q is there twice in one object", name))
	} else if half {
		v = unclear("a name has half of a surrogate pair")
	}
	object[name] = v
	return nil
}

// wholeEscapes are escapes that hide a half from the eye: an escaped backslash, and both halves of a pair.
var wholeEscapes = regexp.MustCompile(`\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..`)

// anyHalf is the escape of a surrogate.
var anyHalf = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// hasHalf says whether JSON has an escape of a surrogate without the other one of its pair.
func hasHalf(text []byte) bool {
	return anyHalf.Match(text) && anyHalf.Match(wholeEscapes.ReplaceAll(text, nil))
}

package idempotency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/exactjson"
)

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

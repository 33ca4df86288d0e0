package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/exactjson"
)

// unclear is a value in a tree that readers of its JSON take for different things, or for what is something
// else, and why.
type unclear string

// treeOf is msg as encoding/json reads it, its numbers as they were written.
func treeOf(msg any) (any, error) {
	var data []byte
	var err error
	switch m := msg.(type) {
	case json.RawMessage:
		data = m
	case []byte:
		data = m
	default:
		if data, err = exactjson.Marshal(msg); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrField, err)
		}
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: its JSON is not valid UTF-8", ErrField)
	}
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil { // of any depth it is not, either
		return nil, fmt.Errorf("%w: %w", ErrField, err)
	}
	r := reader{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	r.d.UseNumber()
	tree, err := r.value()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrField, err)
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

// hasHalf says whether JSON has an escape of a surrogate without the other one of its pair.
func hasHalf(text []byte) bool {
	high := false // the escape before was the first of a pair
	for i := 0; i < len(text); i++ {
		low := false
		next := false
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == 'u' && i+6 <= len(text) {
				unit, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
				next, low = err == nil && unit >= 0xD800 && unit < 0xDC00, err == nil && unit >= 0xDC00 && unit < 0xE000
				i += 4
			}
			i++
		}
		if high != low {
			return true
		}
		high = next
	}
	return high
}

// canonicalNumber writes a JSON number in one way.
func canonicalNumber(s string) (string, error) {
	text, err := exactjson.Number(s)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrField, err)
	}
	return text, nil
}

// hashOf is the fingerprint of a payload, in which an empty list or map is as one that is nil, and the one in
// which it was another: the same where there is none.
func hashOf(v any) (sum, earlier [sha256.Size]byte, err error) {
	tree, err := treeOf(v)
	if err != nil {
		return sum, earlier, err
	}
	if earlier, err = hashTree(tree); err != nil {
		return sum, earlier, err
	}
	if _, raw := v.([]byte); raw || v == nil {
		return earlier, earlier, nil
	}
	without, changed := emptied(reflect.ValueOf(v))
	if !changed {
		return earlier, earlier, nil
	}
	if tree, err = treeOf(without.Interface()); err != nil {
		return sum, earlier, err
	}
	sum, err = hashTree(tree)
	return sum, earlier, err
}

func hashTree(tree any) ([sha256.Size]byte, error) {
	h := sha256.New()
	err := writeTree(h, tree)
	return [sha256.Size]byte(h.Sum(nil)), err
}

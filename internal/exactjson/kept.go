package exactjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Kept says whether what v points to, which was decoded from data, still has its numbers: in an interface a
// number becomes a float64, which has 53 bits. [ErrLost]: it has not.
func Kept(data []byte, v any) error {
	if !longNumber(data) {
		return nil
	}
	again, err := json.Marshal(reflect.ValueOf(v).Elem().Interface())
	if err != nil || bytes.Equal(again, data) {
		return err
	}
	was, err := numbersOf(data)
	if err != nil {
		return err
	}
	is, err := numbersOf(again)
	if err != nil {
		return err
	}
	return sameNumbers(was, is, "")
}

// longNumber says whether a number may have more digits than a float64 holds for certain. What is found in a
// text does no harm.
func longNumber(data []byte) bool {
	const certain = 15
	digits := 0
	for _, c := range data {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != '.':
			digits = 0
		}
		if digits > certain {
			return true
		}
	}
	return false
}

func numbersOf(data []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return tree, d.Decode(&tree)
}

// sameNumbers compares the numbers that are in both.
func sameNumbers(was, is any, path string) error {
	switch was := was.(type) {
	case json.Number:
		if is, isNumber := is.(json.Number); isNumber && is != was {
			a, err := Number(was.String())
			b, err2 := Number(is.String())
			if a != b || err != nil || err2 != nil {
				return fmt.Errorf("%w: the number %s%s comes back as %s: it is in an interface, and in a float64 then; give it an int64 or a string",
					ErrLost, was, strings.TrimSuffix(" at "+path, " at "), is)
			}
		}
	case []any:
		if is, isList := is.([]any); isList {
			for i := range min(len(was), len(is)) {
				if err := sameNumbers(was[i], is[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		if is, isObject := is.(map[string]any); isObject {
			for name, v := range was {
				if err := sameNumbers(v, is[name], fmt.Sprintf("%s[%q]", path, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

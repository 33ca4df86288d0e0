package rowkey

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema/catalog"
)

// Encode writes a key in the form of [onerow.EncodeKey], which jobs carry. Errors: [ErrInvalidKey].
func (c Codec) Encode(k Key) (string, error) {
	values := make([]any, len(c.parts))
	literals := c.Parts(k)
	if len(literals) != len(c.parts) {
		return "", fmt.Errorf("%w: %q has %d parts, %s", ErrInvalidKey, k, len(literals), c.expected())
	}
	for i, p := range c.parts {
		v, err := p.value(literals[i])
		if err != nil {
			return "", err
		}
		values[i] = v
	}
	return onerow.EncodeKey(values...)
}

// Decode is the inverse of Encode, checked against the types of the columns. Errors: [ErrInvalidKey].
func (c Codec) Decode(encoded string) (Key, error) {
	values, err := onerow.DecodeKey(encoded)
	if err != nil {
		return "", fmt.Errorf("%w (%s)", err, c.expected())
	}
	return c.made(encoded, len(values), func(i int) (any, error) { return values[i], nil })
}

// Parse reads what a person types: 42, abc, 0x00ff, or 101,1993-09-21 for several columns.
// Text among several that has a comma in it is given in the encoded form: 101,'a%2Cb.
// Errors: [ErrInvalidKey], which says what is expected.
func (c Codec) Parse(text string) (Key, error) {
	typed := []string{text}
	if len(c.parts) > 1 {
		typed = strings.Split(text, ",")
	}
	return c.made(text, len(typed), func(i int) (any, error) { return c.parts[i].parse(typed[i], len(c.parts) > 1) })
}

// made makes a key of n values that were read from text.
func (c Codec) made(text string, n int, value func(i int) (any, error)) (Key, error) {
	if n != len(c.parts) {
		return "", fmt.Errorf("%w: %q has %d parts, %s", ErrInvalidKey, text, n, c.expected())
	}
	literals := make([]string, n)
	for i, p := range c.parts {
		v, err := value(i)
		if err == nil {
			literals[i], err = p.from(v)
		}
		if err != nil {
			return "", fmt.Errorf("%w: %q: %s; %s", ErrInvalidKey, text, err.Error(), c.expected())
		}
	}
	return join(literals), nil
}

// Typed reads a key that a person has typed, see [Codec.Parse], or in its encoded form, as jobs show it, and
// refuses what no row of the table can have. Errors: [ErrInvalidKey], which says what is expected.
func (c Codec) Typed(text string) (Key, error) {
	key, err := c.Decode(text)
	if err != nil {
		key, err = c.Parse(text)
	}
	if err != nil {
		return "", err
	}
	for i, literal := range c.Parts(key) {
		if why := c.parts[i].unfit(literal); why != "" {
			return "", fmt.Errorf("%w: %q: %s; %s", ErrInvalidKey, text, why, c.expected())
		}
	}
	return key, nil
}

// Where is the predicate that holds for rows with the given text in each of some columns:
// the condition of a polymorphic edge. It is empty without columns. Errors: [ErrType], [ErrInvalidKey].
func Where(cat *catalog.Catalog, table, alias string, values map[string]string) (string, error) {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c, err := New(cat, table, []string{name})
		if err != nil {
			return "", err
		}
		key, err := c.Parse(values[name])
		if err != nil {
			return "", err
		}
		list = append(list, c.In(alias, []Key{key}))
	}
	return strings.Join(list, " AND "), nil
}

func (c Codec) expected() string {
	list := make([]string, len(c.parts))
	for i, p := range c.parts {
		list[i] = p.name + " (" + p.kind.example() + ")"
		if p.kind == binary && p.length == 16 {
			list[i] = p.name + " (16 bytes like 0x00ff…, or a UUID)"
		}
	}
	return fmt.Sprintf("the key of %s is %s", c.table, strings.Join(list, ", "))
}

// unhex is the bytes of x'…', with or without a character set before it.
func unhex(literal string) ([]byte, error) {
	_, digits, ok := strings.Cut(literal, "x'")
	raw, err := hex.DecodeString(strings.TrimSuffix(digits, "'"))
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: %q is no literal of this package", ErrInvalidKey, literal)
	}
	return raw, nil
}

// KeyAs is a key of c as text would have read it, which has the same columns as text, see [Codec.AsText].
func (c Codec) KeyAs(text Codec, key Key) Key {
	literals := c.Parts(key)
	for i, literal := range literals {
		raw, err := unhex(literal)
		if err != nil {
			raw = []byte(strings.Trim(literal, "'"))
		}
		literals[i] = text.parts[i].literal(hex.EncodeToString(raw))
	}
	return join(literals)
}

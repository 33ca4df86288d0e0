package rowkey

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/catalog"
)

var (
	// ErrType means: a column is missing, or its type cannot be a key's. The text names it.
	ErrType = errors.New("rowkey: not a key column")
	// ErrInvalidKey means: text or an encoded key does not fit the columns. It is an [onerow.ErrInvalidKey]
	// too.
	ErrInvalidKey = fmt.Errorf("rowkey: not a key of these columns: %w", onerow.ErrInvalidKey)
)

// Key is the SQL literals of a key: "42", or "(42,x'00ff')" for several columns. The empty Key is none.
type Key string

// Codec reads and writes the values of some columns of a table. Safe for concurrent use.
type Codec struct {
	table string
	parts []part
}

type part struct {
	name     string
	kind     kind
	unsigned bool
	utf8     bool // its bytes are UTF-8 already
	length   int  // how many characters or bytes fit, of text and bytes
	fixed    bool // bytes are as many, always

	charset, collation string // of text
}

// New returns the codec for columns of a table, in their order. Errors: [ErrType].
func New(cat *catalog.Catalog, table string, columns []string) (Codec, error) {
	c := Codec{table: table}
	if len(columns) == 0 {
		return c, fmt.Errorf("%w: no column of %q is named", ErrType, table)
	}
	for _, name := range columns {
		info, ok := cat.Column(table, name)
		if !ok {
			return c, fmt.Errorf("%w: there is no column %q in a table %q, or the user has no right on it", ErrType, name, table)
		}
		kind, ok := kinds[strings.ToLower(info.Type)]
		if !ok {
			return c, fmt.Errorf("%w: %q of %q is a %s; its values have no exact literal", ErrType, name, table, info.Full)
		}
		p := part{name: info.Name, kind: kind, unsigned: strings.Contains(strings.ToLower(info.Full), "unsigned") || kind == year,
			utf8: slices.Contains([]string{"utf8mb4", "utf8mb3", "utf8", "ascii"}, strings.ToLower(info.Charset)), charset: info.Charset, collation: info.Collation}
		if kind == text || kind == binary {
			_, digits, _ := strings.Cut(strings.TrimSuffix(info.Full, ")"), "(")
			if n, err := strconv.Atoi(digits); err == nil { // else any length is taken
				p.length = n
			}
			p.fixed = strings.EqualFold(info.Type, "binary")
		}
		c.parts = append(c.parts, p)
	}
	return c, nil
}

// Names are the columns.
func (c Codec) Names() (names []string) {
	for _, p := range c.parts {
		names = append(names, p.name)
	}
	return names
}

// Ordered is the codec whose keys sort as an index does: enum and set columns by number
// instead of label. Its keys are of no use to Encode.
func (c Codec) Ordered() Codec {
	parts := make([]part, len(c.parts))
	for i, p := range c.parts {
		if p.kind == label {
			p.kind = number
		}
		parts[i] = p
	}
	return Codec{c.table, parts}
}

// AsText is the codec that reads every value as text, with which columns of text can be
// compared: the keys of all kinds of rows that a polymorphic column holds.
func (c Codec) AsText() Codec {
	parts := make([]part, len(c.parts))
	for i, p := range c.parts {
		if f := p.kind.family(); f != text && f != binary {
			p.kind, p.utf8 = converted, false
		}
		parts[i] = p
	}
	return Codec{c.table, parts}
}

// Equal is the condition that the columns of c, under an alias, equal those of other, under
// its own: as c's columns compare, so that an index on them is of use, whatever the
// character sets and collations. other must fit, or be read [Codec.AsText].
func (c Codec) Equal(alias string, other Codec, otherAlias string) string {
	list := make([]string, len(c.parts))
	for i, p := range c.parts {
		o := other.parts[i]
		value := column(otherAlias, o.name)
		if o.kind == converted {
			value = "CAST(" + value + " AS CHAR)"
		}
		if p.collation != "" && (o.kind == converted || p.collation != o.collation) {
			value = "CONVERT(" + value + " USING " + p.charset + ") COLLATE " + p.collation
		}
		list[i] = column(alias, p.name) + " = " + value
	}
	return strings.Join(list, " AND ")
}

// Width is the number of columns.
func (c Codec) Width() int { return len(c.parts) }

// Fits says whether values of c can stand for values of other: the same number of
// columns, and the same family of types in each place.
func (c Codec) Fits(other Codec) bool {
	return slices.EqualFunc(c.parts, other.parts, func(p, o part) bool { return p.kind.family() == o.kind.family() })
}

// Select is what follows SELECT: Width() expressions. alias may be empty.
func (c Codec) Select(alias string) string {
	list := make([]string, len(c.parts))
	for i, p := range c.parts {
		list[i] = p.read(column(alias, p.name))
	}
	return strings.Join(list, ", ")
}

// Key is the key of a row that Select read. false: a part is NULL.
func (c Codec) Key(values []sql.NullString) (Key, bool) {
	literals := make([]string, len(c.parts))
	for i, p := range c.parts {
		if i >= len(values) || !values[i].Valid {
			return "", false
		}
		literals[i] = p.literal(values[i].String)
	}
	return join(literals), true
}

// Unknown is a key whose parts are question marks, for statements that people read.
func (c Codec) Unknown() Key {
	return join(slices.Repeat([]string{"?"}, len(c.parts)))
}

// Parts is the literals of a key, one for each column.
func (c Codec) Parts(k Key) []string {
	if len(c.parts) == 1 {
		return []string{string(k)}
	}
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(k), "("), ")"), ",") // no literal has a comma
}

func join(literals []string) Key {
	if len(literals) == 1 {
		return Key(literals[0])
	}
	return Key("(" + strings.Join(literals, ",") + ")")
}

// In is the predicate that holds for rows with one of the keys. The range optimizer of both engines reads an
// index that begins with the columns by it: IN for one column; for more of them equalities, with IN for the
// last one where keys in a row differ only there. What is the same in all keys stands alone in front: MySQL
// does not see otherwise that rows are in the order of the index when it is constant. Keep the list to some
// hundreds. It stands in parentheses where AND could tear it apart.
func (c Codec) In(alias string, keys []Key) string {
	if len(keys) == 0 {
		return "1 = 0"
	}
	var b strings.Builder
	if len(c.parts) == 1 {
		b.WriteString(column(alias, c.parts[0].name))
		writeList(&b, keys)
		return b.String()
	}
	values := make([][]string, len(keys))
	for i, k := range keys {
		values[i] = c.Parts(k)
	}
	b.WriteByte('(')
	var rest []int // the columns that are not the same in all keys
	for j, p := range c.parts {
		if slices.ContainsFunc(values, func(v []string) bool { return v[j] != values[0][j] }) {
			rest = append(rest, j)
			continue
		}
		if b.Len() > 1 {
			b.WriteString(" AND ")
		}
		b.WriteString(column(alias, p.name) + " = " + values[0][j])
	}
	if len(rest) > 0 {
		if len(rest) < len(c.parts) {
			b.WriteString(" AND ")
		}
		c.writeRest(&b, alias, rest, values)
	}
	b.WriteByte(')')
	return b.String()
}

// writeRest writes the columns in which the keys differ.
func (c Codec) writeRest(b *strings.Builder, alias string, columns []int, keys [][]string) {
	start, last := columns[:len(columns)-1], columns[len(columns)-1]
	several := false
	for i := 0; i < len(keys); {
		first := keys[i]
		var group []Key
		for ; i < len(keys) && !slices.ContainsFunc(start, func(j int) bool { return keys[i][j] != first[j] }); i++ {
			group = append(group, Key(keys[i][last]))
		}
		if !several && i < len(keys) {
			b.WriteByte('(')
			several = true
		}
		for _, j := range start {
			b.WriteString(column(alias, c.parts[j].name) + " = " + first[j] + " AND ")
		}
		b.WriteString(column(alias, c.parts[last].name))
		writeList(b, group)
		if i < len(keys) {
			b.WriteString(" OR ")
		}
	}
	if several {
		b.WriteByte(')')
	}
}

func writeList(b *strings.Builder, keys []Key) {
	if len(keys) == 1 {
		b.WriteString(" = " + string(keys[0]))
		return
	}
	for i, k := range keys {
		b.WriteString([]string{" IN (", ","}[min(i, 1)] + string(k))
	}
	b.WriteByte(')')
}

func column(alias, name string) string {
	if alias == "" {
		return ident.Quote(name)
	}
	return ident.Quote(alias) + "." + ident.Quote(name)
}

package dict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Name, Data, Full, Charset, Collation, Extra string
	Nullable, HasDefault                        bool
	RowEnd                                      bool  // the server's own, of a table with system versioning
	Length, Precision                           int64 // characters or bytes; digits of a second's fraction
}

// Keyable says whether the toolkit can hold the exact value of such a column in a key, whatever the session's
// settings: integers, decimals, text, bytes, dates and times without a zone, UUIDs and addresses. Not
// floating point, TIMESTAMP, BIT, JSON or BLOBs and TEXTs, of which an index holds a prefix only.
func (c *Column) Keyable() bool {
	switch strings.ToLower(c.Data) {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "char", "varchar", "enum", "set",
		"binary", "varbinary", "date", "datetime", "time", "year", "uuid", "inet4", "inet6":
		return true
	}
	return false
}

// Computed says whether the column's value comes from others.
func (c *Column) Computed() bool {
	extra := strings.ToLower(c.Extra)
	return strings.Contains(extra, "virtual generated") || strings.Contains(extra, "stored generated") || strings.Contains(extra, "persistent")
}

// Moves says whether it is a time that changes by itself with each UPDATE.
func (f *Column) Moves() bool { return strings.Contains(strings.ToLower(f.Extra), "on update") }

// AutoIncrements says whether the server gives it its values. It may be nil.
func (c *Column) AutoIncrements() bool {
	return c != nil && strings.Contains(strings.ToLower(c.Extra), "auto_increment")
}

// IntegerSize is how many bytes a type of integers has; 0: it is no such type.
func IntegerSize(data string) int64 {
	return map[string]int64{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}[data]
}

// MaxValue returns the greatest value of an integer column.
func (c *Column) MaxValue() uint64 {
	bits := 8 * IntegerSize(c.Data)
	if !strings.Contains(c.Full, "unsigned") {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}

// Describe returns the type as a definition has it.
func (c *Column) Describe() string {
	text := c.Full
	if c.Charset != "" {
		text += " CHARACTER SET " + c.Charset
	}
	if c.Nullable {
		return text + " NULL"
	}
	return text + " NOT NULL"
}

// Collated returns the type with its collation.
func (c *Column) Collated() string {
	if c.Collation != "" {
		return c.Full + " " + c.Collation
	}
	return c.Full
}

// Class is what a column's values are compared as.
func (c *Column) Class() string {
	switch {
	case IntegerSize(c.Data) > 0:
		return "integer"
	case c.Charset != "":
		return "text"
	case c.Data == "binary" || c.Data == "varbinary":
		return "bytes"
	}
	return c.Data
}

// Mismatch says why values of the two columns cannot be compared as they are.
func (c *Column) Mismatch(other *Column) string {
	unsigned := func(c *Column) bool { return strings.Contains(strings.ToLower(c.Full), "unsigned") }
	switch {
	case c.Class() != other.Class():
		return "the values are converted before they are compared, and no index is used"
	case c.Class() == "integer" && unsigned(c) != unsigned(other):
		return "one of them is unsigned, so one holds values that the other cannot"
	case c.Charset != other.Charset || c.Collation != other.Collation:
		return "they are compared by different rules, and no index is used"
	}
	return ""
}

// lobs hold ever longer text, or bytes.
var lobs = [][]string{{"tinytext", "text", "mediumtext", "longtext"}, {"tinyblob", "blob", "mediumblob", "longblob"}}

// Holds says whether every value of a column of the other's type is the same value in a
// column of c's type: then a change of type loses nothing, in any session.
func (c *Column) Holds(other *Column) bool {
	same := func(word string) bool { return strings.Contains(c.Full, word) == strings.Contains(other.Full, word) }
	if c.Charset != other.Charset || !same("unsigned") || !same("zerofill") || !same("COMPRESSED") {
		return false
	}
	if c.Full == other.Full {
		return true
	}
	for _, family := range lobs {
		if i, j := slices.Index(family, other.Data), slices.Index(family, c.Data); i >= 0 && j >= i {
			return true
		}
	}
	if IntegerSize(other.Data) > 0 {
		return IntegerSize(c.Data) >= IntegerSize(other.Data)
	}
	if c.Data != other.Data {
		return false
	}
	switch c.Data {
	case "varchar", "varbinary":
		return c.Length >= other.Length
	case "datetime", "time":
		return c.Precision >= other.Precision
	case "decimal":
		var digits, scale, otherDigits, otherScale int
		return scan(c.Full, &digits, &scale) && scan(other.Full, &otherDigits, &otherScale) && scale >= otherScale && digits-scale >= otherDigits-otherScale
	}
	return false
}

func scan(full string, digits, scale *int) bool {
	_, err := fmt.Sscanf(full, "decimal(%d,%d)", digits, scale)
	return err == nil
}

// keyBytes is how wide a column of text or bytes is in a key; 0 for others, which are narrow.
func (c *Column) keyBytes() int64 {
	wide := map[string]int64{"utf8mb4": 4, "utf16": 4, "utf16le": 4, "utf32": 4, "gb18030": 4, "utf8mb3": 3, "utf8": 3, "ujis": 3, "eucjpms": 3,
		"ucs2": 2, "big5": 2, "gbk": 2, "gb2312": 2, "sjis": 2, "cp932": 2, "euckr": 2}[c.Charset]
	switch c.Data {
	case "char", "varchar", "binary", "varbinary":
		return c.Length * max(wide, 1)
	}
	return 0
}

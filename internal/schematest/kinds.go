package schematest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
)

// kind is a type of column that can be a key.
type kind struct {
	ddl string
	// value is different for each i from 0 to some ten thousand.
	value func(i int) any
	// vary is another value that the column's collation takes for the same; nil: none.
	vary func(r *rand.Rand, v any) any
	// number says that it is a signed whole number, as a BIGINT column that refers to it is.
	number bool
}

// hostile texts begin the values of text columns: what is wrong in a statement if it
// is not quoted well, or in a message, or in an encoded key. None ends in a digit.
var hostile = []string{
	"plain", "o'clock", `back\slash`, `\`, `"quoted"`, "a,b", "%27", "50%_", "x'00'", "`tick`", "-- no", "/* no */", "line\nbreak", "tab\t",
	"nul\x00", "ctrl\x1a", "; DROP TABLE x;", "NULL", "(1,2)", "?", ":a", "ünïcôdé", "straße", "Ω mega", " lead",
}

func text(i int) any { return hostile[i%len(hostile)] + fmt.Sprint(i) }

// wide are texts that no single byte character set holds.
func wide(i int) any {
	return []string{"日本", "😀", "я", ""}[i%4] + hostile[i%len(hostile)] + fmt.Sprint(i)
}

// swap turns the case of ASCII letters around, and pads: no collation here that ignores case sees it.
func swap(r *rand.Rand, v any) any {
	s := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' && r.IntN(2) == 0:
			return unicode.ToUpper(c)
		case c >= 'A' && c <= 'Z' && r.IntN(2) == 0:
			return unicode.ToLower(c)
		}
		return c
	}, v.(string)) //nolint:errcheck // only texts are varied
	return s + strings.Repeat(" ", r.IntN(2))
}

func whole(low, step int64) func(int) any { return func(i int) any { return low + step*int64(i) } }

var day = time.Date(1969, 12, 1, 0, 0, 0, 0, time.UTC)

// kinds are the types of keys. The first ones are whole numbers.
var kinds = []kind{
	{ddl: "INT", value: whole(-40, 1), number: true},
	{ddl: "INT UNSIGNED", value: whole(4294900000, 3)},
	{ddl: "SMALLINT UNSIGNED", value: whole(1, 1)},
	{ddl: "MEDIUMINT", value: whole(-20, 7), number: true},
	{ddl: "BIGINT", value: whole(-9223372036854775808, 9), number: true},
	{ddl: "BIGINT UNSIGNED", value: func(i int) any { return uint64(18446744073709551615) - uint64(i) }}, //nolint:gosec // i is small
	{ddl: "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", value: wide, vary: swap},
	{ddl: "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", value: wide},
	{ddl: "VARCHAR(40) CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_ci", value: text, vary: swap},
	{ddl: "CHAR(30) CHARACTER SET ascii COLLATE ascii_general_ci", value: func(i int) any {
		return strings.Map(func(c rune) rune { return min(c, '~') }, text(i).(string)) //nolint:errcheck // text is text
	}, vary: swap},
	{ddl: "VARBINARY(30)", value: func(i int) any { return append([]byte{0, 0xff, '\'', 0x80, '\\'}, fmt.Sprint(i)...) }},
	{ddl: "BINARY(8)", value: func(i int) any {
		return binary.BigEndian.AppendUint32([]byte{'\'', 0xc3, 0x28, '\\'}, uint32(i)) //nolint:gosec // i is small
	}},
	{ddl: "DATE", value: func(i int) any { return day.AddDate(0, 0, i).Format(time.DateOnly) }},
	{ddl: "DATETIME(6)", value: func(i int) any { return day.Format(time.DateOnly) + fmt.Sprintf(" 23:59:59.%06d", 100*i) }},
	{ddl: "DECIMAL(20,3)", value: func(i int) any { return fmt.Sprintf("%d.%03d", i-30, i) }},
}

// anyKind is a whole number more often than not.
func anyKind(r *rand.Rand) kind {
	if r.IntN(5) < 3 {
		return kinds[r.IntN(5)]
	}
	return kinds[r.IntN(len(kinds))]
}

// Names that need quoting. Table names are in lower case: some servers make them so.
var (
	tableNames  = []string{"order", "t 2", "select", "проект", "o'neil", `back\slash`, "semi;colon", `say "so"`, "per%cent", "a.b", "minus-minus -- x", "group"}
	columnNames = []string{"key", "from", "two words", "ключ", "it's", `a\b`, "x;y", `"q"`, "100%", "a.b", "?", "--"}
)

// name is base, or a name that needs quoting, never the same for two values of n.
func name(r *rand.Rand, list []string, base string, n int) string {
	if r.IntN(4) == 0 {
		return list[r.IntN(len(list))] + fmt.Sprint(n)
	}
	return base + fmt.Sprint(n)
}

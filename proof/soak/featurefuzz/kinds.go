package featurefuzz

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// kind is a type of column with values in which something may be lost.
type kind struct {
	name, typ string
	engine    string   // that has it; "": both
	values    []string // SQL
	read      string   // its bytes, exactly; %s is the column
	alone     bool     // no partitioned table has it
}

const (
	asBytes = "HEX(CAST(%s AS BINARY))"
	asHex   = "HEX(%s)"
	asFloat = "CAST(%s * 1e0 AS CHAR)" // a FLOAT alone is shown with six digits
	asMoney = "CAST(%s AS CHAR)"
	asList  = "CONCAT(%[1]s + 0, ':', HEX(CAST(%[1]s AS BINARY)))" // '' may be the empty text, or no member
	asPlace = "CONCAT(ST_SRID(%[1]s), ':', HEX(%[1]s))"
)

// kinds are named by what the report counts.
var kinds = []kind{
	{name: "JSON", typ: "JSON", read: asBytes, values: []string{`_utf8mb4 '{"b": 1.50, "a": [null, "\\u00e9"], "a b": {}}'`, "'[]'", `'"x"'`, "'18446744073709551615'", "'-0.0'", `_utf8mb4 x'22f09f9880e282ac22'`, "'null'"}},
	{name: "JSON", typ: "JSON", engine: "mysql", read: "CONCAT(JSON_TYPE(JSON_EXTRACT(%[1]s, '$.d')), JSON_TYPE(JSON_EXTRACT(%[1]s, '$.n')), HEX(CAST(%[1]s AS CHAR)))",
		values: []string{"JSON_OBJECT('d', CAST('2026-01-02' AS DATE), 'n', CAST(1.5 AS DECIMAL(20,10)))", "JSON_OBJECT('d', x'00ff27', 'n', CAST('1:2:3.5' AS TIME(3)))"}},
	{name: "FLOAT", typ: "FLOAT", read: asFloat, values: []string{"3.4028235e38", "-0e0", "1.1754944e-38", "1e-45", "0.1", "16777217", "-123456.789", "0.30000001192092896"}},
	{name: "DOUBLE", typ: "DOUBLE", read: asFloat, values: []string{"1.7976931348623157e308", "-0e0", "2.2250738585072014e-308", "4.9e-324", "0.1", "9007199254740993", "0.30000000000000004"}},
	{name: "BIT", typ: "BIT(64)", read: "CAST(%s AS UNSIGNED)", values: []string{"b'0'", "0xffffffffffffffff", "b'1010101'", "0x2700"}},
	{name: "BIT", typ: "BIT(1)", read: "CAST(%s AS UNSIGNED)", values: []string{"b'0'", "b'1'"}},
	{name: "GEOMETRY", typ: "GEOMETRY", read: asPlace, alone: true, values: []string{"ST_GeomFromText('POINT(1.1 -2)')", "ST_GeomFromText('POINT(1.5 2.5)', 4326)", "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 0.1))')",
		"ST_GeomFromText('POLYGON((0 0,0 9,9 9,9 0,0 0),(1 1,1 2,2 2,1 1))', 4326)"}},
	{name: "GEOMETRY", typ: "POINT", read: asPlace, alone: true, values: []string{"ST_GeomFromText('POINT(-0.1 1e-300)')", "ST_GeomFromText('POINT(179.9 0)')"}},
	{name: "GEOMETRY", typ: "POINT SRID 4326", engine: "mysql", read: asPlace, alone: true, values: []string{"ST_GeomFromText('POINT(1 179.5)', 4326)"}},
	{name: "BLOB", typ: "LONGBLOB", read: asHex, values: []string{"''", "x'00'", "x'00ff275c0a1a'", "REPEAT(x'00ff27', 30000)"}},
	{name: "BLOB", typ: "TINYBLOB", read: asHex, values: []string{"''", "REPEAT(x'20', 255)", "x'ff00'"}},
	{name: "BINARY", typ: "BINARY(5)", read: asHex, values: []string{"x'00'", "x'2020202020'", "x'ff'"}},
	{name: "BINARY", typ: "VARBINARY(300)", read: asHex, values: []string{"''", "x'002000'", "REPEAT(x'5c', 300)"}},
	{name: "ENUM", typ: "ENUM('a', 'b''c', '', 'ü', 'x,y', '1')", read: asList, values: []string{"'a'", "'b''c'", "''", "_utf8mb4 x'c3bc'", "'x,y'", "'1'", "0", "6"}},
	{name: "SET", typ: "SET('x', 'y', '''', 'ü', '1')", read: asList, values: []string{"''", "'x,y'", "'x,'',1'", "_utf8mb4 x'c3bc'", "31"}},
	{name: "ENUM", typ: "ENUM('a', 'b''c', '', 'x,y', '1')", read: asList, values: []string{"'b''c'", "''", "'x,y'", "'1'", "0", "5"}},
	{name: "SET", typ: "SET('x', 'y', '''', '1')", read: asList, values: []string{"''", "'x,y'", "'x,'',1'", "15"}},
	{name: "TIMESTAMP", typ: "TIMESTAMP(6) NULL", read: asBytes, values: []string{"'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.999999'", "'2026-10-25 00:30:00'", "'2026-10-25 01:30:00'", "'2026-03-29 01:30:00'"}},
	{name: "TIMESTAMP", typ: "TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", read: asBytes, values: []string{"'2001-02-03 04:05:06'", "'0000-00-00 00:00:00'"}},
	{name: "DATETIME", typ: "DATETIME(6)", read: asBytes, values: []string{"'0000-00-00'", "'2026-02-31 00:00:00.123456'", "'9999-12-31 23:59:59.999999'", "'2026-00-00'"}},
	{name: "DATETIME", typ: "DATETIME(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)", read: asBytes, values: []string{"'2001-02-03 04:05:06.789'"}},
	{name: "DATE, TIME, YEAR", typ: "DATE", read: asBytes, values: []string{"'0000-00-00'", "'2026-02-30'", "'1000-01-01'"}},
	{name: "DATE, TIME, YEAR", typ: "TIME(6)", read: asBytes, values: []string{"'-838:59:59'", "'00:00:00.000001'", "'838:59:59'"}},
	{name: "DATE, TIME, YEAR", typ: "YEAR", read: asBytes, values: []string{"0", "1901", "2155"}},
	{name: "DECIMAL", typ: "DECIMAL(65,30)", read: asMoney, values: []string{"-99999999999999999999999999999999999.999999999999999999999999999999", "0", "0.000000000000000000000000000001"}},
	{name: "BIGINT", typ: "BIGINT UNSIGNED", read: asMoney, values: []string{"18446744073709551615", "0", "9223372036854775808"}},
	{name: "UUID, INET6", typ: "UUID", engine: "mariadb", read: asBytes, values: []string{"'00000000-0000-0000-0000-000000000000'", "'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'"}},
	{name: "UUID, INET6", typ: "INET6", engine: "mariadb", read: asBytes, values: []string{"'::'", "'2001:db8::ff00:42:8329'", "'::ffff:192.0.2.128'"}},
	{name: "VECTOR", typ: "VECTOR(3)", engine: "mysql", read: asHex, values: []string{"STRING_TO_VECTOR('[1.5, -0.0, 3.4e38]')", "STRING_TO_VECTOR('[0,0,1e-30]')"}},
	{name: "invisible columns", typ: "INT INVISIBLE DEFAULT 5", engine: "mariadb", read: asMoney, values: []string{"5", "-7"}},
	{name: "invisible columns", typ: "INT DEFAULT 5 INVISIBLE", engine: "mysql", read: asMoney, values: []string{"5", "-7"}},
}

// value is a literal, or NULL.
func (k *kind) value(r *rand.Rand) string {
	if r.IntN(6) == 0 {
		return "NULL"
	}
	return k.values[r.IntN(len(k.values))]
}

// samples are texts of which each character set has one; many have a byte that is a backslash in it.
var samples = map[string]string{
	"latin1": "é€ÿ", "latin2": "ěř", "cp1250": "ěř", "cp1251": "жЯ", "koi8r": "жЯ", "cp866": "жЯ", "greek": "ω", "hebrew": "א", "tis620": "ก", "ascii": "a~\\'", "utf8mb3": "表€", "utf8": "表€",
	"utf8mb4": "😀äß", "ucs2": "表Ā", "utf16": "😀表", "utf16le": "😀表", "utf32": "😀表", "sjis": "表ソ", "cp932": "表ソ", "eucjpms": "表ソ", "ujis": "表ソ", "gbk": "乗誠", "gb2312": "表", "gb18030": "😀乗", "big5": "功許", "euckr": "가", "cp1256": "ع", "latin5": "ğ", "latin7": "ė",
}

// texts are drawn in a character set.
func texts(r *rand.Rand, charset string) string {
	sample := samples[charset]
	return literal([]string{"", " ", sample, sample + "  ", "a\x00b" + sample, "it's \\" + sample, strings.Repeat(sample, 9), "A", "a"}[r.IntN(9)])
}

// literal is a text that no session's settings change.
func literal(text string) string { return "_utf8mb4 x'" + hex.EncodeToString([]byte(text)) + "'" }

// collation is one that a server has.
type collation struct{ charset, name string }

func (c collation) String() string {
	if c.name == "" {
		return ""
	}
	return " CHARACTER SET " + c.charset + " COLLATE " + c.name
}

// keyKind is a type of a part of a key.
type keyKind struct {
	typ   string
	text  bool
	whole bool // an integer, which can be computed
	value func(i int, sample string) string
}

var keyKinds = []keyKind{
	{typ: "INT", whole: true, value: func(i int, _ string) string { return strconv.Itoa(7*i - 20) }},
	{typ: "BIGINT UNSIGNED", value: func(i int, _ string) string { return strconv.FormatUint(1<<64-1-uint64(i), 10) }}, //nolint:gosec // not below 0
	{typ: "VARCHAR(24)", text: true, value: func(i int, sample string) string { return literal(fmt.Sprintf("k%d'\\%s", i, sample)) }},
	{typ: "VARBINARY(9)", value: func(i int, _ string) string { return fmt.Sprintf("x'%04x00ff275c'", i) }},
}

// otherKeys are of what is below a root.
var otherKeys = []keyKind{
	{typ: "DECIMAL(20,5)", value: func(i int, _ string) string { return fmt.Sprintf("%d.00001", i) }},
	{typ: "DATETIME(6)", value: func(i int, _ string) string { return fmt.Sprintf("'2026-01-01 00:00:%02d.%06d'", i%60, i) }},
	{typ: "CHAR(12)", text: true, value: func(i int, sample string) string { return literal(fmt.Sprintf("%d%s", i, sample)) }},
}

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// random makes a value of a column. The n-th row of a table has one of its own in a column that is a key:
// such texts differ in any collation.
func (c *column) random(r *rand.Rand, n int, key bool) any {
	switch c.data {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "bit":
		return c.number(r, n, key)
	case "decimal":
		return fmt.Sprintf("%d.%0*d", r.IntN(tenTo(c.precision-c.scale, 4)), max(c.scale, 1), r.IntN(tenTo(c.scale, 6)))
	case "float", "double":
		return float64(r.IntN(8000)) / 8
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return c.text(r, n, key)
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return c.bytes(r, n, key)
	case "enum":
		return pick(r, words(c.full))
	case "set":
		return pick(r, append(words(c.full), ""))
	case "date":
		return moment(r, n, key).Format(time.DateOnly)
	case "datetime", "timestamp":
		return moment(r, n, key).Format(time.DateTime)
	case "time":
		return moment(r, n, key).Format(time.TimeOnly)
	case "year":
		return 1980 + r.IntN(60)
	case "json":
		return fmt.Sprintf(`{"n": %d, "quoted": "it's"}`, n)
	}
	return nil // the server says that it wants one
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// tenTo is a power of ten, up to one.
func tenTo(n, most int) int {
	power := 1
	for range min(n, most) {
		power *= 10
	}
	return power
}

func moment(r *rand.Rand, n int, key bool) time.Time {
	if key {
		return time.Date(2021, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * 25 * time.Hour)
	}
	return time.Date(2020, 1, 1, 0, 0, r.IntN(150_000_000), 0, time.UTC)
}

func (c *column) number(r *rand.Rand, n int, key bool) any {
	most := map[string]int{"tinyint": 127, "smallint": 32767, "bit": 1}[c.data]
	if most == 0 {
		most = 1_000_000
	}
	if key {
		return 1 + (n*3+r.IntN(3))%most
	}
	return r.IntN(min(most, 1000) + 1)
}

// odd are texts that somebody might escape once too often or too seldom.
var odd = []string{"", "it's", `back\slash`, `"quoted"`, "a,b", "100%", "under_score", "line\nbreak", "nul\x00byte", " spaces "}

func (c *column) text(r *rand.Rand, n int, key bool) string {
	long := c.length
	if strings.HasPrefix(c.charset, "utf8mb4") && c.data == "tinytext" {
		long /= 4
	}
	if key {
		s := strconv.FormatInt(int64(n), 36)
		if long >= 8 {
			s = fmt.Sprintf("%s'%%,%s", s, strconv.FormatInt(int64(r.IntN(36)), 36))
		}
		return cut(s, long)
	}
	s := odd[r.IntN(len(odd))]
	if s != "" {
		s += strconv.Itoa(r.IntN(1000))
	}
	if strings.HasPrefix(c.charset, "utf8") && r.IntN(4) == 0 {
		s += "Zoë"
	}
	return cut(s, long)
}

func cut(s string, long int) string {
	if letters := []rune(s); long > 0 && len(letters) > long {
		return string(letters[:long])
	}
	return s
}

func (c *column) bytes(r *rand.Rand, n int, key bool) []byte {
	long := 12
	if c.length > 0 {
		long = min(c.length, 20)
	}
	b := make([]byte, long)
	for i := range b {
		b[i] = byte(r.IntN(256)) //nolint:gosec // it fits
	}
	if key {
		copy(b, []byte{byte(n), byte(n >> 8)}) //nolint:gosec // the two lower ones of a small number
	}
	return b
}

var quoted = regexp.MustCompile(`'((?:[^']|'')*)'`)

// words are what an ENUM or a SET is made of.
func words(full string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(full, -1) {
		list = append(list, strings.ReplaceAll(m[1], "''", "'"))
	}
	return list
}

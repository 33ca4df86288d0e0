// Package output is how the command and its page write names, numbers, times and tables: what a terminal
// would obey, or what would reorder a line, does not get out.
//
// Open this package when something is printed in the wrong form, by the command or on the page.
package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Grouped writes a number with a comma at each thousand.
func Grouped[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(text) - 3; at > first; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Plural is "1 row", "2 rows".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// RowsAndReferences is "2 rows and 1 reference", or "2 rows" where there are no references.
func RowsAndReferences(rows, references int64) string {
	if references == 0 {
		return Plural(rows, "row")
	}
	return Plural(rows, "row") + " and " + Plural(references, "reference")
}

// AtLeast is a count with a mark where it was capped.
func AtLeast(n int64, capped bool, noun string) string {
	text := Grouped(n)
	if noun != "" {
		text = Plural(n, noun)
	}
	if capped {
		return "≥ " + text
	}
	return text
}

// Moment is a time of the database's clock, UTC, to the second.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// Shorten cuts text to at most n characters.
func Shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// Table prints rows in columns, as wide as they have to be. Columns whose title begins with '>' are numbers,
// set flush right; no line ends with blanks.
func Table(w io.Writer, titles []string, rows [][]string) error {
	head := make([]string, len(titles))
	width := make([]int, len(titles)) // negative: flush left
	for i, title := range titles {
		head[i] = strings.TrimPrefix(title, ">")
	}
	all := append([][]string{head}, rows...)
	for i, title := range titles {
		for _, row := range all {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
		if head[i] == title {
			width[i] = -width[i]
		}
	}
	for _, row := range all {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%*s  ", width[i], cell)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// SumRows adds up rows of tables.
func SumRows(rows map[string]int64) (n int64) {
	for _, v := range rows {
		n += v
	}
	return n
}

// Window says whether rows may be queued by a retention, or when.
func Window(open bool, next time.Time) string {
	switch {
	case open:
		return "open"
	case next.IsZero():
		return "not within 8 days"
	}
	return "from " + Moment(next)
}

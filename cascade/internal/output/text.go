// Package output is how the command and its page write names, numbers, times and tables: what a terminal
// would obey, or what would reorder a line, does not get out.
package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// Grouped writes a number with a comma at each thousand.
func Grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Plural is "1 row", "2 rows".
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
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

// Troubled says that a job's last error tells why it is where it is. One that waits without a failure was
// postponed: its table is gone, say, which is no fault of the job's.
func Troubled(j queue.Job) bool {
	switch j.State {
	case queue.Ready, queue.Dead, queue.Leftovers, queue.Held, queue.OnPause:
		return true
	}
	return j.Failures > 0
}

// RowName is "project 42". Text keys are shown without their encoding.
func RowName(j queue.Job) string {
	return Shorten(Printable(j.Resource)+" "+RowKey(j.ResourceID), 48)
}

// RowKey is an encoded key as a person reads it: "42", "101,1993-09-21", "0x00ff".
func RowKey(encoded string) string {
	parts, err := onerow.DecodeKey(encoded)
	if err != nil {
		return Shorten(Printable(encoded), 48)
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
		if raw, ok := part.([]byte); ok {
			texts[i] = fmt.Sprintf("0x%x", raw)
		}
	}
	return Shorten(Printable(strings.Join(texts, ",")), 48)
}

// Shorten cuts text to at most n characters.
func Shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// Table prints rows in columns. Columns whose title begins with '>' are numbers, set
// flush right; the last column is not padded.
func Table(w io.Writer, titles []string, rows [][]string) error {
	right := make([]bool, len(titles))
	width := make([]int, len(titles))
	head := make([]string, len(titles))
	for i, title := range titles {
		head[i] = strings.TrimPrefix(title, ">")
		right[i] = head[i] != title
	}
	all := append([][]string{head}, rows...)
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			switch {
			case right[i]:
				line.WriteString(pad + cell)
			default:
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
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

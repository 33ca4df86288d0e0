package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Page is what a run prints. The first error of writing ends the printing and is the
// run's error.
type Page struct {
	w   io.Writer
	err error
}

// NewPage returns a page on w.
func NewPage(w io.Writer) *Page { return &Page{w: w} }

// Err is the first error of writing.
func (p *Page) Err() error { return p.err }

// Line prints a line.
func (p *Page) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// Step prints a heading.
func (p *Page) Step(format string, args ...any) {
	p.Line("\n"+format+"\n", args...)
}

// Table prints rows in columns, indented. Columns whose title begins with '>' are
// numbers, set flush right.
func (p *Page) Table(titles []string, rows [][]string) {
	right, width, head := make([]bool, len(titles)), make([]int, len(titles)), make([]string, len(titles))
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
		line := " "
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if right[i] {
				line += " " + pad + cell + " "
			} else {
				line += " " + cell + pad + " "
			}
		}
		p.Line("%s", strings.TrimRight(line, " "))
	}
}

// Number writes a number with a comma at each thousand.
func Number(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Yes is yes or NO.
func Yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "NO"
}

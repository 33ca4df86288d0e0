package kitchen

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/crashtest"
)

// width is that of a session's column.
const width = 46

// cell is something in the column of a session.
type cell struct {
	number string
	copy   string
	lines  []string
	kind   string // of the SVG: said, waits, fails
}

// cells are the steps in the order in which things happened: a statement that waited is answered where the
// other session let it go.
func cells(t crashtest.Trace) (list []cell) {
	late := map[int][]cell{}
	for _, s := range t.Steps {
		c := cell{copy: s.Copy, kind: "said"}
		if s.Number == 0 {
			c.lines = wrap("("+s.Note+")", width)
			list = append(list, c)
			continue
		}
		c.number = fmt.Sprint(s.Number)
		c.lines = wrap(filled(s.SQL, s.Args), width)
		switch said := answer(s); {
		case s.GoesOn > 0:
			c.kind = "waits"
			c.lines = append(c.lines, "⧗ waits for "+s.WaitsFor)
			if s.Lock != "" {
				c.lines = append(c.lines, wrap("⧗ "+s.Lock, width)...)
			}
			late[s.GoesOn] = append(late[s.GoesOn], cell{copy: s.Copy, lines: wrap(fmt.Sprintf("(%d) %s", s.Number, cmp.Or(said, "→ ok")), width), kind: kindOf(s)})
		case said != "":
			c.kind = kindOf(s)
			c.lines = append(c.lines, wrap(said, width)...)
		}
		if s.Note != "" {
			c.kind = "fails"
			c.lines = append(c.lines, wrap("✗ "+s.Note, width)...)
		}
		list = append(list, c)
		list = append(list, late[s.Number]...)
	}
	return list
}

func kindOf(s crashtest.Step) string {
	if s.Err != "" {
		return "fails"
	}
	return "said"
}

// answer is what the session heard.
func answer(s crashtest.Step) string {
	switch {
	case s.Err != "":
		return "→ " + s.Err
	case s.Columns != nil && len(s.Rows) == 0:
		return "→ no row"
	case s.Columns != nil:
		var rows []string
		for _, r := range s.Rows {
			rows = append(rows, strings.Join(r, ", "))
		}
		return "→ " + strings.Join(rows, "; ")
	case s.Changed == 1:
		return "→ 1 row"
	case s.Changed >= 0:
		return fmt.Sprintf("→ %d rows", s.Changed)
	}
	return ""
}

// filled is a statement with its arguments in place of the question marks, of which a text has none.
func filled(sql string, args []string) string {
	var b strings.Builder
	for i, part := range strings.Split(sql, "?") {
		if i > 0 && i <= len(args) {
			a := args[i-1]
			if a != "NULL" && !strings.HasPrefix(a, "#") && strings.Trim(a, "0123456789.-") != "" {
				a = "'" + a + "'"
			}
			b.WriteString(a)
		}
		b.WriteString(part)
	}
	return b.String()
}

func wrap(text string, at int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > at {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// heads are the columns' titles.
func heads(t crashtest.Trace) [2]string {
	if t.Fault != "" {
		return [2]string{"the call", "the call, made again"}
	}
	return [2]string{"session A", "session B"}
}

// text is the trace as a table of two sessions.
func text(t crashtest.Trace) string {
	var b strings.Builder
	line := func(number, left, right string) {
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(left)))
		b.WriteString(strings.TrimRight(fmt.Sprintf("%3s  %s%s | %s", number, left, pad, right), " ") + "\n")
	}
	head := heads(t)
	line("", head[0], head[1])
	line("", strings.Repeat("─", width), strings.Repeat("─", width))
	for _, c := range cells(t) {
		for i, l := range c.lines {
			number := ""
			if i == 0 {
				number = c.number
			}
			if c.copy == "A" {
				line(number, l, "")
			} else {
				line(number, "", l)
			}
		}
	}
	b.WriteString("\n")
	for i, a := range t.Answers {
		fmt.Fprintf(&b, "%s is told: %s\n", []string{"A", "B", "C"}[i], a)
	}
	b.WriteString(strings.TrimRight(plainly(t.Reason)+"\n"+t.Diff, "\n") + "\n")
	return b.String()
}

// verdicts are the reasons of crashtest, and how a page says them.
var verdicts = []struct {
	reason *regexp.Regexp
	plain  string
}{
	{regexp.MustCompile(`^the tables are not those after one call alone; nearest: .*$`), "Wrong: one call would leave the rows with −; these two leave those with +."},
	{regexp.MustCompile(`^the tables are not those after the copies one after the other in any order; nearest: \w+, answers (.*)$`),
		"Wrong: one after the other they would leave the rows with −, and be told: $1. They leave those with +."},
	{regexp.MustCompile(`^the tables are right, the answers .* are not those after .*; nearest: (.*)$`), "The tables are right. The answers are wrong; they should be: $1."},
	{regexp.MustCompile(`^the tables differ from those of the run without faults$`), "Wrong: without the crash there would be the rows with −; there are those with +."},
	{regexp.MustCompile(`^Judge: (.*)$`), "Wrong: $1."},
}

// plainly is why the end is wrong, for a reader who does not know crashtest.
func plainly(reason string) string {
	for _, v := range verdicts {
		if v.reason.MatchString(reason) {
			return v.reason.ReplaceAllString(reason, v.plain)
		}
	}
	return reason
}

// svg is the trace as a picture, with the same words.
func svg(t crashtest.Trace) string {
	const left, column, top, row = 44, 400, 44, 17
	var b strings.Builder
	y := top
	head := heads(t)
	for i, h := range head {
		fmt.Fprintf(&b, `<text class="head" x="%d" y="24">%s</text>`+"\n", left+i*column, h)
	}
	for _, c := range cells(t) {
		x := left
		if c.copy != "A" {
			x += column
		}
		high := len(c.lines)*row + 8
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="4"/>`+"\n", c.kind, x-6, y-2, column-14, high-3)
		if c.number != "" {
			fmt.Fprintf(&b, `<text class="number" x="8" y="%d">%s</text>`+"\n", y+row-5, c.number)
		}
		for i, l := range c.lines {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x, y+row-5+i*row, html.EscapeString(l))
		}
		y += high
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s beside %s, step by step">
<style>text{font:12px ui-monospace,monospace;fill:#1b1f24}.head{font-weight:bold}.number{fill:#57606a}rect{stroke:#8c959f;fill:#fff}.waits{fill:#fff8c5}.fails{fill:#ffebe9}</style>
<rect x="0" y="0" width="%d" height="%d" style="stroke:none;fill:#f6f8fa"/>
%s</svg>
`, left+2*column, y+8, head[0], head[1], left+2*column, y+8, b.String())
}

package main

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A recipe's page shows the schedule that breaks its code as text, which crashtest has found. Here it becomes
// a table that can be stepped through, one for each engine.

// step is one line of a schedule's table: what a session sends, or hears later.
type step struct {
	number string // empty: the answer to an earlier one
	right  bool   // of the second session
	sql    string
	heard  []heard
}

type heard struct{ kind, text string }

// schedule is a trace.
type schedule struct {
	heads [2]string
	steps []step
	end   string
}

// width is that of the first column of a trace's text, its number left out.
const width = 46

// readSchedule reads what package kitchen of the cookbook has written.
func readSchedule(text string) (s schedule, err error) {
	table, end, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(table, "\n")
	if !ok || len(lines) < 3 {
		return s, errors.New("no table and no end")
	}
	s.end = strings.TrimSpace(end)
	for i, line := range lines {
		number, left, right, err := columns(line)
		switch {
		case err != nil:
			return s, fmt.Errorf("line %d: %w", i+1, err)
		case i == 0:
			s.heads = [2]string{left, right}
		case i > 1:
			s.add(number, left+right, right != "")
		}
	}
	return s, nil
}

func columns(line string) (number, left, right string, err error) {
	runes := []rune(line + strings.Repeat(" ", width+8))
	if runes[5+width+1] != '|' && strings.TrimSpace(string(runes[5+width:])) != "" {
		return "", "", "", fmt.Errorf("%q has no second column", line)
	}
	cut := func(from, to int) string { return strings.TrimSpace(string(runes[from:min(to, len(runes))])) }
	return cut(0, 5), cut(5, 5+width), strings.TrimSpace(strings.TrimPrefix(cut(5+width, len(runes)), "|")), nil
}

// late is the answer to a statement that has waited: "(5) → 1 row".
var late = regexp.MustCompile(`^\(\d+\) `)

// marks tell what a session hears from what it sends.
var marks = map[string]string{"→": "answer", "⧗": "waits", "✗": "fails"}

func (s *schedule) add(number, text string, right bool) {
	mark, _, _ := strings.Cut(text, " ")
	last := len(s.steps) - 1
	switch {
	case number != "":
		s.steps = append(s.steps, step{number: number, right: right, sql: text})
	case late.MatchString(text), strings.HasPrefix(text, "("), last < 0 || s.steps[last].right != right:
		s.steps = append(s.steps, step{right: right, heard: []heard{{"answer", text}}})
	case marks[mark] != "":
		kind := marks[mark]
		if strings.Contains(text, "error") || strings.Contains(text, "deadlock") || strings.Contains(text, "duplicate") {
			kind = "fails"
		}
		s.steps[last].heard = append(s.steps[last].heard, heard{kind, text})
	case len(s.steps[last].heard) > 0:
		s.steps[last].heard[len(s.steps[last].heard)-1].text += " " + text
	default:
		s.steps[last].sql += " " + text
	}
}

// plainly is what a page says in place of a sign that few fonts have.
var plainly = strings.NewReplacer("⧗ waits", "… waits", "⧗ ", "for the lock ")

var engines = []struct{ file, name string }{{"trace.mariadb.txt", "MariaDB 10.11"}, {"trace.mariadb-11.txt", "MariaDB 11.8"}, {"trace.mysql.txt", "MySQL 9"}}

// traceBlock is where a page shows its schedule.
var traceBlock = regexp.MustCompile(`(?s)<!-- trace\.mariadb\.txt -->\s*<pre>.*?</pre>`)

// stepped puts the schedules of a recipe's page in place of its text.
func (s *site) stepped(p *page) error {
	var failed error
	p.body = traceBlock.ReplaceAllStringFunc(p.body, func(string) string {
		var b strings.Builder
		b.WriteString(`<div class="schedules">`)
		for _, e := range engines {
			name := path.Join(path.Dir(p.source), e.file)
			text, err := fs.ReadFile(s.files, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it does not break there
			}
			read, err := readSchedule(string(text))
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			}
			b.WriteString(read.html(e.name))
		}
		b.WriteString("</div>")
		return b.String()
	})
	return failed
}

func (s schedule) html(engine string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="schedule" data-engine="%[1]s"><figcaption>%[1]s</figcaption><table><thead><tr><th scope="col"><span class="quiet">step</span></th><th scope="col">%[2]s</th><th scope="col">%[3]s</th></tr></thead><tbody>`,
		html.EscapeString(engine), html.EscapeString(s.heads[0]), html.EscapeString(s.heads[1]))
	for _, st := range s.steps {
		cell := ""
		if st.sql != "" {
			cell = "<code>" + html.EscapeString(st.sql) + "</code>"
		}
		for _, h := range st.heard {
			cell += fmt.Sprintf(`<span class="%s">%s</span>`, h.kind, html.EscapeString(plainly.Replace(h.text)))
		}
		left, right := cell, ""
		if st.right {
			left, right = "", cell
		}
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th><td>%s</td><td>%s</td></tr>`, st.number, left, right)
	}
	fmt.Fprintf(&b, `</tbody></table><pre class="end">%s</pre></figure>`, html.EscapeString(s.end))
	return b.String()
}

package crashtest

import (
	"database/sql/driver"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// normal writes what differs from run to run in a way that does not.
type normal struct {
	drawn map[string]bool
	names map[string]string
}

// newNormal knows the ids that the server has drawn for these tables and statements.
func newNormal(tables []*table, snapshots []snapshot, made []*execution) *normal {
	n := &normal{drawn: map[string]bool{}, names: map[string]string{}}
	for _, snap := range snapshots {
		for i, rows := range snap {
			for _, r := range rows {
				for j, c := range tables[i].columns {
					if c.class == generated {
						n.draw(r[j].String)
					}
				}
			}
		}
	}
	for _, e := range made {
		n.draw(strconv.FormatInt(e.heard.id, 10))
	}
	return n
}

func (n *normal) draw(value string) {
	if id, err := strconv.ParseInt(value, 10, 64); err == nil && id >= firstID {
		n.drawn[value] = true
	}
}

// aTime is what a server or driver writes of a DATETIME or TIMESTAMP; longNumber is what may be an id.
var (
	aTime      = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?`)
	longNumber = regexp.MustCompile(`\d{7,}`)
)

// text has ids as #1, #2 … in the order in which they come, and times as "a time".
func (n *normal) text(s string) string {
	s = aTime.ReplaceAllString(s, "a time")
	return longNumber.ReplaceAllStringFunc(s, func(digits string) string {
		if !n.drawn[digits] {
			return digits
		}
		if n.names[digits] == "" {
			n.names[digits] = fmt.Sprintf("#%d", len(n.names)+1)
		}
		return n.names[digits]
	})
}

func (n *normal) value(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return "a time"
	case []byte:
		if !utf8.Valid(v) || strings.ContainsFunc(string(v), func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Sprintf("(%s)", count(len(v), "byte"))
		}
		return n.text(string(v))
	default:
		return n.text(fmt.Sprint(v))
	}
}

// step is a line of the trace as data.
func (n *normal) step(r traceRow) Step {
	s := Step{Number: r.step, Copy: string(letterOf(r.copy))}
	if r.execution == nil {
		s.Note = strings.TrimSuffix(strings.TrimPrefix(r.text, "("), ")")
		return s
	}
	e := r.execution
	s.Session, s.SQL = e.Session, n.text(strings.Join(strings.Fields(e.SQL), " "))
	for _, a := range e.args {
		s.Args = append(s.Args, n.value(a.Value))
	}
	s.Columns, s.Changed = e.heard.columns, e.heard.changed
	if s.Columns != nil || e.Kind != kindExec || e.heard.err != nil {
		s.Changed = -1
	}
	for _, values := range e.heard.rows {
		var row []string
		for _, v := range values {
			row = append(row, n.value(v))
		}
		s.Rows = append(s.Rows, row)
	}
	if e.heard.err != nil {
		s.Err = n.text(errorMark(e.heard.err))
	}
	s.WaitsFor, s.GoesOn, s.Lock = r.waitsFor, r.goesOn, n.text(r.lock)
	return s
}

// steps are the lines but those that only say that an earlier one goes on, which the earlier one says itself.
// A copy's sessions are numbered in the order in which it used them.
func (n *normal) steps(rows []traceRow) (steps []Step) {
	sessions := map[string]map[int]int{}
	for _, r := range rows {
		if r.execution == nil && strings.HasPrefix(r.text, "(") && r.text[1] >= '0' && r.text[1] <= '9' {
			continue
		}
		s := n.step(r)
		if s.Number > 0 {
			seen := sessions[s.Copy]
			if seen == nil {
				seen = map[int]int{}
				sessions[s.Copy] = seen
			}
			if seen[s.Session] == 0 {
				seen[s.Session] = len(seen) + 1
			}
			s.Session = seen[s.Session]
		}
		steps = append(steps, s)
	}
	return steps
}

package crashtest

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// trace is what happened in one schedule, line by line.
type trace struct {
	rows      []traceRow
	steps     int
	waited    int
	deadlocks int
}

type traceRow struct {
	step int // 0: no step, something seen
	copy int
	text string
	mark string

	execution *execution // nil: no step
	waitsFor  string     // the copies whose locks it waited for
	lock      string     // which, in a run that is recorded
	goesOn    int        // the step after which it was answered, where it waited
}

func (t *trace) step(p *process) {
	t.steps++
	p.row = len(t.rows)
	t.rows = append(t.rows, traceRow{step: t.steps, copy: p.copy, text: p.current.SQL, execution: p.current.execution})
}

// waits marks the line of the statement, or of the one whose rows are being read, and returns it; nil: it was
// known to wait.
func (t *trace) waits(p *process, blockers string) *traceRow {
	row := &t.rows[p.row]
	if row.mark != "" {
		return nil
	}
	t.waited++
	row.mark, row.waitsFor = "waits", blockers
	return row
}

// returned marks the line of the statement, or adds one where others came between.
func (t *trace) returned(p *process, err error) {
	row, mark := &t.rows[p.row], ""
	if err != nil {
		mark = errorMark(err)
	}
	if mysqlerr.Number(err) == 1213 {
		t.deadlocks++
	}
	if row.mark == "" {
		row.mark = mark
		return
	}
	row.goesOn = t.steps
	t.rows = append(t.rows, traceRow{copy: p.copy, text: fmt.Sprintf("(%d) %s", row.step, cmp.Or(mark, "goes on"))})
}

func (t *trace) note(p *process, text string) {
	t.rows = append(t.rows, traceRow{copy: p.copy, text: "(" + text + ")"})
}

func errorMark(err error) string {
	switch n := mysqlerr.Number(err); n {
	case 0:
		return "error: " + oneLine(err.Error(), 40)
	case 1062:
		return "duplicate (1062)"
	case 1205:
		return "lock wait timeout (1205)"
	case 1213:
		return "deadlock (1213)"
	default:
		return fmt.Sprintf("error %d", n)
	}
}

// order is equal for two schedules exactly when the same things happened in the same order.
func (t *trace) order() (h uint64) {
	for _, r := range t.rows {
		h = mix(h, traceRow{step: r.step, copy: r.copy, text: r.text, mark: r.mark})
	}
	return h
}

// table shows a column for each copy and a row for each step.
func (t *trace) table(copies int) string {
	limit, width := 96/copies, 12
	cells := make([]string, len(t.rows))
	for i, r := range t.rows {
		switch {
		case r.step == 0:
			cells[i] = r.text
		case r.mark == "":
			cells[i] = oneLine(r.text, limit)
		default:
			cells[i] = oneLine(r.text, limit-utf8.RuneCountInString(r.mark)-2) + "  " + r.mark
		}
		width = max(width, utf8.RuneCountInString(cells[i]))
	}
	var b strings.Builder
	line := func(number string, column func(copyIndex int) string) {
		text := fmt.Sprintf("%6s", number)
		for i := range copies {
			text += fmt.Sprintf("  | %-*s", width, column(i))
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line("step", func(i int) string { return string(letterOf(i)) })
	for i, r := range t.rows {
		number := strings.TrimPrefix(fmt.Sprint(r.step), "0")
		line(number, func(copyIndex int) string {
			if copyIndex != r.copy {
				return ""
			}
			return cells[i]
		})
	}
	return b.String()
}

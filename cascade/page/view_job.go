package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

type jobView struct {
	ID        int64
	Row       string
	State     string
	Kind      string
	When      string // in words
	Exact     string // the same as a time
	Rows      int64
	Rate      string
	Tables    []tableCount
	Worker    string
	Failures  int
	Error     string
	Progress  *progressView
	Restoring string
	// What can be done about it.
	Retry, Undo, Pause, Resume, First, Cancel, Restore bool
}

type tableCount struct {
	Table string
	Rows  int64
	Of    string // how many there are in all, as far as that is known
}

// progressView is how far a job is, as far as that is known.
type progressView struct {
	Done  int64 // of 1000
	Text  string
	Label string
}

// job puts a job into words. Every text of a row or of an error is made printable here;
// the templates escape it.
func (p viewer) job(b *board, j queue.Job) jobView {
	v := jobView{ID: j.ID, Row: output.RowName(j), State: string(j.State), Rows: j.DeletedRows, Worker: output.Shorten(output.Printable(j.Worker), 60),
		Failures: j.Failures}
	if output.Troubled(j) {
		v.Error = output.Shorten(output.OneLine(j.LastError), 600)
	}
	at := j.DueAt
	switch paused := b.paused(j); {
	case j.State == queue.Running && paused != "":
		v.State, v.Kind, at, v.When = "paused", "wait", j.StartedAt, paused
	case j.State == queue.Running && !b.At.Before(j.DueAt):
		v.State, v.Kind, v.When = "lost", "warn", "its worker’s lease ended "+ago(b.At, j.DueAt)+"; the next worker goes on"
	case j.State == queue.Running:
		v.Kind, at, v.When = "run", j.StartedAt, "began "+ago(b.At, j.StartedAt)
	case j.State == queue.Scheduled:
		v.State, v.Kind, v.When = "in grace", "wait", "goes "+until(b.At, j.DueAt)
	case j.State == queue.Held:
		v.Kind, v.When = "warn", "cancelled, and cannot come back"
	case j.State == queue.OnPause:
		v.Kind, v.When = "wait", "until somebody resumes it"
	case j.State == queue.Ready && j.Failures > 0:
		v.State, v.Kind, v.When = "failed", "warn", "next try "+until(b.At, j.DueAt)
	case j.State == queue.Ready && paused != "":
		v.State, v.Kind, v.When = "paused", "wait", paused
	case j.State == queue.Ready && j.DeletedRows > 0:
		v.State, v.Kind, v.When = "takes turns", "run", "began "+ago(b.At, j.StartedAt)
	case j.State == queue.Ready:
		v.State, v.Kind, v.When = "waiting", "wait", "due "+until(b.At, j.DueAt)
	default:
		at, v.When = j.FinishedAt, "ended "+ago(b.At, j.FinishedAt)
		v.Kind = map[queue.State]string{queue.Done: "good", queue.Dead: "bad", queue.Leftovers: "warn"}[j.State]
	}
	v.Exact = output.Moment(at)
	if rate, known := b.Rates[j.ID]; known && b.underWay(j) {
		v.Rate = perSecond(rate)
	}
	c, counted := p.counts.get(j.ID)
	if counted && j.State.Open() {
		v.Progress = progressOf(b, j, c)
	}
	v.tables(j, c, counted && j.State.Open())
	if p.mayAct {
		v.may(j)
	}
	if of, known := p.restores.get(j.ID); known {
		v.Restoring = restoreText(of)
	}
	return v
}

// may says which buttons there are.
func (v *jobView) may(j queue.Job) {
	open, trouble := j.State.Open(), j.State == queue.Dead || j.State == queue.Leftovers
	v.Retry = trouble || j.State == queue.Held
	v.Undo = j.DeletionID != 0 && (j.State == queue.Scheduled || j.State == queue.Held || j.State == queue.OnPause && j.DeletedRows == 0)
	v.Pause = open && j.State != queue.OnPause && j.State != queue.Held
	v.Resume = j.State == queue.OnPause
	v.First = j.State == queue.Ready
	v.Cancel = !v.Undo && (open || trouble)
}

// tables are what went, and of how many.
func (v *jobView) tables(j queue.Job, c remaining, counted bool) {
	all := map[string]int64{}
	maps.Copy(all, j.Tables)
	for table, left := range c.Tables {
		if counted && left > 0 {
			all[table] = j.Tables[table]
		}
	}
	for table, n := range all {
		t := tableCount{Table: output.Printable(table), Rows: n}
		if total := c.Gone[table] + c.Tables[table]; counted && total >= n {
			t.Of = output.Grouped(total)
			if c.AtLeast {
				t.Of += " or more"
			}
		}
		v.Tables = append(v.Tables, t)
	}
	for table, n := range j.Detached {
		v.Tables = append(v.Tables, tableCount{Table: output.Printable(table) + " (detached)", Rows: n})
	}
	slices.SortFunc(v.Tables, func(a, b tableCount) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Table, b.Table)) })
}

// progressOf says how far a job is: from what was counted below the row at one time, and deleted since.
// Rows that came later are not in it. While a count goes on, or where it was cut, the share is at most what
// is said.
func progressOf(b *board, j queue.Job, c remaining) *progressView {
	total, gone := c.Deleted+c.Left, j.DeletedRows
	left := total - gone
	v := &progressView{Label: fmt.Sprintf("Progress of job %d", j.ID)}
	switch {
	case left <= 0 && !c.AtLeast:
		v.Done, v.Text = 999, map[bool]string{true: "nothing is below it", false: "nearly done"}[total <= 0]
		return v
	case left <= 0 && c.Counting, total <= 0:
		v.Text = "what is left is being counted"
		return v
	case left <= 0:
		v.Text = "how many are left is not known: more than were counted"
		return v
	}
	v.Done = min(999, 1000*gone/total)
	if c.AtLeast {
		v.Text = fmt.Sprintf("under %d %% · %s of at least %s", 100*gone/total+1, output.Grouped(gone), output.Plural(total, "row"))
	} else {
		v.Text = fmt.Sprintf("~%d %% · %s of about %s", 100*gone/total, output.Grouped(gone), output.Plural(total, "row"))
	}
	if rate := b.Rates[j.ID]; rate > 0 && b.underWay(j) {
		v.Text += fmt.Sprintf(" · %s %s left", map[bool]string{true: "at least", false: "about"}[c.AtLeast], roughly(seconds(float64(left)/rate)))
	}
	if c.Counting {
		v.Text += " · counting"
	}
	return v
}

func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, 1e9) * float64(time.Second))
}

func perSecond(rate float64) string {
	switch {
	case rate <= 0:
		return ""
	case rate < 10:
		return fmt.Sprintf("%.1f rows/s", rate)
	}
	return output.Grouped(int64(rate)) + " rows/s"
}

// roughly is a duration as one says it of what is to come: in one unit, rounded up.
func roughly(d time.Duration) string {
	up := func(unit time.Duration) int64 { return int64((d + unit - 1) / unit) }
	switch {
	case d <= 10*time.Second:
		return "10 s"
	case d <= 50*time.Second:
		return fmt.Sprintf("%d s", up(10*time.Second)*10)
	case d <= 90*time.Minute:
		return fmt.Sprintf("%d min", up(time.Minute))
	case d <= 48*time.Hour:
		return fmt.Sprintf("%d h", up(time.Hour))
	}
	return output.Grouped(up(24*time.Hour)) + " days"
}

// span is a duration in one or two units.
func span(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return output.Grouped(int64(d.Hours()/24)) + " days"
}

func ago(now, then time.Time) string {
	switch {
	case then.IsZero():
		return "at an unknown time"
	case now.Sub(then) < time.Second:
		return "just now"
	}
	return span(now.Sub(then)) + " ago"
}

func until(now, then time.Time) string {
	switch d := then.Sub(now); {
	case d <= -time.Second:
		return span(d) + " ago"
	case d < time.Second:
		return "now"
	default:
		return "in " + span(d)
	}
}

package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
)

// job puts a job into words. Every text of a row or of an error is made printable here;
// the templates escape it.
func (p *Page) job(b *board, j cascade.Job) jobView {
	v := jobView{ID: j.ID, Row: output.RowName(j), State: string(j.State), Rows: j.DeletedRows, Worker: output.Shorten(output.Printable(j.Worker), 60),
		Failures: j.Failures}
	if j.Failures > 0 || j.State == cascade.Dead || j.State == cascade.Leftovers || j.State == cascade.Held || j.State == cascade.OnPause {
		v.Error = output.Shorten(output.OneLine(j.LastError), 600)
	}
	for table, n := range j.Tables {
		v.Tables = append(v.Tables, tableCount{output.Printable(table), n})
	}
	for table, n := range j.Detached {
		v.Tables = append(v.Tables, tableCount{output.Printable(table) + " (detached)", n})
	}
	slices.SortFunc(v.Tables, func(a, b tableCount) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Table, b.Table)) })
	at := j.DueAt
	switch j.State {
	case cascade.Running:
		v.Kind, at, v.When = "run", j.StartedAt, "began "+ago(b.At, j.StartedAt)
		if rate, known := b.Rates[j.ID]; known {
			v.Rate = perSecond(rate)
		}
	case cascade.Scheduled:
		v.State, v.Kind, v.When, v.Undo = "in grace", "wait", "goes "+until(b.At, j.DueAt), j.DeletionID != 0 && p.mayAct()
	case cascade.Held:
		v.Kind, v.When, v.Undo, v.Retry = "warn", "cancelled, and cannot come back", j.DeletionID != 0 && p.mayAct(), p.mayAct()
	case cascade.OnPause:
		v.Kind, v.When = "wait", "until somebody resumes it"
	case cascade.Ready:
		v.State, v.Kind, v.When = "waiting", "wait", "due "+until(b.At, j.DueAt)
		if j.Failures > 0 {
			v.State, v.Kind = "failed", "warn"
			v.When = "next try " + until(b.At, j.DueAt)
		}
	default:
		at, v.When = j.FinishedAt, "ended "+ago(b.At, j.FinishedAt)
		v.Kind = map[cascade.State]string{cascade.Done: "good", cascade.Dead: "bad", cascade.Leftovers: "warn"}[j.State]
		if j.State == cascade.Leftovers {
			v.State = "leftovers"
		}
		v.Retry = p.mayAct() && (j.State == cascade.Dead || j.State == cascade.Leftovers)
	}
	v.Exact = output.Moment(at)
	v.Count = p.mayAct() && (j.State == cascade.Running || j.State == cascade.Ready)
	if c, known := b.Counted[j.ID]; known {
		v.Progress = progressOf(b, j, c)
	}
	return v
}

// progressOf says how far a job is, as far as that is known: from what was counted below the row at
// one time and what was deleted since. Rows that came later are not in it.
func progressOf(b *board, j cascade.Job, c remaining) *progressView {
	left := c.Left - (j.DeletedRows - c.Deleted)
	rate := b.Rates[j.ID]
	counted := "counted " + ago(b.At, c.At)
	switch {
	case c.AtLeast && left > 0:
		text := "at least " + output.Plural(left, "row") + " left"
		if rate > 0 {
			text += ", so at least " + span(seconds(float64(left)/rate)) + " more"
		}
		return &progressView{Text: text + " (" + counted + ", not to the end)"}
	case left <= 0:
		return &progressView{Text: "all rows that were counted are gone, the end is not far (" + counted + ")"}
	}
	total := c.Deleted + c.Left
	v := &progressView{Bar: true, Done: 1000 * (total - left) / total, Label: fmt.Sprintf("Progress of job %d", j.ID)}
	v.Text = fmt.Sprintf("%d%% of about %s (%s)", 100*(total-left)/total, output.Plural(total, "row"), counted)
	if rate > 0 {
		v.Text += ", about " + span(seconds(float64(left)/rate)) + " left"
	}
	return v
}

// keyText is a row's key as a person reads it.
func keyText(encoded string) string {
	return strings.TrimSpace(output.RowName(cascade.Job{ResourceID: encoded}))
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

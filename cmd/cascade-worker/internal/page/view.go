package page

import (
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
)

// boardView is a board in words.
type boardView struct {
	At        string // UTC, by the database's clock
	Known     bool   // there is a board to show
	Problem   string // what is shown is old, and why
	Since     string
	MayAct    bool
	Paused    bool
	PausedFor string
	Reason    string
	Rate      string
	Tiles     []tile
	Trouble   []jobView
	MoreDead  int64 // that are not listed
	Parked    []parkedView
	MoreRows  int64
	Running   []jobView
	Waiting   []jobView
	MoreOpen  int64
	Grace     []jobView
	MoreGrace int64
	Ended     []jobView
	Workers   []workerView
	Quiet     bool // nothing was ever deleted here
}

type tile struct {
	Label, Value, Note string
	Kind               string // good, warn, bad or nothing
}

type tableCount struct {
	Table string
	Rows  int64
}

type jobView struct {
	ID       int64
	Row      string
	State    string
	Kind     string
	When     string // in words
	Exact    string // the same as a time
	Rows     int64
	Rate     string
	Tables   []tableCount
	Worker   string
	Failures int
	Error    string
	Progress *progressView
	Retry    bool
	Undo     bool
	Count    bool
}

// progressView is only there when somebody had the rows counted: without that nobody
// knows how many there are, and no bar is shown.
type progressView struct {
	Bar   bool
	Done  int64 // of 1000
	Text  string
	Label string
}

type parkedView struct {
	ID, Job int64
	Table   string
	Key     string
	Error   string
	When    string
	Exact   string
}

type workerView struct {
	Name   string
	This   bool
	Kind   string
	Doing  string
	Job    int64
	Seen   string
	Silent bool
}

// silentAfter is when a worker that does not report is called silent: it reports every
// five seconds.
const silentAfter = 30 * time.Second

// view makes words of what was read.
func (p *Page) view(b *board, since time.Time, problem error) boardView {
	v := boardView{MayAct: p.mayAct(), Known: b != nil}
	if problem != nil {
		v.Problem = output.Shorten(output.OneLine(problem.Error()), 300)
		v.Since = output.Moment(since)
	}
	if b == nil {
		return v
	}
	v.At = output.Moment(b.At)
	if b.Stats.Paused.On {
		v.Paused, v.Reason, v.PausedFor = true, output.Printable(b.Stats.Paused.Reason), ago(b.At, b.Stats.Paused.Since)
	}
	var rate float64
	for _, r := range b.Rates {
		rate += r
	}
	v.Rate = perSecond(rate)
	for _, job := range b.Open {
		view := p.job(b, job)
		switch job.State {
		case cascade.Running:
			v.Running = append(v.Running, view)
		case cascade.Scheduled, cascade.Held, cascade.OnPause:
			v.Grace = append(v.Grace, view)
		default:
			v.Waiting = append(v.Waiting, view)
		}
	}
	for _, job := range b.Trouble {
		v.Trouble = append(v.Trouble, p.job(b, job))
	}
	for _, job := range b.Ended {
		v.Ended = append(v.Ended, p.job(b, job))
	}
	for _, row := range b.Parked {
		v.Parked = append(v.Parked, parkedView{ID: row.ID, Job: row.JobID, Table: output.Printable(row.Table), Key: output.Shorten(keyText(row.Key), 80),
			Error: output.Shorten(output.OneLine(row.Error), 400), When: ago(b.At, row.ParkedAt), Exact: output.Moment(row.ParkedAt)})
	}
	for _, worker := range b.Workers {
		v.Workers = append(v.Workers, p.worker(b, worker))
	}
	v.tiles(b)
	v.Quiet = len(b.Open)+len(b.Ended)+len(b.Trouble) == 0
	return v
}

// tiles are the figures at the top; they count everything, the lists below do not.
func (v *boardView) tiles(b *board) {
	running, waiting, grace := b.Stats.Open[cascade.Running], b.Stats.Open[cascade.Ready], b.Stats.Open[cascade.Scheduled]+b.Stats.Open[cascade.Held]+b.Stats.Open[cascade.OnPause]
	v.MoreOpen = max(0, waiting-int64(len(v.Waiting)))
	v.MoreGrace = max(0, grace-int64(len(v.Grace)))
	v.MoreDead = max(0, b.Stats.Dead+b.Stats.Leftovers-int64(len(v.Trouble)))
	v.MoreRows = max(0, b.Stats.Parked-int64(len(v.Parked)))
	oldest := tile{Label: "Oldest due", Value: "none"}
	if b.Stats.OldestAge > 0 {
		oldest.Value = span(b.Stats.OldestAge)
	}
	v.Tiles = []tile{
		{Label: "Running", Value: output.Grouped(running), Note: v.Rate},
		{Label: "Waiting", Value: output.Grouped(waiting)},
		oldest,
		{Label: "In grace", Value: output.Grouped(grace)},
		bad(tile{Label: "Dead", Value: output.Grouped(b.Stats.Dead)}, b.Stats.Dead, "bad"),
		bad(tile{Label: "With leftovers", Value: output.Grouped(b.Stats.Leftovers)}, b.Stats.Leftovers, "warn"),
		bad(tile{Label: "Parked rows", Value: output.Grouped(b.Stats.Parked)}, b.Stats.Parked, "warn"),
	}
}

func bad(t tile, n int64, kind string) tile {
	if n > 0 {
		t.Kind = kind
	}
	return t
}

func (p *Page) worker(b *board, w cascade.WorkerStatus) workerView {
	v := workerView{Name: output.Shorten(output.Printable(w.Name), 80), This: w.Name == p.work.Name, Seen: ago(b.At, w.SeenAt), Job: w.JobID}
	if v.Job == 0 { // it may have begun since
		for _, job := range b.Open {
			if job.State == cascade.Running && job.Worker == w.Name {
				v.Job = job.ID
				break
			}
		}
	}
	switch {
	case b.At.Sub(w.SeenAt) > silentAfter:
		v.Kind, v.Doing, v.Silent = "bad", "silent", true
	case w.Throttle != "":
		v.Kind, v.Doing = "warn", "held back: "+output.Shorten(output.OneLine(w.Throttle), 200)
	case v.Job != 0:
		v.Kind, v.Doing = "run", "deleting"
	default:
		v.Doing = "idle"
	}
	return v
}

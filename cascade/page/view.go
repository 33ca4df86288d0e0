package page

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

type boardView struct {
	At        string // UTC, by the database's clock
	Known     bool   // there is a board to show
	Problem   string // what is shown is old, and why
	Since     string
	MayAct    bool
	Paused    bool
	PausedFor string
	PausedBy  string
	Reason    string
	Rate      string
	Tiles     []tile
	Charts    []chartView
	Resources []pausedView
	Trouble   []groupView
	MoreDead  int64 // that are not listed
	Dead      bool  // there are dead jobs
	Parked    []groupView
	MoreRows  int64
	Keys      []keysWaiting
	Running   []jobView
	Waiting   []jobView
	MoreOpen  int64
	Grace     []jobView
	MoreGrace int64
	Scheduled []string // resources of which something is in its grace period
	Ended     []jobView
	Restoring []restoringView
	Workers   []workerView
	Settings  []string
	Names     []string // of the plan's resources
	Empty     fact     // what is said when no job is open
	Notice    string   // why nothing goes on although there is something to do
}

type pausedView struct{ Name, Reason, Since, By string }

// keysWaiting leads to the idempotency keys that wait for somebody.
type keysWaiting struct{ What, Text, Kind string }

type restoringView struct {
	ID        int64
	Row, Text string
	Bad       bool
}

type tile struct {
	Label, Value, Note string
	Kind               string // good, warn, bad or nothing
}

type workerView struct {
	Name  string
	This  bool
	Kind  string
	Doing string
	Note  string // how it is set
	Job   int64
	Seen  string
}

// viewer is the page as one looks at it who may press buttons, or may not.
type viewer struct {
	*Page
	mayAct bool
}

func (p *Page) as(r *http.Request) viewer { return viewer{p, p.mayAct(r)} }

func (p viewer) view(b *board, since time.Time, problem error) boardView {
	v := boardView{MayAct: p.mayAct, Known: b != nil}
	if problem != nil {
		v.Problem = output.Shorten(output.OneLine(problem.Error()), 300)
		v.Since = output.Moment(since)
	}
	if b == nil {
		return v
	}
	v.At = output.Moment(b.At)
	if b.Stats.Paused.On {
		v.Paused, v.Reason, v.PausedFor, v.PausedBy = true, output.Printable(b.Stats.Paused.Reason), ago(b.At, b.Stats.Paused.Since), output.Printable(b.PausedBy[""])
	}
	for _, r := range b.Stats.Resources {
		v.Resources = append(v.Resources, pausedView{output.Printable(r.Resource), output.Printable(r.Reason), ago(b.At, r.Since), output.Printable(b.PausedBy[r.Resource])})
	}
	var rate float64
	for _, r := range b.Rates {
		rate += r
	}
	v.Rate = perSecond(rate)
	p.open(&v, b)
	v.Dead = b.Stats.Dead > 0
	v.Trouble, v.Parked = p.jobGroups(b, b.Trouble), p.rowGroups(b, b.Parked)
	for _, job := range b.Ended {
		v.Ended = append(v.Ended, p.job(b, job))
	}
	alive := false
	for _, worker := range b.Workers {
		view := p.worker(b, worker)
		v.Workers = append(v.Workers, view)
		alive = alive || view.Kind != "bad"
	}
	for _, s := range b.Settings {
		v.Settings = append(v.Settings, "Set for "+whose(s.Worker)+": "+settingText(s))
	}
	for _, n := range p.plan.Nodes() {
		if n.Managed {
			v.Names = append(v.Names, n.Name)
		}
	}
	restores := p.restores.all()
	for _, id := range slices.Sorted(maps.Keys(restores)) {
		if of := restores[id]; !of.Ended {
			v.Restoring = append(v.Restoring, restoringView{ID: id, Row: of.Row, Text: restoreText(of)})
		}
	}
	v.Keys = keysOf(b)
	v.Charts = p.charts()
	v.tiles(b)
	v.explain(b, alive)
	return v
}

// keysOf says how many idempotency keys wait for somebody.
func keysOf(b *board) (list []keysWaiting) {
	for _, k := range []struct {
		n                     int
		what, one, many, kind string
	}{{b.Errored, "errored", "failed and needs attention", "failed and need attention", "bad"}, {b.Overdue, "overdue", "is overdue", "are overdue", "warn"}} {
		text := map[bool]string{true: k.one, false: k.many}[k.n == 1]
		text = output.Plural(int64(k.n), "idempotency key") + " " + text
		if k.n == showKeys {
			text = "At least " + text
		}
		if k.n > 0 {
			list = append(list, keysWaiting{k.what, text, k.kind})
		}
	}
	return list
}

// open sorts the open jobs by what becomes of them next.
func (p viewer) open(v *boardView, b *board) {
	for _, job := range b.Open {
		view := p.job(b, job)
		switch job.State {
		case queue.Running:
			v.Running = append(v.Running, view)
		case queue.Scheduled, queue.Held, queue.OnPause:
			v.Grace = append(v.Grace, view)
			if job.State == queue.Scheduled && !slices.Contains(v.Scheduled, job.Resource) {
				v.Scheduled = append(v.Scheduled, job.Resource)
			}
		default:
			v.Waiting = append(v.Waiting, view)
		}
	}
}

// explain puts into words why nothing is shown, or nothing goes on.
func (v *boardView) explain(b *board, alive bool) {
	due := b.Stats.Open[queue.Running] + b.Stats.Open[queue.Ready]
	trouble := b.Stats.Dead + b.Stats.Leftovers
	switch {
	case due > 0 && !v.Paused && !alive:
		v.Notice = "No worker is running, so nothing of this is worked. Start one: cascade-worker run"
	case trouble > 0:
		v.Empty = fact{"Nothing is due.", capital(output.Plural(trouble, "job")) + " above " + map[bool]string{true: "needs", false: "need"}[trouble == 1] + " somebody."}
	case len(b.Open)+len(b.Ended) == 0:
		v.Empty = fact{"No job yet.", "Queue one: cascade-worker enqueue RESOURCE ID"}
	case v.Paused:
		v.Empty = fact{"Nothing is due.", "All workers are paused: what comes due waits."}
	case !alive:
		v.Empty = fact{"Nothing is due.", "No worker is running: what comes due waits for one."}
	default:
		v.Empty = fact{"Nothing to do.", "Every job that was due is worked."}
	}
}

// tiles are the figures at the top; they count everything, the lists below do not.
func (v *boardView) tiles(b *board) {
	running, waiting, grace := b.Stats.Open[queue.Running], b.Stats.Open[queue.Ready], b.Stats.Open[queue.Scheduled]+b.Stats.Open[queue.Held]+b.Stats.Open[queue.OnPause]
	v.MoreOpen = max(0, waiting-int64(len(v.Waiting)))
	v.MoreGrace = max(0, grace-int64(len(v.Grace)))
	v.MoreDead = max(0, b.Stats.Dead+b.Stats.Leftovers-int64(len(b.Trouble)))
	v.MoreRows = max(0, b.Stats.Parked-int64(len(b.Parked)))
	oldest := tile{Label: "Oldest due", Value: "none"}
	if b.Stats.OldestAge > 0 {
		oldest.Value = span(b.Stats.OldestAge)
	}
	note := v.Rate
	if v.Paused && running > 0 {
		note = "paused"
	}
	v.Tiles = []tile{
		{Label: "Running", Value: output.Grouped(running), Note: note},
		{Label: "Waiting", Value: output.Grouped(waiting)},
		oldest,
		{Label: "In grace", Value: output.Grouped(grace)},
		withKind(tile{Label: "Dead", Value: output.Grouped(b.Stats.Dead)}, b.Stats.Dead, "bad"),
		withKind(tile{Label: "With leftovers", Value: output.Grouped(b.Stats.Leftovers)}, b.Stats.Leftovers, "warn"),
		withKind(tile{Label: "Parked rows", Value: output.Grouped(b.Stats.Parked)}, b.Stats.Parked, "warn"),
	}
}

// withKind marks a tile that counts anything.
func withKind(t tile, n int64, kind string) tile {
	if n > 0 {
		t.Kind = kind
	}
	return t
}

// silentAfter is when a worker is missed: it reports every five seconds, but for a batch that takes longer.
const silentAfter = 12 * time.Second

// worker puts a worker into words. One that was killed holds its job until the lease ends, and is gone then.
func (p *Page) worker(b *board, w admin.WorkerStatus) workerView {
	v := workerView{Name: output.Shorten(output.Printable(w.Name), 80), This: w.Name == p.name, Seen: ago(b.At, w.SeenAt)}
	var lease time.Time // of the job that it has, until when
	for _, job := range b.Open {
		if job.State == queue.Running && job.Worker == w.Name && job.DueAt.After(lease) {
			v.Job, lease = job.ID, job.DueAt
		}
	}
	throttle := output.Shorten(output.OneLine(w.Throttle), 200)
	switch missed := b.At.Sub(w.SeenAt) > silentAfter; {
	case missed && lease.After(b.At):
		v.Kind, v.Doing = "warn", "silent; its lease ends "+until(b.At, lease)
	case missed || !lease.IsZero() && !lease.After(b.At):
		v.Kind, v.Doing = "bad", "gone"
	case b.Stats.Paused.On, governor.KindOf(w.Throttle) == "paused":
		v.Kind, v.Doing = "wait", "paused"
	case governor.KindOf(w.Throttle) == "load": // as somebody wanted it, or for users
		v.Kind, v.Doing, v.Note = "run", "deleting", strings.TrimPrefix(throttle, "load: ")
	case throttle != "":
		v.Kind, v.Doing = "warn", "held back: "+throttle
	case v.Job != 0:
		v.Kind, v.Doing = "run", "deleting"
	default:
		v.Doing = "idle"
	}
	return v
}

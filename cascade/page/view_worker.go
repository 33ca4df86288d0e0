package page

import (
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

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

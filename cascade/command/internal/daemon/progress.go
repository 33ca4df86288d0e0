package daemon

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// progress shows how a drain goes on: as a bar on a terminal, else as a line now and
// then. It is a writer too, for logs, which must not be written into the bar, and a
// receiver of events: what a job counts includes the rows that earlier runs have deleted, a batch does not.
type progress struct {
	out  io.Writer
	bars *mpb.Progress // nil: plain lines
	bar  *mpb.Bar

	mu    sync.Mutex // not held while the bar is told anything: drawing takes it, too
	total int        // jobs, as far as they are known
	jobs  map[int64]queue.Job
	rows  int64     // deleted by this drain
	now   string    // which job is being worked
	last  time.Time // of the last plain line
	err   error     // why a plain line could not be written
}

func newProgress(out io.Writer, terminal bool) *progress {
	p := &progress{out: out, jobs: map[int64]queue.Job{}}
	if terminal {
		p.bars = mpb.New(mpb.WithOutput(out), mpb.WithAutoRefresh(), mpb.WithRefreshRate(100*time.Millisecond))
	}
	return p
}

// Write writes a log line: above the bar, while there is one.
func (p *progress) Write(line []byte) (int, error) {
	if p.bars != nil {
		return p.bars.Write(line)
	}
	return p.out.Write(line)
}

// begin starts to show. total is how many jobs are due.
func (p *progress) begin(total int) {
	p.mu.Lock()
	p.total = total
	p.mu.Unlock()
	if p.bars == nil || total == 0 {
		return
	}
	p.bar = p.bars.New(int64(total), mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.sum().head() + " " })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + p.sum().tail() }), decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})),
	)
}

// event counts a batch's rows, which is told before its job's progress, and shows that.
func (p *progress) event(e cascade.Event) {
	switch e := e.(type) {
	case cascade.Batch:
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, rows := range e.Deleted {
			p.rows += rows
		}
	case cascade.Progress:
		p.job(e.Job)
	}
}

// job shows a job after each of its batches, and at its end.
func (p *progress) job(j queue.Job) {
	p.mu.Lock()
	p.jobs[j.ID] = j
	p.now = output.RowName(j)
	p.total = max(p.total, len(p.jobs))
	plain := p.bars == nil && time.Since(p.last) >= shell.PlainEvery
	if plain {
		p.last = time.Now()
	}
	p.mu.Unlock()

	sum := p.sum()
	if p.bar != nil {
		p.bar.SetTotal(int64(sum.total), false)
		p.bar.SetCurrent(int64(sum.ended()))
	}
	if plain && p.err == nil {
		// The work goes on when nobody can read this.
		if _, err := fmt.Fprintf(p.out, "%s, %s\n", sum.head(), sum.tail()); err != nil {
			p.err = fmt.Errorf("write the progress: %w", err)
		}
	}
}

// end removes the bar, so that the summary stands alone. The error says that progress
// could not be written.
func (p *progress) end() error {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bar = nil
	}
	if p.bars != nil {
		p.bars.Wait()
		p.bars = nil
	}
	err := p.err
	p.err = nil // it is told once
	return err
}

// sum counts the jobs that this drain has worked on, as they were last seen.
func (p *progress) sum() (s tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.total, s.now, s.rows = p.total, p.now, p.rows
	for _, j := range p.jobs {
		switch {
		case j.State == queue.Done:
			s.done++
		case j.State == queue.Leftovers:
			s.left++
		case j.State == queue.Dead:
			s.dead++
		case j.State == queue.Ready && j.Failures > 0:
			s.failed++
		}
	}
	return s
}

// tally is the state of a drain in figures.
type tally struct {
	total, done, dead int
	failed            int   // jobs that will be tried again
	left              int   // jobs that have ended with leftovers
	rows              int64 // deleted below the roots of these jobs, by this drain
	now               string
}

func (s tally) ended() int { return s.done + s.left + s.dead + s.failed }

func (s tally) head() string {
	return fmt.Sprintf("%s/%s", output.Grouped(s.ended()), output.Plural(s.total, "job"))
}

func (s tally) tail() string {
	if s.now == "" {
		return "0 rows"
	}
	return output.Plural(s.rows, "row") + ", now " + s.now
}

// summary is the last line of a drain.
func (s tally) summary(took time.Duration, due, later int, counted bool) string {
	line := fmt.Sprintf("%s done, %s deleted below them in %s", output.Plural(s.done, "job"), output.Plural(s.rows, "row"), took.Round(10*time.Millisecond))
	if s.failed > 0 {
		line += fmt.Sprintf("; %s failed, to be tried again", output.Grouped(s.failed))
	}
	if s.left > 0 {
		line += fmt.Sprintf("; %s with leftovers", output.Plural(s.left, "job"))
	}
	if s.dead > 0 {
		line += fmt.Sprintf("; %s dead", output.Grouped(s.dead))
	}
	switch {
	case !counted:
	case due == 0 && later == 0:
		line += "; the queue is empty"
	default:
		line += fmt.Sprintf("; %s due, %s for later", output.Grouped(due), output.Grouped(later))
	}
	return line
}

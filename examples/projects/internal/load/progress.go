package load

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and a line now and then elsewhere.
type progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar

	mu          sync.Mutex
	out         io.Writer
	what        string
	done, total int
	begin, last time.Time
}

const (
	barWidth  = 60
	lineEvery = 2 * time.Second
)

func newProgress(out io.Writer, what string, total int) *progress {
	p := &progress{out: out, what: what, total: total, begin: time.Now(), last: time.Now()}
	f, ok := out.(*os.File)
	if !ok || total == 0 || !term.IsTerminal(int(f.Fd())) { //nolint:gosec // a file descriptor is an int
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(barWidth))
	p.bar = p.bars.AddBar(int64(total),
		mpb.PrependDecorators(decor.Name(what+" "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

func (p *progress) add(n int) {
	if p.bar != nil {
		p.bar.IncrBy(n)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if time.Since(p.last) >= lineEvery && p.done < p.total {
		p.line()
	}
}

// line prints where it is. What cannot be printed is missed by nobody.
func (p *progress) line() {
	p.last = time.Now()
	if _, err := fmt.Fprintf(p.out, "%d / %d %s, %.0f per second\n", p.done, p.total, p.what, float64(p.done)/time.Since(p.begin).Seconds()); err != nil {
		p.last = p.last.Add(time.Hour)
	}
}

// end completes the bar, also where the work was broken off.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(false)
		p.bars.Wait()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line()
}

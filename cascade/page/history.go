package page

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
)

// Points of the queue are kept in this process, a point a minute for a day: they begin with Run, and end
// with the process.
const (
	historyEvery = time.Minute
	historyKept  = 24 * 60 // points
)

// point is the queue at one minute. Of one that could not be read nothing is known.
type point struct {
	known  bool
	ended  int64 // jobs, in the minute before
	oldest time.Duration
}

// history is a ring of points: next is the oldest one's place, once the ring is full.
type history struct {
	mu   sync.Mutex
	ring []point
	next int
}

func (h *history) add(one point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ring) < historyKept {
		h.ring = append(h.ring, one)
		return
	}
	h.ring[h.next] = one
	h.next = (h.next + 1) % historyKept
}

// all are the points, the oldest first.
func (h *history) all() []point {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append(append([]point{}, h.ring[h.next:]...), h.ring[:h.next]...)
}

// remember adds a point a minute, until ctx ends.
func (p *Page) remember(ctx context.Context) {
	tick := time.NewTicker(historyEvery)
	defer tick.Stop()
	for {
		p.note(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// note adds a point. One statement.
func (p *Page) note(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readBudget)
	defer cancel()
	s, err := admin.ReadStats(ctx, p.db)
	p.history.add(point{known: err == nil, ended: s.Ended, oldest: s.OldestAge})
}

// chartView is a curve, and what it says in words.
type chartView struct {
	Label string // what it shows
	Most  string // the highest point
	Now   string // the last point
	Text  string // for those who do not see it
	Path  string // of an SVG of chartWidth by chartHeight
	Since string
}

const (
	chartWidth  = 600
	chartHeight = 60
	chartSteps  = 120 // of a curve, at most: the highest of so many minutes is drawn
)

// charts are the curves of the board; none while there are not two points.
func (p *Page) charts() []chartView {
	points := p.history.all()
	if len(points) < 2 {
		return nil
	}
	ended := func(one point) float64 { return float64(one.ended) }
	oldest := func(one point) float64 { return one.oldest.Seconds() }
	return []chartView{
		chart("Jobs that ended, a minute", points, ended, func(n float64) string { return output.Grouped(int64(n)) }),
		chart("Age of the oldest due job", points, oldest, func(n float64) string {
			if n <= 0 {
				return "none due"
			}
			return span(seconds(n))
		}),
	}
}

// chart draws what of gives for each point, with gaps where nothing is known.
func chart(label string, points []point, of func(point) float64, words func(float64) string) chartView {
	v := chartView{Label: label, Now: "not known", Since: span(time.Duration(len(points)-1) * historyEvery)}
	width := (len(points) + chartSteps - 1) / chartSteps
	var steps []point // with the highest of its points
	most := 0.0
	for i := 0; i < len(points); i += width {
		step := point{}
		for _, one := range points[i:min(i+width, len(points))] {
			if one.known && (!step.known || of(one) > of(step)) {
				step = one
			}
		}
		steps = append(steps, step)
		most = max(most, of(step))
	}
	if last := points[len(points)-1]; last.known {
		v.Now = words(of(last))
	}
	v.Most = words(most)
	v.Text = fmt.Sprintf("%s, over the last %s: at most %s; now %s", label, v.Since, v.Most, v.Now)
	v.Path = curve(steps, of, most)
	return v
}

// curve leads through the steps, in the coordinates of the drawing.
func curve(steps []point, of func(point) float64, most float64) string {
	var d strings.Builder
	begins := true
	for i, step := range steps {
		if !step.known {
			begins = true
			continue
		}
		x, y := 0.0, float64(chartHeight-1)
		if len(steps) > 1 {
			x = chartWidth * float64(i) / float64(len(steps)-1)
		}
		if most > 0 {
			y -= (chartHeight - 2) * of(step) / most
		}
		letter := "L"
		if begins {
			letter = "M"
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", letter, x, y)
		if begins && (i+1 == len(steps) || !steps[i+1].known) {
			d.WriteString("h1") // a point by itself
		}
		begins = false
	}
	return d.String()
}

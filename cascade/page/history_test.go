package page

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHistoryIsBounded: a day is kept, the oldest point goes first.
func TestHistoryIsBounded(t *testing.T) {
	var h history
	for i := range int64(historyKept) + 10 {
		h.add(point{known: true, ended: i})
	}
	all := h.all()
	if len(all) != historyKept || all[0].ended != 10 || all[historyKept-1].ended != historyKept+9 {
		t.Errorf("%d points, from %d to %d", len(all), all[0].ended, all[len(all)-1].ended)
	}
	for i := 1; i < len(all); i++ {
		if all[i].ended != all[i-1].ended+1 {
			t.Fatalf("point %d is out of order", i)
		}
	}
}

// TestChart: the highest point of a step is drawn, nothing where nothing is known, and all is said in words.
func TestChart(t *testing.T) {
	p := &Page{}
	if got := p.charts(); got != nil {
		t.Errorf("nothing is known, and there is %v", got)
	}
	for _, one := range []point{{known: true, ended: 4, oldest: 90 * time.Second}, {}, {known: true, ended: 8}, {known: true, ended: 2, oldest: time.Hour}} {
		p.history.add(one)
	}
	got := p.charts()
	if want := "Jobs that ended, a minute, over the last 3 min: at most 8; now 2"; got[0].Text != want {
		t.Errorf("%q, want %q", got[0].Text, want)
	}
	if want := "M0.0 30.0h1M400.0 1.0L600.0 44.5"; got[0].Path != want {
		t.Errorf("%q, want %q", got[0].Path, want)
	}
	if want := "Age of the oldest due job, over the last 3 min: at most 60 min; now 60 min"; got[1].Text != want && got[1].Text != strings.ReplaceAll(want, "60 min", "1 h 0 min") {
		t.Errorf("%q, want %q", got[1].Text, want)
	}
	for range historyKept {
		p.history.add(point{known: true})
	}
	p.history.add(point{known: true, ended: 77})
	p.history.add(point{known: true})
	got = p.charts()
	if n := strings.Count(got[0].Path, "L") + 1; n != chartSteps {
		t.Errorf("%d steps are drawn", n)
	}
	if got[0].Most != "77" || !strings.Contains(got[0].Path, "600.0 1.0") || got[1].Most != "none due" {
		t.Errorf("%+v", got)
	}
}

// TestHistoryIsReadByRun: without Run nothing is read; a server that is away leaves a gap.
func TestHistoryIsReadByRun(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	j := d.shelf(1, 1, 0)
	d.dead(j.ID, "e")
	d.shelf(2, 1, 0)
	if body := d.says(d.get("/", by(annsToken)), http.StatusOK); strings.Contains(body, "<svg") {
		t.Error("there is a curve without Run")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { d.Run(ctx); close(ended) }()
	for len(d.history.all()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	<-ended
	if all := d.history.all(); len(all) != 1 || all[0].ended != 1 || all[0].oldest <= 0 {
		t.Errorf("%+v", all)
	}
	d.note(ctx) // which has ended
	d.note(t.Context())
	if all := d.history.all(); len(all) != 3 || all[1].known || !all[2].known {
		t.Errorf("%+v", all)
	}
	d.watch.changed()
	d.says(d.get("/live", by(annsToken)), http.StatusOK, `<svg`, `role="img"`, "Jobs that ended, a minute, over the last 2 min: at most 1; now 1", fmt.Sprintf(`viewBox="0 0 %d %d"`, chartWidth, chartHeight))
}

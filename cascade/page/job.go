package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// reportView is the page of one job: what became of the deletion, for whoever asked for it.
type reportView struct {
	jobView
	Facts   []fact
	Left    []groupView
	MoreRow int64
	Trash   []admin.Kept
	Actions []fact
}

// fact is a line of the report.
type fact struct{ Name, Text string }

func (p *Page) oneJob(ctx context.Context, r *http.Request) (any, error) {
	id := addressed(r)
	report, err := admin.ReadReport(ctx, p.db, 0, id)
	switch {
	case errors.Is(err, queue.ErrNoJob), err == nil && report.Job == nil:
		return nil, notFound("There is no job %d, or it was purged.", id)
	case err != nil:
		return nil, err
	}
	b, err := p.watch.now(ctx)
	if err != nil {
		return nil, err
	}
	return p.as(r).report(b, report), nil
}

func (p viewer) report(b *board, r admin.Report) reportView {
	j := *r.Job
	v := reportView{jobView: p.job(b, j), Trash: r.Trash}
	add := func(name, format string, args ...any) {
		v.Facts = append(v.Facts, fact{name, fmt.Sprintf(format, args...)})
	}
	if r.Owner != "" {
		add("Owner", "%s", output.Printable(output.RowKey(r.Owner)))
	}
	switch {
	case r.RequestedAt.IsZero():
		add("Asked for", "unknown: the deletion was not logged, or its audit was purged")
	default:
		add("Asked for", "%s by %s", moment(r.RequestedAt), output.OrUnknown(r.Actor))
		if r.Reason != "" {
			add("Why", "%s", output.OneLine(r.Reason))
		}
	}
	for _, t := range []struct {
		name string
		at   time.Time
	}{{"Queued", j.CreatedAt}, {"Begun", j.StartedAt}, {"Ended", j.FinishedAt}} {
		if !t.at.IsZero() {
			add(t.name, "%s", moment(t.at))
		}
	}
	if r.DeletionID != 0 {
		add("Deletion", "%d", r.DeletionID)
	}
	if j.Plan != "" {
		add("Plan", "%s", j.Plan)
	}
	if j.Skipped > 0 {
		add("Skipped", "%s", output.Plural(j.Skipped, "row"))
	}
	open := slices.DeleteFunc(slices.Clone(r.Left), func(row queue.Parked) bool { return row.Skipped })
	v.Left, v.MoreRow = p.rowGroups(b, open), max(0, j.Parked-int64(len(open)))
	for _, act := range slices.Backward(r.Actions) {
		v.Actions = append(v.Actions, fact{moment(act.At), output.ActionText(act)})
	}
	v.Restore = p.mayAct && len(v.Trash) > 0 && v.Restoring == ""
	return v
}

func moment(t time.Time) string { return output.Moment(t) + " UTC" }

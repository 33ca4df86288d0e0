package operate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/erasure"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// Report says what became of a deletion.
type Report struct {
	Job      *int64 `arg:"" optional:"" name:"job" help:"The job's number, as jobs prints it."`
	Deletion int64  `placeholder:"DELETION" help:"Instead: the deletion's number, deletion_id in jobs --json."`
	Recent   int    `placeholder:"N" help:"Instead: the newest N actions of all, pauses among them."`
	JSON     bool   `name:"json" help:"Print a JSON object, or an array of actions."`

	Certificate bool `help:"Add what the plan says of each reference, what is left in the tables, and what is not over."`
	shell.PlanFlag
}

// Validate wants one thing to report on.
func (c *Report) Validate() error {
	switch {
	case c.Job != nil && *c.Job < 0, c.Deletion < 0, c.Recent < 0, c.Job == nil && c.Deletion == 0 && c.Recent == 0:
		return usage.Errorf("say which job or deletion, by its number: see %s jobs", output.ProgramName)
	case c.Job != nil && c.Deletion > 0, c.Recent > 0 && (c.Job != nil || c.Deletion > 0):
		return usage.Errorf("give a job, a deletion or --recent, not more than one of them")
	case c.Certificate && c.Recent > 0:
		return usage.Errorf("a certificate is of one deletion")
	}
	return nil
}

// Run prints the report.
func (c *Report) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	if c.Recent > 0 {
		return c.recent(ctx, a, db)
	}
	r, err := c.read(ctx, db)
	switch {
	case err != nil:
		return err
	case c.Certificate:
		plan, err := a.Plan()
		if err != nil {
			return err
		}
		return erasure.Certify(ctx, a, db, plan, r, reportText(r), c.JSON)
	case c.JSON:
		return shell.PrintJSON(a, r)
	}
	return a.Print(reportText(r))
}

// recent prints the newest actions of all.
func (c *Report) recent(ctx context.Context, a *shell.App, db onerow.DB) error {
	list, err := queue.ListActions(ctx, db, 0, 0, c.Recent)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return shell.PrintJSON(a, list)
	case len(list) == 0:
		return a.Note("nobody has done anything yet, or did not say who it was")
	}
	for _, act := range list {
		what := ""
		if act.Resource != "" {
			what = " (" + output.RowName(queue.Job{Resource: act.Resource, ResourceID: act.ResourceID}) + ")"
		}
		if err == nil {
			err = a.Say("%s%s", actionLine(act), what)
		}
	}
	return err
}

func (c *Report) read(ctx context.Context, db onerow.DB) (admin.Report, error) {
	job := shell.OrZero(c.Job) // not looked at where there is a deletion
	r, err := admin.ReadReport(ctx, db, c.Deletion, job)
	switch {
	case !errors.Is(err, queue.ErrNoJob):
	case c.Deletion == 0:
		err = output.Said(fmt.Sprintf("there is no job %d, or it was purged: see %s jobs", job, output.ProgramName), err)
	default:
		err = output.Said(fmt.Sprintf("there is no deletion %d, or its audit was purged: see deletion_id in %s jobs --json", c.Deletion, output.ProgramName), err)
	}
	return r, err
}

// reportLines are a report as lines, each of a title and what there is to say. A title is not repeated.
type reportLines struct {
	text  strings.Builder
	title string
}

func (b *reportLines) line(title, format string, args ...any) {
	shown := title
	if title == b.title {
		shown = ""
	}
	b.title = title
	fmt.Fprintf(&b.text, "%-13s %s\n", shown, fmt.Sprintf(format, args...))
}

// reportText puts a report into words.
func reportText(r admin.Report) string {
	var b reportLines
	b.line("row", "%s", output.RowName(queue.Job{Resource: r.Resource, ResourceID: r.ResourceID}))
	if r.Owner != "" {
		b.line("owner", "%s", output.RowKey(r.Owner))
	}
	if r.RequestedAt.IsZero() {
		b.line("asked for", "unknown: the deletion was not logged, or its audit was purged")
	} else {
		b.line("asked for", "%s by %s", output.Moment(r.RequestedAt), output.OrUnknown(r.Actor))
		b.line("why", "%s", output.OrUnknown(r.Reason))
	}
	if r.DeletionID != 0 {
		b.line("deletion", "%d", r.DeletionID)
	}
	b.job(r)
	if len(r.Trash) == 0 {
		b.line("in the trash", "nothing")
	}
	for _, k := range r.Trash {
		what := output.RowsAndReferences(k.Rows, k.References)
		if k.Stuck > 0 {
			what += fmt.Sprintf(" (%s could not come back: %s)", output.Grouped(k.Stuck), output.OneLine(k.Why))
		}
		b.line("in the trash", "%s of %s, the first until %s", what, output.Printable(k.Table), output.Moment(k.Expires))
	}
	for _, act := range r.Actions {
		b.line("done", "%s", actionLine(act))
	}
	return b.text.String()
}

// job says what the job has deleted, what has come back since, and what it could not delete.
func (b *reportLines) job(r admin.Report) {
	j := r.Job
	if j == nil {
		b.line("job", "unknown: nothing was queued, or it was purged; what went is not known any more")
		return
	}
	what := ""
	if j.DeletionID != r.DeletionID {
		what = fmt.Sprintf(", that of the earlier deletion %d: it was still open", j.DeletionID)
	}
	b.line("job", "%d, %s%s", j.ID, jobState(*j), what)
	b.line("begun", "%s", output.Moment(j.StartedAt))
	b.line("ended", "%s", output.Moment(j.FinishedAt))
	if j.Plan != "" {
		b.line("plan", "%s", j.Plan)
	}
	if j.LastError != "" {
		b.line("last error", "%s", output.OneLine(j.LastError))
	}
	if j.DeletedRows == 0 {
		b.line("deleted", "nothing below the row")
	}
	rows, references := map[string]int64{}, map[string]int64{}
	for _, t := range r.Restored {
		rows[t.Table], references[t.Table] = t.Rows, t.References
	}
	b.counted("deleted", j.Tables, rows)
	b.counted("detached", j.Detached, references)
	if len(r.Restored) > 0 {
		b.line("restored", "%s; the row's own, where it has come back, is among them", output.RowsAndReferences(output.SumRows(rows), output.SumRows(references)))
	}
	for _, p := range r.Left {
		b.line("left", "%s, %s: %s", output.RowName(queue.Job{Resource: p.Table, ResourceID: p.Key}), parkedState(p), output.OneLine(p.Error))
	}
	if more := j.Parked + j.Skipped - int64(len(r.Left)); more > 0 {
		b.line("left", "and %s more: see %s parked list --job %d --skipped", output.Grouped(more), output.ProgramName, j.ID)
	}
}

// counted says how many rows of each table went, and how many of them are back.
func (b *reportLines) counted(title string, tables, back map[string]int64) {
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		b.line(title, "%s of %s%s", output.Plural(tables[table], "row"), output.Printable(table),
			shell.Some(", %s of them back", min(back[table], tables[table])))
	}
}

func actionLine(act queue.Action) string {
	return output.Moment(act.At) + " " + output.ActionText(act)
}

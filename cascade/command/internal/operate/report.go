package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// Report says what became of a deletion.
type Report struct {
	Job      int64 `arg:"" optional:"" name:"job" help:"The job's number, as jobs prints it."`
	Deletion int64 `placeholder:"DELETION" help:"Instead: the deletion's number, deletion_id in jobs --json."`
	Recent   int   `placeholder:"N" help:"Instead: the newest N actions of all, pauses among them."`
	JSON     bool  `name:"json" help:"Print a JSON object, or an array of actions."`
}

// Help is the command's longer description.
func (Report) Help() string {
	return `What became of a deletion, for whoever asked for it: who had it done, when and why; what
went, table by table; which rows could not go and why; what can still come back, and until
when; what was done about it since. What the toolkit has purged meanwhile (400 days) is not
known any more, and said to be unknown. Times are UTC, by the database's clock.

Examples:

    cascade-worker report 17
    cascade-worker report --recent 20
    cascade-worker report --deletion 42 --json > erasure-42.json`
}

// Run prints the report.
func (c *Report) Run(ctx context.Context, a *shell.App) (err error) {
	switch {
	case c.Job < 0, c.Deletion < 0, c.Recent < 0, c.Job == 0 && c.Deletion == 0 && c.Recent == 0:
		return usage.Errorf("say which job or deletion, by its number: see %s jobs", output.ProgramName)
	case c.Job > 0 && c.Deletion > 0, c.Recent > 0 && c.Job+c.Deletion > 0:
		return usage.Errorf("give a job, a deletion or --recent, not more than one of them")
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if c.Recent > 0 {
		return c.recent(ctx, a, db)
	}
	r, err := readReport(ctx, db, c.Job, c.Deletion)
	if err != nil {
		return err
	}
	if c.JSON {
		return shell.PrintJSON(a, r)
	}
	_, err = fmt.Fprint(a.Stdout, reportText(r))
	return err
}

func (c *Report) recent(ctx context.Context, a *shell.App, db onerow.DB) error {
	list, err := queue.ListActions(ctx, db, 0, 0, c.Recent)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return shell.PrintJSON(a, list)
	case len(list) == 0:
		_, err := fmt.Fprintln(a.Stderr, "nobody has done anything yet, or did not say who it was")
		return err
	}
	for _, act := range list {
		what := ""
		if act.Resource != "" {
			what = " (" + output.RowName(queue.Job{Resource: act.Resource, ResourceID: act.ResourceID}) + ")"
		}
		if _, err := fmt.Fprintln(a.Stdout, actionLine(act)+what); err != nil {
			return err
		}
	}
	return nil
}

func readReport(ctx context.Context, db onerow.DB, job, deletion int64) (r admin.Report, err error) {
	if job > 0 {
		r, err = admin.ReportJob(ctx, db, job)
	} else {
		r, err = admin.ReadReport(ctx, db, deletion)
	}
	switch {
	case errors.Is(err, queue.ErrNoJob):
		err = output.Said(fmt.Sprintf("there is no job %d, or it was purged: see %s jobs", job, output.ProgramName), err)
	case errors.Is(err, admin.ErrNoDeletion):
		err = output.Said(fmt.Sprintf("there is no deletion %d, or its audit was purged: see deletion_id in %s jobs --json", deletion, output.ProgramName), err)
	}
	return r, err
}

// reportText is the report as lines, each of a title and what there is to say.
func reportText(r admin.Report) string {
	var b strings.Builder
	line := func(title, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", title, fmt.Sprintf(format, args...))
	}
	row := output.RowName(queue.Job{Resource: r.Resource, ResourceID: r.ResourceID})
	line("row", "%s", row)
	if r.Owner != "" {
		line("owner", "%s", output.RowKey(r.Owner))
	}
	switch {
	case r.RequestedAt.IsZero():
		line("asked for", "unknown: the deletion was not logged, or its audit was purged")
	default:
		line("asked for", "%s by %s", output.Moment(r.RequestedAt), orUnknown(r.Actor))
		line("why", "%s", orUnknown(r.Reason))
	}
	if r.DeletionID != 0 {
		line("deletion", "%d", r.DeletionID)
	}
	reportJob(r, line)
	reportTrash(r, line)
	for i, act := range r.Actions {
		title := ""
		if i == 0 {
			title = "done"
		}
		line(title, "%s", actionLine(act))
	}
	return b.String()
}

func reportJob(r admin.Report, line func(title, format string, args ...any)) {
	j := r.Job
	if j == nil {
		line("job", "unknown: nothing was queued, or it was purged; what went is not known any more")
		return
	}
	what := ""
	if j.DeletionID != r.DeletionID {
		what = fmt.Sprintf(", that of the earlier deletion %d: it was still open", j.DeletionID)
	}
	line("job", "%d, %s%s", j.ID, jobState(*j), what)
	line("begun", "%s", output.Moment(j.StartedAt))
	line("ended", "%s", output.Moment(j.FinishedAt))
	if j.Plan != "" {
		line("plan", "%s", j.Plan)
	}
	if j.LastError != "" {
		line("last error", "%s", output.OneLine(j.LastError))
	}
	rows, references := map[string]int64{}, map[string]int64{}
	for _, t := range r.Restored {
		rows[t.Table], references[t.Table] = t.Rows, t.References
	}
	counted := func(title string, tables, back map[string]int64) {
		for _, table := range slices.Sorted(maps.Keys(tables)) {
			again := ""
			if n := min(back[table], tables[table]); n > 0 {
				again = fmt.Sprintf(", %s of them back", output.Grouped(n))
			}
			line(title, "%s of %s%s", output.Plural(tables[table], "row"), output.Printable(table), again)
			title = ""
		}
	}
	if j.DeletedRows == 0 {
		line("deleted", "nothing below the row")
	}
	counted("deleted", j.Tables, rows)
	counted("detached", j.Detached, references)
	reportRestored(r, line)
	for i, p := range r.Left {
		title, state := "", "parked"
		if i == 0 {
			title = "left"
		}
		if p.Skipped {
			state = "skipped"
		}
		line(title, "%s, %s: %s", output.RowName(queue.Job{Resource: p.Table, ResourceID: p.Key}), state, output.OneLine(p.Error))
	}
	if more := j.Parked + j.Skipped - int64(len(r.Left)); more > 0 {
		line("", "and %s more: see %s parked list --job %d --skipped", output.Grouped(more), output.ProgramName, j.ID)
	}
}

func reportRestored(r admin.Report, line func(title, format string, args ...any)) {
	if len(r.Restored) == 0 {
		return
	}
	var rows, references int64
	for _, t := range r.Restored {
		rows, references = rows+t.Rows, references+t.References
	}
	what := output.Plural(rows, "row")
	if references > 0 {
		what += " and " + output.Plural(references, "reference")
	}
	line("restored", "%s; the row's own, where it has come back, is among them", what)
}

func reportTrash(r admin.Report, line func(title, format string, args ...any)) {
	if len(r.Trash) == 0 {
		line("in the trash", "nothing")
		return
	}
	for i, k := range r.Trash {
		title := ""
		if i == 0 {
			title = "in the trash"
		}
		what := output.Plural(k.Rows, "row")
		if k.References > 0 {
			what += " and " + output.Plural(k.References, "reference")
		}
		if k.Stuck > 0 {
			what += fmt.Sprintf(" (%s could not come back: %s)", output.Grouped(k.Stuck), output.OneLine(k.Why))
		}
		line(title, "%s of %s, the first until %s", what, output.Printable(k.Table), output.Moment(k.Expires))
	}
}

func actionLine(act queue.Action) string {
	line := output.Moment(act.At) + " " + act.Action
	if act.Table != "" {
		line += " " + output.RowName(queue.Job{Resource: act.Table, ResourceID: act.Key})
	}
	line += " by " + orUnknown(act.Actor)
	if act.Reason != "" {
		line += ": " + output.OneLine(act.Reason)
	}
	return line
}

func orUnknown(text string) string {
	if text = output.OneLine(text); text == "" {
		return "unknown (the call did not say)"
	}
	return text
}

package operate

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// Workers lists the workers, and why those wait that do.
type Workers struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// A worker gives a sign of life each 5 seconds, between batches: so old is that of one that may be dead, and
// of one that is not well.
const (
	late    = 7 * time.Second
	overdue = 30 * time.Second
)

// Run prints the workers.
func (c *Workers) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	list, err := admin.Workers(ctx, db)
	if err != nil {
		return err
	}
	if !c.JSON {
		if err := NotePause(ctx, db, a); err != nil {
			return err
		}
		lines, err := settingLines(ctx, db)
		for _, line := range lines {
			if err == nil {
				err = a.Note("%s (%s set --default takes it back)", line, output.ProgramName)
			}
		}
		if err != nil {
			return err
		}
	}
	return shell.PrintList(a, c.JSON, list, "no worker was seen in the last hour: start one with "+output.ProgramName+" run",
		[]string{"WORKER", "STARTED", "SEEN", ">JOB", "?WAITS BECAUSE"}, workerRow)
}

func workerRow(w admin.WorkerStatus) []string {
	job, seen := "-", "now"
	if w.JobID != 0 {
		job = fmt.Sprint(w.JobID)
	}
	switch {
	case w.Ago > overdue:
		seen = "not seen since " + output.Moment(w.SeenAt)
	case w.Ago > late:
		seen = w.Ago.Truncate(time.Second).String() + " ago"
	}
	return []string{output.Shorten(output.Printable(w.Name), 40), output.Moment(w.StartedAt), seen, job, output.Shorten(output.OneLine(w.Throttle), 120)}
}

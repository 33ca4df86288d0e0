package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Doctor looks for all that keeps deletions from being done, and says what to do about each.
type Doctor struct {
	shell.PlanFlag
	JSON bool `name:"json" help:"Print a JSON array."`
}

// ailment is one thing that is wrong.
type ailment struct {
	About   string `json:"about"`
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}

// examination is what was looked at, and found.
type examination struct {
	database string
	found    []ailment
	ok       []string
}

// Run prints what is wrong, and exits with 1 if anything is.
func (c *Doctor) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	x := examination{database: a.Database()}
	missing, err := fit.Pending(ctx, db)
	if err != nil {
		return err
	}
	looks := []func(context.Context, *sql.DB, schema.Plan) error{x.settings, x.tables}
	if missing > 0 {
		x.add("the toolkit's tables", output.Plural(missing, "migration")+" not applied, or not shown to this user", output.ProgramName+" migrate up")
	} else {
		looks = append(looks, x.switches, x.queue, x.trash, x.keys)
	}
	for _, look := range looks {
		if err := look(ctx, db, plan); err != nil {
			return err
		}
	}
	return x.print(a, c.JSON)
}

func (x *examination) add(about, problem, fix string) {
	x.found = append(x.found, ailment{about, output.OneLine(problem), output.OneLine(fix)})
}

// looked notes what was looked at since before, and is right.
func (x *examination) looked(before int, what string) {
	if len(x.found) == before {
		x.ok = append(x.ok, what)
	}
}

func (x *examination) settings(ctx context.Context, db *sql.DB, _ schema.Plan) error {
	before := len(x.found)
	var wrong *pool.SettingError
	if err := pool.Check(ctx, db); errors.As(err, &wrong) {
		x.setting(wrong)
	} else if err != nil {
		return err
	}
	x.looked(before, "settings")
	return nil
}

func (x *examination) setting(e *pool.SettingError) {
	x.add("the setting "+e.Setting, fmt.Sprintf("it is %q: %s", e.Value, e.Why), e.Fix)
}

// tables holds the tables, and the rights on them, against the plan.
func (x *examination) tables(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	before := len(x.found)
	var found []live.Difference
	var differs *live.VerifyError
	var wrong *pool.SettingError
	switch err := live.Verify(ctx, db, plan); {
	case errors.As(err, &differs):
		found = differs.Differences
	case errors.As(err, &wrong): // it asks for more than settings does
		if before == 0 {
			x.setting(wrong)
		}
	case err != nil:
		return err
	}
	access, err := live.VerifyPrivileges(ctx, db, plan, live.Privileges(plan))
	if err != nil {
		return err
	}
	lines, found := summarizeAbsent(plan, x.database, append(found, access.Missing...))
	for _, line := range lines {
		problem, what, _ := strings.Cut(line, ": ")
		x.add("tables", problem, what)
	}
	for _, d := range found {
		x.add(d.Table, part(d)+d.Problem, fix(d))
	}
	x.looked(before, "tables and rights")
	return nil
}

// switches looks at what an operator has switched off, and forgotten.
func (x *examination) switches(ctx context.Context, db *sql.DB, _ schema.Plan) error {
	before := len(x.found)
	all, err := admin.Paused(ctx, db)
	if err != nil {
		return err
	}
	if all.On {
		x.add("workers", "all are paused since "+output.Moment(all.Since)+": "+all.Reason, output.ProgramName+" resume")
	}
	resources, err := admin.PausedResources(ctx, db)
	for _, p := range resources {
		x.add(p.Resource, "its jobs are paused since "+output.Moment(p.Since)+": "+p.Reason, output.ProgramName+" resume --resource "+output.Printable(p.Resource))
	}
	for _, state := range []struct {
		of       queue.State
		problem  string
		commands string
	}{
		{queue.OnPause, "is paused", "resume --job %[1]d"},
		{queue.Held, "is held: nobody works it", "restore %[1]d brings its rows back; or retry %[1]d lets it go on"},
		{queue.Dead, "is dead", "retry %[1]d, when its cause is removed; report %[1]d tells more"},
		{queue.Leftovers, "has left rows that could not be deleted", "parked list --job %[1]d names them; then parked retry, or parked skip"},
	} {
		if err == nil {
			err = x.jobs(ctx, db, state.of, state.problem, state.commands)
		}
	}
	x.looked(before, "jobs that wait for somebody")
	return err
}

// mostNamed is how many jobs of a state are named one by one.
const mostNamed = 10

func (x *examination) jobs(ctx context.Context, db *sql.DB, state queue.State, problem, commands string) error {
	list, err := queue.List(ctx, db, queue.ListOptions{State: state, Limit: mostNamed + 1})
	for i, job := range list {
		if i == mostNamed {
			x.add("jobs", "there are more that "+problem, output.ProgramName+" jobs --state "+string(state)+" --limit 1000")
			break
		}
		text := problem
		if job.LastError != "" {
			text += ": " + output.Shorten(output.OneLine(job.LastError), 200)
		}
		x.add(fmt.Sprintf("job %d, %s %s", job.ID, job.Resource, output.Printable(job.ResourceID)), text, output.ProgramName+" "+fmt.Sprintf(commands, job.ID))
	}
	return err
}

// latest is for how long a job may be due before somebody should ask why.
const latest = 10 * time.Minute

func (x *examination) queue(ctx context.Context, db *sql.DB, _ schema.Plan) error {
	before := len(x.found)
	stats, err := admin.ReadStats(ctx, db)
	if err != nil {
		return err
	}
	workers, err := admin.Workers(ctx, db)
	if err != nil {
		return err
	}
	for _, w := range workers {
		switch {
		case w.Throttle != "" && !stats.Paused.On:
			x.add("worker "+output.Printable(w.Name), "it waits: "+w.Throttle, "lower that load, or start it with a higher limit (see "+output.ProgramName+" run --help)")
		case w.Ago > time.Minute:
			x.add("worker "+output.Printable(w.Name), "it gave no sign of life since "+output.Moment(w.SeenAt)+", and did not end cleanly", "look at its log, and start it again; what it had another worker takes")
		}
	}
	switch {
	case stats.Workers == 0 && stats.Due > 0:
		x.add("the queue", output.Plural(stats.Due, "job")+" due, and no worker is there", output.ProgramName+" run")
	case stats.OldestAge > latest && !stats.Paused.On:
		x.add("the queue", "a job is due for "+stats.OldestAge.Truncate(time.Second).String()+": the workers do not keep up, or none has its resource in its plan",
			output.ProgramName+" workers says what they do; set --parallel gives them more at once")
	}
	x.looked(before, "workers and queue")
	return nil
}

func (x *examination) trash(ctx context.Context, db *sql.DB, _ schema.Plan) error {
	before := len(x.found)
	list, err := admin.ListTrash(ctx, db, 1000)
	for _, k := range list {
		if k.Stuck > 0 {
			x.add(fmt.Sprintf("the trash of job %d", k.JobID), output.Plural(k.Stuck, "row")+" could not come back, and the trash expires at "+output.Moment(k.Expires),
				fmt.Sprintf("%s trash show %[2]d says why; then restore %[2]d", output.ProgramName, k.JobID))
		}
	}
	x.looked(before, "trash")
	return err
}

func (x *examination) keys(ctx context.Context, db *sql.DB, _ schema.Plan) error {
	before := len(x.found)
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	m, err := keyadmin.Measure(ctx, db, keys)
	if m.Overdue > 0 {
		x.add("idempotency keys", fmt.Sprintf("%d in progress are overdue: their callers are gone, or slow", m.Overdue), output.ProgramName+" keys list --overdue; then keys release or keys complete")
	}
	if m.Errored > 0 {
		x.add("idempotency keys", fmt.Sprintf("%d have failed and wait for somebody", m.Errored), output.ProgramName+" keys list; then keys release or keys complete")
	}
	x.looked(before, "idempotency keys")
	return err
}

// print tells what is wrong, and what is right.
func (x *examination) print(a *shell.App, asJSON bool) error {
	if asJSON {
		if err := shell.PrintJSON(a, append([]ailment{}, x.found...)); err != nil {
			return err
		}
	}
	for _, f := range x.found {
		if !asJSON {
			if err := a.Say("%s: %s\n    fix: %s", output.Printable(f.About), f.Problem, f.Fix); err != nil {
				return err
			}
		}
	}
	for _, what := range x.ok {
		if err := a.Note("ok: %s", what); err != nil {
			return err
		}
	}
	if len(x.found) > 0 {
		return errors.Join(a.Note("%s wrong", output.Plural(len(x.found), "thing")), shell.ErrReported)
	}
	return a.Note("nothing is wrong")
}

package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
)

// JobArg names the job that a command acts on, and who acts.
type JobArg struct {
	ActorFlags
	Job int64 `arg:"" name:"job" help:"The job's number, as jobs lists it."`
}

// Act does a verb to the job and says what the job is then, as in "is first"; %s is its state.
func (c JobArg) Act(ctx context.Context, a *App, verb func(context.Context, onerow.DB, int64) (queue.Job, error), is string) error {
	if err := CheckJob("", c.Job, "jobs"); err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	job, err := verb(c.Acting(ctx, a), db, c.Job)
	return SayJob(a, c.Job, job, err, is)
}

// SayJob says what a job is after a verb, or in the words of this program why nothing was done.
func SayJob(a *App, id int64, job queue.Job, err error, is string) error {
	if err != nil {
		return JobError(id, err)
	}
	return a.Say("job %d (%s) %s", job.ID, output.RowName(job), strings.Replace(is, "%s", string(job.State), 1))
}

// CheckJob refuses what cannot be a job's number. see names the command that prints the numbers.
func CheckJob(flag string, id int64, see string) error {
	switch {
	case id > 0:
		return nil
	case flag != "":
		return usage.Errorf("%s is %d, which is no job's number: see %s %s", flag, id, output.ProgramName, see)
	}
	return usage.Errorf("%d is no job's number: see %s %s", id, output.ProgramName, see)
}

// JobError says in the words of this program why nothing was done to a job.
func JobError(id int64, err error) error {
	var not *queue.NotDeadError
	var open *queue.OpenJobError
	text := ""
	switch {
	case errors.Is(err, queue.ErrNoJob):
		text = fmt.Sprintf("there is no job %d: see %s jobs", id, output.ProgramName)
	case errors.Is(err, queue.ErrNotWaiting):
		text = fmt.Sprintf("job %d cannot be put first: %s", id, output.Detail(err, queue.ErrNotWaiting))
	case errors.Is(err, queue.ErrNotOpen):
		text = fmt.Sprintf("job %d %s: no worker takes it", id, strings.TrimPrefix(output.Detail(err, queue.ErrNotOpen).Error(), "it "))
	case errors.As(err, &not):
		text = fmt.Sprintf("job %d is %s: only a dead job, a held one, or one with leftovers can be retried", not.JobID, not.State)
	case errors.As(err, &open):
		text = fmt.Sprintf("job %d is not needed any more: the newer job %d for the same row is open and does its work", open.JobID, open.Open)
	default:
		return err
	}
	return output.Said(text, err)
}

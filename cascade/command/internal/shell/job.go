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

// Act does a verb to the job and says what the job is then, as in "is first", or why its state does not allow
// it; %s is the state.
func (c JobArg) Act(ctx context.Context, a *App, verb func(context.Context, onerow.DB, int64) (queue.Job, error), is, not string) error {
	if err := CheckJob("", c.Job, "jobs"); err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	job, err := verb(c.Acting(ctx, a), db, c.Job)
	return SayJob(a, c.Job, job, err, is, not)
}

// SayJob says what a job is after a verb, or in the words of this program why nothing was done.
func SayJob(a *App, id int64, job queue.Job, err error, is, not string) error {
	switch {
	case errors.Is(err, queue.ErrWrongState):
		return output.Said(fmt.Sprintf("job %d %s", id, strings.Replace(not, "%s", string(job.State), 1)), err)
	case err != nil:
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
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return output.Said(fmt.Sprintf("there is no job %d: see %s jobs", id, output.ProgramName), err)
	case errors.Is(err, queue.ErrOpenJob):
		return output.Said(fmt.Sprintf("job %d is not needed any more: the newer %s for the same row is open and does its work", id, output.Detail(err, queue.ErrOpenJob)), err)
	}
	return err
}

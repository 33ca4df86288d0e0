package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// JobArg names the job that a command acts on, and who acts.
type JobArg struct {
	ActorFlags
	Job JobNumber `arg:"" name:"job" help:"The job's number, as jobs lists it."`
}

// ActOnJob does a verb to a job and says what it is then, as in "is first", or why its state does not allow
// it; %s is the state.
func (a *App) ActOnJob(ctx context.Context, db onerow.DB, job JobNumber, verb func(context.Context, onerow.DB, int64) (queue.Job, error), is, not string) error {
	j, err := verb(ctx, db, int64(job))
	switch {
	case errors.Is(err, queue.ErrWrongState):
		return output.Said(fmt.Sprintf("job %d %s", job, strings.Replace(not, "%s", string(j.State), 1)), err)
	case err != nil:
		return JobError(job, err)
	}
	return a.Say("job %d (%s) %s", j.ID, output.RowName(j), strings.Replace(is, "%s", string(j.State), 1))
}

// JobError says in the words of this program why nothing was done to a job.
func JobError(id JobNumber, err error) error {
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return output.Said(fmt.Sprintf("there is no job %d: see %s jobs", id, output.ProgramName), err)
	case errors.Is(err, queue.ErrOpenJob):
		return output.Said(fmt.Sprintf("job %d is not needed any more: the newer %s for the same row is open and does its work", id, output.Detail(err, queue.ErrOpenJob)), err)
	}
	return err
}

const envBy = "ONEROW_BY"

// ByFlag is part of every command that changes something for a person.
type ByFlag struct {
	By string `placeholder:"WHO" help:"Who acts, for report ($$ONEROW_BY, else user@machine)."`
}

// AfterApply tells the App who acts, who is always somebody.
func (f ByFlag) AfterApply(a *App) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	user := cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME"), "unknown")
	a.actor = output.Printable(cmp.Or(f.By, a.Getenv(envBy), user+"@"+host))
	return nil
}

// ActorFlags say who acts, and why.
type ActorFlags struct {
	ByFlag
	Reason string `placeholder:"TEXT" help:"Why, for report: a ticket, or a sentence."`
}

// AfterApply tells the App.
func (f ActorFlags) AfterApply(a *App) error {
	a.reason = output.Printable(f.Reason)
	return f.ByFlag.AfterApply(a)
}

// Acting is the command's context: with who acts, where its flags say that somebody does.
func (a *App) Acting(ctx context.Context) context.Context {
	if a.actor == "" {
		return ctx
	}
	return queue.WithActor(ctx, a.actor, a.reason)
}

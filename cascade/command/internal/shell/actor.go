package shell

import (
	"cmp"
	"context"
	"os"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

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

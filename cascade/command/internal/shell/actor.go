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

// ActorFlags are byFlag and why.
type ActorFlags struct {
	ByFlag
	Reason string `placeholder:"TEXT" help:"Why, for report: a ticket, or a sentence."`
}

// Acting tells package cascade who acts, and why.
func (f ActorFlags) Acting(ctx context.Context, a *App) context.Context {
	return queue.WithActor(ctx, f.who(a), output.Printable(f.Reason))
}

// Acting tells package cascade who acts.
func (f ByFlag) Acting(ctx context.Context, a *App) context.Context {
	return queue.WithActor(ctx, f.who(a), "")
}

// who is always somebody.
func (f ByFlag) who(a *App) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	user := cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME"), "unknown")
	return output.Printable(cmp.Or(f.By, a.Getenv(envBy), user+"@"+host))
}

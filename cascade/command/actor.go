package command

import (
	"cmp"
	"context"
	"os"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
)

const envBy = "ONEROW_BY"

// byFlag is part of every command that changes something for a person.
type byFlag struct {
	By string `placeholder:"WHO" help:"Who acts, for report ($$ONEROW_BY, else user@machine)."`
}

// actorFlags are byFlag and why.
type actorFlags struct {
	byFlag
	Reason string `placeholder:"TEXT" help:"Why, for report: a ticket, or a sentence."`
}

func (f actorFlags) acting(ctx context.Context, a *app) context.Context {
	return queue.WithActor(ctx, f.who(a), output.Printable(f.Reason))
}

func (f byFlag) acting(ctx context.Context, a *app) context.Context {
	return queue.WithActor(ctx, f.who(a), "")
}

// who is always somebody.
func (f byFlag) who(a *app) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	user := cmp.Or(a.getenv("USER"), a.getenv("LOGNAME"), "unknown")
	return output.Printable(cmp.Or(f.By, a.getenv(envBy), user+"@"+host))
}

// Package shell is what each command is given: the process (app.go), the database (connect.go, dsn.go), the
// plan, the assets, the throttles, the job that is named (job.go), numbers (numbers.go) and who acts, as
// flags and the environment say; and how it tells what it did: print.go, counter.go for what goes on, exit.go
// for what went wrong, without what is secret (hide.go). It knows no command.
//
// A command refuses what contradicts itself before anything is opened: in Validate, or in AfterApply where an
// argument has to be there for that. Its Run asks for what it needs by type: a context with the actor, the
// App, a schema.Plan that was checked, a *sql.DB with the toolkit's tables, or a BareDB.
//
// Open this package when a flag that all commands share changes, an exit code is chosen, or a password might
// be printed.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
)

// Environment variables that stand in for flags.
const (
	EnvDSN    = "ONEROW_DSN"
	EnvPlan   = "ONEROW_PLAN"
	EnvAssets = "ONEROW_ASSETS"
)

// App is what a command gets when it runs.
type App struct {
	Environment
	DSN           string
	PlanFile      string         // as --plan says
	actor, reason string         // of --by and --reason, where the command has them
	counter       *Counter       // where the command shows how far it is
	close         []func() error // what to close when the command has ended
}

// Close closes what the command has opened, the last first.
func (a *App) Close() (err error) {
	for _, closeOne := range slices.Backward(a.close) {
		err = errors.Join(err, closeOne())
	}
	a.close = nil
	return err
}

// Environment is everything that the command takes from its process.
type Environment struct {
	Version        string
	OwnPlan        *schema.Plan // nil: a file says it
	OpenAssets     func(ctx context.Context, address string) (cascade.Assets, func() error, error)
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool // stderr is a terminal, so progress may be drawn there
}

// VersionLine is what --version says.
func (s Environment) VersionLine() string {
	name := cmp.Or(s.Version, "(unknown)")
	if info, ok := debug.ReadBuildInfo(); ok && s.Version == "" && info.Main.Version != "" {
		name = info.Main.Version
	}
	return fmt.Sprintf("%s %s (%s)", output.ProgramName, name, runtime.Version())
}

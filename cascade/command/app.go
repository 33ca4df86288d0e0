package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
)

// Environment variables that stand in for flags.
const (
	envDSN    = "ONEROW_DSN"
	envPlan   = "ONEROW_PLAN"
	envAssets = "ONEROW_ASSETS"
)

// app is what a command gets when it runs.
type app struct {
	environment
	dsn string
}

// environment is everything that the command takes from its process.
type environment struct {
	version        string
	ownPlan        *schema.Plan       // nil: a file says it
	ownAssets      cascade.AssetStore // nil: an address says it
	openAssets     func(ctx context.Context, address string) (cascade.AssetStore, func() error, error)
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	terminal       bool // stderr is a terminal, so progress may be drawn there
}

// versionLine is what --version says.
func (s environment) versionLine() string {
	name := cmp.Or(s.version, "(unknown)")
	if info, ok := debug.ReadBuildInfo(); ok && s.version == "" && info.Main.Version != "" {
		name = info.Main.Version
	}
	return fmt.Sprintf("%s %s (%s)", output.ProgramName, name, runtime.Version())
}

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// planFlag is part of every command that needs the plan.
type planFlag struct {
	Plan string `placeholder:"FILE" help:"The plan, a YAML file; - for standard input ($$ONEROW_PLAN)."`
}

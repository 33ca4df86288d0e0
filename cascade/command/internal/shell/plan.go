package shell

import (
	"cmp"
	"io"
	"os"

	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// PlanFlag is part of every command that needs the plan.
type PlanFlag struct {
	Plan string `placeholder:"FILE" help:"The plan, a YAML file; - for standard input ($$ONEROW_PLAN)."`
}

// AfterApply tells the App, which reads the plan for the command.
func (f PlanFlag) AfterApply(a *App) error {
	a.PlanFile = f.Plan
	return nil
}

// Plan reads and checks the plan that the flag or the environment names, or checks the program's own.
func (a *App) Plan() (plan schema.Plan, err error) {
	name := cmp.Or(a.PlanFile, a.Getenv(EnvPlan))
	var text []byte
	switch {
	case a.OwnPlan != nil && a.PlanFile != "":
		return schema.Plan{}, usage.Errorf("--plan is not for this program: its plan is built in")
	case a.OwnPlan != nil:
		return *a.OwnPlan, a.OwnPlan.Check()
	case name == "":
		return schema.Plan{}, usage.Errorf("no plan was given: set --plan or %s to a YAML file", EnvPlan)
	case name == "-":
		name = "standard input"
		text, err = io.ReadAll(io.LimitReader(a.Stdin, 2<<20))
	default:
		text, err = os.ReadFile(name) //nolint:gosec // the caller names the file
	}
	if err == nil {
		plan, err = planfile.Parse(name, text)
	}
	if err != nil {
		return schema.Plan{}, usage.Mark(err)
	}
	return plan, nil
}

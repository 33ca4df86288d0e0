package shell

import (
	"io"

	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// Plan reads and checks the plan that the flag or the environment names, or checks the program's own.
func (a *App) Plan(flag PlanFlag) (plan schema.Plan, err error) {
	name := flag.Plan
	switch {
	case a.OwnPlan != nil && name != "":
		return schema.Plan{}, usage.Errorf("--plan is not for this program: its plan is built in")
	case a.OwnPlan != nil:
		return *a.OwnPlan, a.OwnPlan.Check()
	}
	if name == "" {
		name = a.Getenv(EnvPlan)
	}
	switch name {
	case "":
		return schema.Plan{}, usage.Errorf("no plan was given: set --plan or %s to a YAML file", EnvPlan)
	case "-":
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(a.Stdin, 2<<20)); err == nil {
			plan, err = planfile.Parse("standard input", text)
		}
	default:
		plan, err = planfile.Load(name)
	}
	if err != nil {
		return schema.Plan{}, usage.Mark(err)
	}
	return plan, nil
}

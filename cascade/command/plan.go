package command

import (
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// plan reads and checks the plan that the flag or the environment names, or checks the program's own.
func (a *app) plan(flag planFlag) (plan schema.Plan, err error) {
	name := flag.Plan
	switch {
	case a.ownPlan != nil && name != "":
		return schema.Plan{}, usage.Errorf("--plan is not for this program: its plan is built in")
	case a.ownPlan != nil:
		return *a.ownPlan, a.ownPlan.Check()
	}
	if name == "" {
		name = a.getenv(envPlan)
	}
	switch name {
	case "":
		return schema.Plan{}, usage.Errorf("no plan was given: set --plan or %s to a YAML file", envPlan)
	case "-":
		plan, err = planfile.Read("standard input", a.stdin)
	default:
		plan, err = planfile.Load(name)
	}
	if err != nil {
		return schema.Plan{}, usage.Mark(err)
	}
	return plan, nil
}

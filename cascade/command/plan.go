package command

import (
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// plan reads and checks the plan that the flag or the environment names.
func (a *app) plan(flag planFlag) (plan schema.Plan, err error) {
	name := flag.Plan
	if name == "" {
		name = a.getenv(envPlan)
	}
	switch name {
	case "":
		return schema.Plan{}, usagef("no plan was given: set --plan or %s to a YAML file", envPlan)
	case "-":
		plan, err = planfile.Read("standard input", a.stdin)
	default:
		plan, err = planfile.Load(name)
	}
	if err != nil {
		return schema.Plan{}, usage(err)
	}
	return plan, nil
}

package flow_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/flow"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	must(flow.Claim(ctx, db, run("", "a")))
	must(flow.Claim(ctx, db, run("old", "b")))
	step := must(flow.Await(ctx, db, run("old", "b"), "ask", nil))
	missing := must(flow.StepID(run("", "z"), "nothing"))
	must(flow.Supersede(ctx, db, run("old", "c")))
	must(flow.Claim(ctx, db, run("", "z")))
	names := []string{"flow: ", "onerow: "}
	for what, err := range map[string]error{
		"an owned stage":             second(flow.Claim(ctx, db, run("old", "d"))),
		"superseded":                 second(flow.Claim(ctx, db, run("old", "b"))),
		"after a run that has lost":  second(flow.ClaimAfter(ctx, db, run("next", "e"), run("old", "b"))),
		"no proof":                   flow.Prove(ctx, db, run("old", "b")),
		"no name":                    flow.Prove(ctx, db, flow.Run{}),
		"finish what is another's":   second(flow.Finish(ctx, db, run("old", "b"))),
		"an answer that is stale":    second(flow.Answer(ctx, db, step.ID, nil)),
		"an answer to no step":       second(flow.Answer(ctx, db, missing, nil)),
		"an answer to what is no id": second(flow.Answer(ctx, db, "x", nil)),
		"a question of nobody":       second(flow.Await(ctx, db, run("old", "b"), "ask", nil)),
		"a long step":                second(flow.StepID(run("", "a"), strings.Repeat("x", 2000))),
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

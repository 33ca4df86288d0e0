package quota_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	o := orders[0]
	db, _ := open(t, o)
	r, ctx := o.rule(t), t.Context()
	mark(t, db, 1)
	_, owner := r.Recalculate(ctx, db, "x")
	_, unknown := quota.New(o.plan(), "nothing", quota.Fixed(1))
	_, invalid := quota.New(schema.Plan{Resources: []schema.Resource{{}}}, "project", quota.Fixed(1))
	_, unlimited := quota.New(o.plan(), "project", nil)
	noMark := quota.Mark(ctx, db, "project")
	dbtest.Exec(t, db, "DROP TABLE user")
	names := []string{"quota: ", "onerow: ", "schema: "}
	for what, err := range map[string]error{
		"an owner that is none": owner,
		"settle no owner":       r.Settle(ctx, db, "x"),
		"an unknown resource":   unknown,
		"an invalid plan":       invalid,
		"no limit":              unlimited,
		"mark nobody":           noMark,
		"a query that fails":    r.Settle(ctx, db, 1),
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

package undo

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// MayRestore asks, before a job is held for it, whether the user may do what a restore by the plan does.
func MayRestore(ctx context.Context, db onerow.DB, plan schema.Plan) error {
	access, err := live.VerifyPrivileges(ctx, db, plan, live.RestorePrivileges(plan))
	if err != nil || len(access.Missing) == 0 {
		return err
	}
	texts := make([]string, len(access.Missing))
	for i, d := range access.Missing {
		verbs, _, _ := strings.Cut(strings.TrimPrefix(d.SQL, "GRANT "), " ON ")
		texts[i] = verbs + " on " + output.Printable(d.Table)
	}
	return fmt.Errorf("the user %s may not restore by this plan, so nothing was changed: no %s; cascade-worker verify --grants USER@HOST --restore prints what it needs",
		output.Printable(access.User), output.Shorten(strings.Join(texts, "; "), 400))
}

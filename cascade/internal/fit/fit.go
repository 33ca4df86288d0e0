// Package fit says whether a database is fit for a worker by a plan, and why not.
//
// Open this package when a database that does not fit its plan is told in the wrong words.
package fit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// unfit says why a database is none to work on.
type unfit string

func (u unfit) Error() string { return string(u) + ": run " + output.ProgramName + " verify" }

// Check refuses a database that is not as the plan declares it, or that does not let the
// worker do what it will have to.
func Check(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	if err := declared(ctx, db, plan); err != nil {
		return err
	}
	access, err := live.VerifyPrivileges(ctx, db, plan, live.Privileges(plan))
	if err == nil && len(access.Missing) > 0 {
		return unfit(fmt.Sprintf("the database user %s lacks rights on %s", access.User, output.Plural(len(access.Missing), "table")))
	}
	return err
}

// declared refuses a database that is not as the plan declares it.
func declared(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	err := live.Verify(ctx, db, plan)
	var differs *live.VerifyError
	if errors.As(err, &differs) {
		return unfit("the database is not as the plan declares it, in " + output.Plural(len(differs.Differences), "point"))
	}
	return err
}

// Unready says why a worker cannot work. It sends what live.Verify and migrations.Status document.
func Unready(ctx context.Context, db *sql.DB, plan schema.Plan) []string {
	missing, err := Pending(ctx, db)
	switch {
	case err != nil:
		return []string{"the toolkit's tables cannot be read"}
	case missing > 0:
		return []string{fmt.Sprintf("%s not applied: run %s migrate up", output.Plural(missing, "migration"), output.ProgramName)}
	}
	err = declared(ctx, db, plan)
	var why unfit
	switch {
	case errors.As(err, &why):
		return []string{why.Error()}
	case err != nil:
		return []string{"the database cannot be compared with the plan"}
	}
	return nil
}

// Pending is how many migrations the database lacks.
func Pending(ctx context.Context, db *sql.DB) (int, error) {
	all, err := migrations.Status(ctx, db)
	missing := 0
	for _, m := range all {
		if !m.Applied {
			missing++
		}
	}
	return missing, err
}

// Explained puts before an error why the database is not as the plan declares it, if that
// is so: what fails then, and how, says little about what to do.
func Explained(ctx context.Context, db *sql.DB, plan schema.Plan, err error) error {
	var why unfit
	if err == nil || ctx.Err() != nil || errors.Is(err, usage.Err) || !errors.As(declared(ctx, db, plan), &why) {
		return err
	}
	return errors.Join(why, err)
}

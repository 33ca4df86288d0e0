package quota

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/schema"
)

// Unlimited is the limit of an owner whose rows are never over.
const Unlimited = -1

var (
	// ErrNoQuota says that the resource declares no quota flag in the plan.
	ErrNoQuota = errors.New("quota: the resource has no quota")

	// ErrNoOwner is what a [Limit] returns for an owner that does not exist (any more). There is nothing to
	// count then: the recalculation succeeds, leaves the flags of what rows there still are, and drops the
	// owner's marks.
	ErrNoOwner = errors.New("quota: no such owner")
)

// Limit is the application's answer to "how many rows may this owner have?". A negative number means no
// limit, 0 that all rows are over. It gets the transaction of the recalculation and must read with it,
// plainly (no locks); it may be called more than once. owner is an int64, a uint64 (only above the largest
// int64), a string or a []byte, as [onerow.DecodeKey] returns it; where a tenant stands before the owner it
// is a []any of both. Whoever changes what it returns calls [Mark] in the same transaction. For an owner that
// does not exist it returns [ErrNoOwner].
type Limit func(ctx context.Context, tx *onerow.Tx, owner any) (limit int, err error)

// Fixed returns the [Limit] of an application in which all owners may have the same.
func Fixed(limit int) Limit {
	return func(context.Context, *onerow.Tx, any) (int, error) { return limit, nil }
}

// LimitQuery returns a [Limit] that runs one statement: sql has one parameter, the owner, or two where a
// tenant stands before it, and selects one integer; NULL means no limit. No row is [ErrNoOwner].
//
//	quota.LimitQuery(`SELECT plan.projects FROM user JOIN plan ON plan.id = user.plan_id WHERE user.id = ?`)
func LimitQuery(query string) Limit {
	return func(ctx context.Context, tx *onerow.Tx, owner any) (int, error) {
		var limit sql.NullInt64
		err := onerow.QueryRow(ctx, tx, query, args(owner), &limit)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return 0, fmt.Errorf("%w: its limit's query found no row", ErrNoOwner)
		case err != nil:
			return 0, fmt.Errorf("its query: %w", err)
		case !limit.Valid:
			return Unlimited, nil
		}
		return int(limit.Int64), nil
	}
}

// Rule says which rows of one resource are over quota: the resource's declaration in the plan names the flag
// and the order, the [Limit] is the application's. Safe for concurrent use.
type Rule struct {
	resource string
	limit    Limit
	sql      statements
	id       keytype.Type
	owner    recount.Columns
}

// New returns the rule for a resource of the plan. Errors: [schema.ErrInvalidPlan],
// [schema.ErrUnknownResource], [ErrNoQuota]. It sends nothing.
func New(plan schema.Plan, resource string, limit Limit) (*Rule, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	r, err := plan.Resource(resource)
	if err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	if r.Quota.Flag == "" {
		return nil, fmt.Errorf("%w: %q declares no flag; give its declaration a Quota", ErrNoQuota, resource)
	}
	if limit == nil {
		return nil, fmt.Errorf("quota: the rule for %q needs a limit", resource)
	}
	rule := &Rule{resource: resource, limit: limit, sql: statementsFor(r)}
	if rule.id, err = keytype.Parse(r.IDType); err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	if rule.owner, err = recount.ColumnsOf(r.Owners(), r.ColumnType); err != nil {
		return nil, fmt.Errorf("quota: %w", err)
	}
	return rule, nil
}

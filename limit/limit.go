package limit

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// Rule is one limit of a resource: what the plan declares, and the application's maximum. Safe for concurrent
// use.
type Rule struct {
	name     string
	resource string
	maximum  quota.Limit
	owner    recount.Columns
	counts   bool // and does not sum
	sql      texts

	mu     sync.Mutex
	spread map[string]bool // owners whose room was last seen in many rows: a guess that a statement checks
}

// New returns the limit of that name, see [schema.Limit]. maximum is asked in a transaction of this package
// and must read with it; a negative number means no limit. Errors: [schema.ErrInvalidPlan], [ErrUnknown]. It
// sends nothing.
func New(plan schema.Plan, name string, maximum quota.Limit) (*Rule, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	if maximum == nil {
		return nil, fmt.Errorf("limit: %q needs a maximum", name)
	}
	var known []string
	for _, n := range plan.Names() {
		res, err := plan.Resource(n)
		if err != nil {
			continue // a table
		}
		for _, l := range res.Limits {
			if l.Name == name {
				return newRule(res, l, maximum)
			}
			known = append(known, l.Name)
		}
	}
	return nil, fmt.Errorf("%w as %q; the plan has %q", ErrUnknown, name, known)
}

func newRule(res schema.Resource, l schema.Limit, maximum quota.Limit) (*Rule, error) {
	r := &Rule{name: l.Name, resource: res.Name, maximum: maximum, counts: l.Sum == "", spread: map[string]bool{}}
	var err error
	if r.owner, err = recount.ColumnsOf(l.Owners, res.ColumnType); err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	r.sql = textsFor(res, l, r.owner)
	return r, nil
}

// Name is what the plan calls the limit.
func (r *Rule) Name() string { return r.name }

// Resource is the plan's name of the resource whose rows it counts.
func (r *Rule) Resource() string { return r.resource }

func (r *Rule) encode(owner []any) (recount.Owner, error) {
	o, err := r.owner.Encode(owner)
	if err != nil {
		return o, errtext.Wrap(err, "limit: an owner of %q", r.name)
	}
	return o, nil
}

// maxGuesses bounds how many owners are remembered.
const maxGuesses = 4096

// guess is the row to try. A wrong guess costs statements, and nothing else.
func (r *Rule) guess(owner string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.spread[owner] {
		return 0
	}
	return rand.IntN(stripes) //nolint:gosec // any row will do
}

func (r *Rule) remember(owner string, spread bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !spread {
		delete(r.spread, owner)
		return
	}
	if len(r.spread) >= maxGuesses {
		clear(r.spread)
	}
	r.spread[owner] = true
}

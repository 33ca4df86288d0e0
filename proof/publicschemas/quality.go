package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
)

// quality is how well proposals meet the references that a schema has.
type quality struct {
	declared, found, proposed, right int
	missed, wrong                    []string
}

func (q quality) recall() float64    { return ratio(q.found, q.declared) }
func (q quality) precision() float64 { return ratio(q.right, q.proposed) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// proposals are what discover proposes in a database whose foreign keys are hidden. Where there are rows,
// those do not count of which a look at the rows found a value that is not there: a person would take them
// away.
func proposals(ctx context.Context, db *sql.DB, roots []string) (refs []string, err error) {
	plan, _, list, err := discover.Plan(ctx, db, schema.Plan{}, roots, nil)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		var there, of int
		last := p.Evidence[len(p.Evidence)-1]
		if n, _ := fmt.Sscanf(last, "%d of %d values are there", &there, &of); n == 2 && there < of { //nolint:errcheck // another text
			continue
		}
		to := p.Edge.References
		if len(to) == 0 {
			to = plan.Tables[slices.IndexFunc(plan.Tables, func(t schema.Table) bool { return t.Name == p.Edge.Table })].Key
		}
		refs = append(refs, reference(p.Table, p.Edge.Columns, p.Edge.Table, to))
	}
	return refs, nil
}

func reference(table string, columns []string, to string, references []string) string {
	return strings.ToLower(fmt.Sprintf("%s.%s → %s.%s", table, strings.Join(columns, ","), to, strings.Join(references, ",")))
}

// judge holds proposals against the foreign keys, and against those that the schema's designers could have
// declared, too. Recall is of what is declared; a reference of several columns counts, and is never proposed.
func judge(proposed []string, keys []schematest.ForeignKey, undeclared []soft) quality {
	q := quality{proposed: len(proposed)}
	var declared []string
	for _, k := range keys {
		if ref := reference(k.Child, k.Columns, k.Parent, k.References); !slices.Contains(declared, ref) {
			declared = append(declared, ref)
		}
	}
	slices.Sort(declared)
	q.declared = len(declared)
	for _, ref := range declared {
		if slices.Contains(proposed, ref) {
			q.found++
		} else {
			q.missed = append(q.missed, ref)
		}
	}
	for _, ref := range proposed {
		if slices.Contains(declared, ref) || slices.ContainsFunc(undeclared, func(s soft) bool { return s.String() == ref }) {
			q.right++
		} else {
			q.wrong = append(q.wrong, ref)
		}
	}
	slices.Sort(q.wrong)
	return q
}

package schema

import (
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// isAbove says whether the resource is the parent of another one.
func (p Plan) isAbove(name string) bool {
	return slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Parent.Resource == name })
}

// needs are what the server must keep for a plan: without guards a lock on the parent keeps rows from coming
// below one that is deleted.
func needs(p Plan) []onerow.Need {
	if p.Cluster || !slices.ContainsFunc(p.Resources, func(r Resource) bool { return r.Parent.Resource != "" }) {
		return nil
	}
	return []onerow.Need{onerow.RowLocks}
}

// isGuard says whether a column is the guard of a plan for a cluster. A plan that is not for one lets it be:
// it is added before the first program has such a plan, and dropped after the last one.
func isGuard(c *foundColumn) bool {
	return strings.EqualFold(c.name, ColGuard) && c.data == "bigint" && strings.Contains(c.full, "unsigned") && !c.nullable && c.hasDefault
}

package dict

import (
	"maps"
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
)

// Conditions are the columns of which each row over the edge has the same value.
func Conditions(e schema.Edge) map[string]string {
	all := map[string]string{}
	maps.Copy(all, e.When)
	if mark := e.OnDelete.Mark(); mark != "" {
		all[mark] = ""
	}
	return all
}

// CascadeColumns are the columns of a node that a cascade reads or writes, in lower case, sorted, each once.
func CascadeColumns(nodes []schema.Node, n schema.Node) []string {
	columns := slices.Clone(n.Key)
	for _, col := range []string{n.Asset, n.Tenant, n.Owner, n.Quota} {
		if col != "" {
			columns = append(columns, col)
		}
	}
	for _, e := range n.Parents {
		columns = append(columns, e.Columns...)
		columns = slices.AppendSeq(columns, maps.Keys(Conditions(e)))
	}
	for _, below := range nodes {
		for _, e := range below.Parents {
			if e.Table == n.Name {
				columns = append(columns, e.References...)
			}
		}
	}
	columns = colset.Lower(columns)
	slices.Sort(columns)
	return slices.Compact(columns)
}

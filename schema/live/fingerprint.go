package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// fingerprintLength is how many hexadecimal digits a fingerprint has.
const fingerprintLength = 32

// Fingerprint is 32 hexadecimal digits that change when the plan changes, or anything
// in the database on which a cascade by this plan relies: tables, their engines and
// primary keys; the columns of keys, edges, conditions and assets, with their types;
// foreign keys from and to the plan's tables with their rules; their triggers. They do
// not change with other columns, with indexes, or with the names of foreign keys.
//
// What the user may not see is not part of it (see [Inspect]), so all who work on
// one queue need the same rights.
func (c *Catalog) Fingerprint(p Plan) string { return FingerprintOf(c.Describe(p)) }

// FingerprintOf is the fingerprint of a text of [Catalog.Describe].
func FingerprintOf(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:])[:fingerprintLength]
}

// Describe is the text whose sum is the fingerprint, for [Changes].
func (c *Catalog) Describe(p Plan) string {
	var all described
	all.Nodes = canonical(p.Nodes())
	ours := map[string]bool{}
	for _, n := range all.Nodes {
		columns := relevantColumns(all.Nodes, n)
		for _, name := range n.Tables {
			ours[c.found.key(name)] = true
			s := describedTable{Name: name}
			if t := c.found.table(name); t != nil {
				s.Kind, s.Engine, s.Primary = t.kind, strings.ToLower(t.engine), t.primary()
				for _, col := range columns {
					if f := t.column(col); f != nil {
						s.Columns = append(s.Columns, fmt.Sprintf("%s %s %s %s %v", strings.ToLower(f.name), f.full, f.charset, f.collation, f.nullable))
					}
				}
				for _, tr := range t.triggers {
					s.Triggers = append(s.Triggers, tr.name+" "+tr.timing+" "+tr.event)
				}
			}
			all.Tables = append(all.Tables, s)
		}
	}
	for _, f := range c.found.foreign {
		from := f.schema == c.found.name && ours[c.found.key(f.table)]
		to := f.toSchema == c.found.name && ours[c.found.key(f.to)]
		if from || to {
			all.Foreign = append(all.Foreign, fmt.Sprintf("%s.%s %q > %s.%s %q %s %s", c.short(f.schema), f.table, colset.Lower(f.columns),
				c.short(f.toSchema), f.to, colset.Lower(f.references), rule(f.onDelete), rule(f.onUpdate)))
		}
	}
	slices.Sort(all.Foreign)
	text, err := json.Marshal(all)
	if err != nil { // strings, numbers and maps of strings: there is nothing that JSON cannot hold
		text = fmt.Appendf(nil, "%+v", all)
	}
	return string(text)
}

// short leaves the name of the current database out: a restored copy of it is the same.
func (c *Catalog) short(database string) string {
	if database == c.found.name {
		return ""
	}
	return database
}

// rule: the two words for "refuse" do the same in InnoDB, and which of them is shown depends on the engine.
func rule(r string) string {
	if restricts(r) {
		return "RESTRICT"
	}
	return r
}

// edgeOrder is by what edges are sorted.
func edgeOrder(e Edge) string {
	return strings.ToLower(fmt.Sprintf("%q %q %q %q", e.Table, e.Columns, e.References, e.When)) + string(e.OnDelete)
}

// canonical sorts what is in no particular order.
func canonical(nodes []Node) []Node {
	for i := range nodes {
		nodes[i].Trash = min(nodes[i].Trash, 1) // not how long: a job may go on
		nodes[i].Parents = slices.Clone(nodes[i].Parents)
		slices.SortFunc(nodes[i].Parents, func(a, b Edge) int {
			return strings.Compare(edgeOrder(a), edgeOrder(b))
		})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// relevantColumns are the columns of a node that a cascade reads or writes, in lower case,
// sorted, each once.
func relevantColumns(nodes []Node, n Node) []string {
	columns := slices.Clone(n.Key)
	for _, col := range []string{n.Asset, n.Tenant, n.Owner, n.Quota} {
		if col != "" {
			columns = append(columns, col)
		}
	}
	for _, e := range n.Parents {
		columns = append(columns, e.Columns...)
		columns = slices.AppendSeq(columns, maps.Keys(conditions(e)))
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

package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// fingerprintLength is how many hexadecimal digits a fingerprint has.
const fingerprintLength = 32

// Fingerprint is 32 hexadecimal digits that change when the plan changes, or anything
// in the database on which a cascade by this plan relies: tables, their engines and
// primary keys; the columns of keys, edges, conditions and assets, with their types;
// foreign keys from and to the plan's tables with their rules; their triggers. They do
// not change with other columns, with indexes, or with the names of foreign keys.
//
// What the user may not see is not part of it (see [Read]), so all who work on
// one queue need the same rights.
func (c *Catalog) Fingerprint(p schema.Plan) string { return FingerprintOf(c.Describe(p)) }

// FingerprintOf is the fingerprint of a text of [Catalog.Describe].
func FingerprintOf(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:])[:fingerprintLength]
}

// Describe is the text whose sum is the fingerprint, for [Changes].
func (c *Catalog) Describe(p schema.Plan) string {
	var all described
	all.Nodes = canonical(p.Nodes())
	ours := map[string]bool{}
	for _, n := range all.Nodes {
		columns := dict.RelevantColumns(all.Nodes, n)
		for _, name := range n.Tables {
			ours[c.found.Key(name)] = true
			s := describedTable{Name: name}
			if t := c.found.Table(name); t != nil {
				s.Kind, s.Engine, s.Primary = t.Kind, strings.ToLower(t.Engine), t.Primary()
				for _, col := range columns {
					if f := t.Column(col); f != nil {
						s.Columns = append(s.Columns, fmt.Sprintf("%s %s %s %s %v", strings.ToLower(f.Name), f.Full, f.Charset, f.Collation, f.Nullable))
					}
				}
				for _, tr := range t.Triggers {
					s.Triggers = append(s.Triggers, tr.Name+" "+tr.Timing+" "+tr.Event)
				}
			}
			all.Tables = append(all.Tables, s)
		}
	}
	for _, f := range c.found.Foreign {
		from := f.Schema == c.found.Name && ours[c.found.Key(f.Table)]
		to := f.ToSchema == c.found.Name && ours[c.found.Key(f.To)]
		if from || to {
			all.Foreign = append(all.Foreign, fmt.Sprintf("%s.%s %q > %s.%s %q %s %s", c.short(f.Schema), f.Table, colset.Lower(f.Columns),
				c.short(f.ToSchema), f.To, colset.Lower(f.References), rule(f.OnDelete), rule(f.OnUpdate)))
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
	if database == c.found.Name {
		return ""
	}
	return database
}

// rule: the two words for "refuse" do the same in InnoDB, and which of them is shown depends on the engine.
func rule(r string) string {
	if dict.Restricts(r) {
		return "RESTRICT"
	}
	return r
}

// edgeOrder is by what edges are sorted.
func edgeOrder(e schema.Edge) string {
	return strings.ToLower(fmt.Sprintf("%q %q %q %q", e.Table, e.Columns, e.References, e.When)) + string(e.OnDelete)
}

// canonical sorts what is in no particular order.
func canonical(nodes []schema.Node) []schema.Node {
	for i := range nodes {
		nodes[i].Trash = min(nodes[i].Trash, 1) // not how long: a job may go on
		nodes[i].Parents = slices.Clone(nodes[i].Parents)
		slices.SortFunc(nodes[i].Parents, func(a, b schema.Edge) int {
			return strings.Compare(edgeOrder(a), edgeOrder(b))
		})
	}
	slices.SortFunc(nodes, func(a, b schema.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// Describe returns a text that changes when the plan changes, or anything in the database on which a cascade
// by this plan relies: tables, their engines and primary keys; the columns of keys, edges, conditions and
// assets, with their types; foreign keys from and to the plan's tables with their rules; their triggers. It
// does not change with other columns, with indexes, or with the names of foreign keys, nor with the order of
// the plan. [Changes] compares two such texts.
//
// What the user may not see is not part of it (see [Read]), so all who work on
// one queue need the same rights.
func (c *Catalog) Describe(p schema.Plan) string {
	all := description{Plan: map[string]map[string]string{}, Tables: map[string]map[string]string{}, Foreign: map[string]string{}}
	nodes := p.Nodes()
	ours := map[string]bool{}
	for _, n := range nodes {
		all.Plan[n.Name] = describeNode(n)
		columns := dict.CascadeColumns(nodes, n)
		for _, name := range n.Tables {
			ours[c.found.Key(name)] = true
			all.Tables[name] = describeTable(c.found.Table(name), columns)
		}
	}
	for _, f := range c.found.Foreign {
		from := f.Schema == c.found.Name && ours[c.found.Key(f.Table)]
		to := f.ToSchema == c.found.Name && ours[c.found.Key(f.To)]
		if from || to {
			key := fmt.Sprintf("%s.%s %q > %s.%s %q %s %s", c.short(f.Schema), f.Table, colset.Lower(f.Columns),
				c.short(f.ToSchema), f.To, colset.Lower(f.References), rule(f.OnDelete), rule(f.OnUpdate))
			all.Foreign[key] = ""
		}
	}
	text, err := json.Marshal(all)
	if err != nil { // maps of strings: there is nothing that JSON cannot hold
		text = fmt.Appendf(nil, "%+v", all)
	}
	return string(text)
}

// describeNode says what the plan has of a resource or a table. How long rows stay in the trash is no part of
// it: a job may go on.
func describeNode(n schema.Node) map[string]string {
	facts := map[string]string{}
	for what, is := range map[string]any{"tables": n.Tables, "key": n.Key, "asset": n.Asset, "owner": n.Owner, "quota": n.Quota, "tenant": n.Tenant,
		"limits": n.Limits, "stays": n.Stays, "trash": n.Trash > 0, "resource": n.Managed} {
		facts[what+" of "+n.Name] = fmt.Sprintf("%q", fmt.Sprint(is))
	}
	for _, e := range n.Parents {
		edge := fmt.Sprintf("the edge %s (%s) → %s (%s)", n.Name, strings.Join(e.Columns, ", "), e.Table, strings.Join(e.References, ", "))
		for _, column := range slices.Sorted(maps.Keys(e.When)) {
			edge += fmt.Sprintf(" where %s is %q", column, e.When[column])
		}
		facts[edge] = "on_delete: " + string(e.OnDelete)
	}
	return facts
}

// describeTable says what the database has of a table; nothing, where it is missing.
func describeTable(t *dict.Table, columns []string) map[string]string {
	facts := map[string]string{}
	if t == nil {
		return facts
	}
	facts["it"] = fmt.Sprintf("a %s of %s", t.Kind, strings.ToLower(t.Engine))
	facts["the primary key"] = "(" + strings.Join(t.Primary(), ", ") + ")"
	for _, name := range columns {
		if f := t.Column(name); f != nil {
			facts["column "+strings.ToLower(f.Name)] = f.Collated() + map[bool]string{true: " NULL", false: " NOT NULL"}[f.Nullable]
		}
	}
	for _, tr := range t.Triggers {
		facts["the trigger "+tr.Name+" "+tr.Timing+" "+tr.Event] = ""
	}
	return facts
}

// short leaves the name of the current database out: a restored copy of it is the same.
func (c *Catalog) short(database string) string {
	if database == c.found.Name {
		return ""
	}
	return database
}

// rule returns one word for the two that refuse: they do the same in InnoDB, and the engine decides which is
// shown.
func rule(r string) string {
	if dict.Restricts(r) {
		return "RESTRICT"
	}
	return r
}

package featurefuzz

import (
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// ddl makes the table; pad is how wide the column is that fills a row.
func (t *table) ddl(pad int) string {
	q, lines := ident.Quote, []string{}
	add := func(p part, null string) {
		switch p.name {
		case t.computedPart():
			lines = append(lines, q(t.base)+" INT NOT NULL", q(p.name)+" "+p.typ+" AS ("+q(t.base)+" - 5) STORED"+strings.TrimPrefix(null, " NULL"))
		default:
			lines = append(lines, q(p.name)+" "+p.typ+null)
		}
	}
	for _, p := range t.key {
		add(p, " NOT NULL")
	}
	for _, p := range t.edge {
		add(p, " NULL")
	}
	lines = append(lines, colNumber+" INT NOT NULL", colRoot+" INT NOT NULL", colTouched+" INT NOT NULL DEFAULT 0")
	for _, c := range t.data {
		lines = append(lines, q(c.name)+" "+c.typ)
	}
	if t.fills {
		lines = append(lines, fmt.Sprintf("pad VARCHAR(%d) CHARACTER SET latin1 NOT NULL DEFAULT ''", pad))
	}
	lines = append(lines, "PRIMARY KEY ("+quoted(t.key)+")")
	if t.parent != nil {
		lines = append(lines, "KEY up ("+quoted(t.edge)+")")
		if t.rule != "" {
			lines = append(lines, fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) %s", q(t.foreign), quoted(t.edge), q(t.parent.name), quoted(t.parent.key), t.rule))
		}
	}
	lines = append(lines, t.lines...)
	return fmt.Sprintf("CREATE TABLE %s (\n  %s\n) ENGINE=%s DEFAULT CHARSET=utf8mb4%s", q(t.name), strings.Join(lines, ",\n  "), t.engine, t.options)
}

func quoted(parts []part) string { return ident.Quotes(names(parts)...) }

func names(parts []part) []string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.name
	}
	return list
}

// declare writes the plan.
func (w *world) declare() {
	w.plan.Trash = schema.Age(24 * time.Hour)
	for _, t := range w.tables {
		if t.archive != "" {
			w.plan.Resources = append(w.plan.Resources, w.resource(t))
			continue
		}
		declared := schema.Table{Name: t.name, Key: names(t.key), Triggers: t.accepted}
		if t.parent != nil {
			e := schema.Edge{Table: t.parent.name, Columns: names(t.edge)}
			if t.detach {
				e.OnDelete = schema.OnDeleteDetach
			}
			declared.Parents = append(declared.Parents, e)
		}
		w.plan.Tables = append(w.plan.Tables, declared)
	}
}

// resource declares a table that verbs work with.
func (w *world) resource(t *table) schema.Resource {
	res := schema.Resource{Name: t.name, Archive: t.archive, Owner: "owner_id", Label: schema.Label{Column: "name"}, Columns: []schema.Column{
		{Name: colNumber, Type: "INT NOT NULL DEFAULT 0"}, {Name: colRoot, Type: "INT NOT NULL DEFAULT -1"}, {Name: colTouched, Type: "INT NOT NULL DEFAULT 0"},
	}}
	for _, c := range t.data {
		if !c.computed {
			typ := c.typ
			if typ == "DOUBLE NOT NULL" {
				typ += " DEFAULT 0"
			}
			res.Columns = append(res.Columns, schema.Column{Name: c.name, Type: typ})
		}
	}
	if w.has[ofUniqueNulls] {
		res.Indexes = []schema.Index{{Columns: []string{t.data[len(t.data)-1].name, colTouched}, Unique: true}}
	}
	return res
}

package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// usable names what keeps a table from being in a plan.
func (d *discovery) usable(n *candidate) {
	t := n.table
	if err := ident.Check(t.name); err != nil {
		d.obstacle(t.name, "%v; rename it", err)
	}
	if len(t.name) > maxResourceName {
		d.obstacle(t.name, "its name has %d bytes, and jobs hold names of at most %d; rename it", len(t.name), maxResourceName)
	}
	switch {
	case !t.isTable():
		d.obstacle(t.name, "it is a %s; begin with the tables behind it", strings.ToLower(t.kind))
		return
	case !strings.EqualFold(t.engine, "InnoDB"):
		d.obstacle(t.name, "its engine is %s, which has neither transactions nor foreign keys; ALTER TABLE %s ENGINE=InnoDB", t.engine, Quote(t.name))
	}
	if t.primary() == nil {
		words, statement := addPrimaryKey(t)
		d.obstacle(t.name, "it has no primary key, so no row can be named; %s", strings.TrimSpace(words+" "+statement))
	}
	for _, col := range t.primary() {
		if problem := t.keyProblem(col); problem != "" {
			d.obstacle(t.name, "its primary key has the column %q: %s", col, problem)
		}
	}
	for _, e := range n.edges {
		for _, col := range slices.Concat(e.columns, e.references) {
			if err := ident.Check(col); err != nil {
				d.obstacle(t.name, "the foreign key %q: %v; rename the column", e.name, err)
			}
		}
	}
}

// keyProblem says why a column cannot be part of a key, "" if it can.
func (t *foundTable) keyProblem(col string) string {
	f := t.column(col)
	switch {
	case f == nil:
		return "only a prefix of it is in the key; a key that is cut names no row"
	case !f.info().keyable():
		return fmt.Sprintf("the exact value of a %s cannot be held; make it an integer, text, bytes or a DATETIME", f.full)
	}
	return ""
}

// addPrimaryKey is what to do about a table without one: a unique key that could be it,
// the column that the server numbers already, or a new one.
func addPrimaryKey(t *foundTable) (words, statement string) {
	for _, x := range t.indexes {
		fits := x.unique && !slices.ContainsFunc(x.columns, func(col string) bool {
			f := t.column(col)
			return f == nil || f.nullable || !f.info().keyable()
		})
		if fits {
			return "", fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", Quote(t.name), ident.Quotes(t.spelled(x.columns)...))
		}
	}
	for _, c := range t.columns {
		if strings.Contains(strings.ToLower(c.extra), "auto_increment") { // a table has one at most
			return oneFirst, fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", Quote(t.name), Quote(c.name))
		}
	}
	name := "id"
	for n := 2; t.column(name) != nil; n++ {
		name = fmt.Sprintf("id_%d", n)
	}
	return "", fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", Quote(t.name), Quote(name))
}

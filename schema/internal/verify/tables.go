package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// foreign holds an existing table, and its archive, against the plan: what the
// cascade needs of the table itself.
func (v *verifier) foreign(t Table) {
	const create = "correct the plan, or let cascade-worker discover write it anew"
	n := Node{Name: t.Name, Tables: tablesOf(t), Key: t.Key, Asset: t.Asset, Parents: t.Parents, Stays: t.Stays}
	var active *foundTable
	for _, name := range tablesOf(t) {
		have := v.table(name, create)
		if have == nil {
			continue
		}
		v.primaryKey(t, have)
		if t.Asset != "" && have.column(t.Asset) == nil {
			v.say(assetMissing, difference{Table: name, Column: t.Asset, Problem: "it does not exist; it should name the row's asset", Fix: "correct the plan's asset"}, "")
		}
		v.foreignTriggers(t, n, have)
		if active == nil {
			active = have
			continue
		}
		v.archivePair(n, active, have)
	}
}

// tablesOf are the table and, where there is one, its archive.
func tablesOf(t Table) []string { return append([]string{t.Name}, colset.Some(t.Archive)...) }

// primaryKey: rows are named, locked and parked by it.
func (v *verifier) primaryKey(t Table, have *foundTable) {
	primary, statement := have.primary(), ""
	switch {
	case primary == nil:
		words, statement := v.replaceKey(have, t.Key)
		if statement == "" {
			words, statement = addPrimaryKey(have)
		}
		v.say(keyMissing, difference{Table: have.name, Index: "PRIMARY", Problem: "it has no primary key, so no row of it can be named, locked or parked", Fix: words}, statement)
		return
	case !slices.Equal(primary, colset.Lower(t.Key)):
		d := difference{Table: have.name, Index: "PRIMARY",
			Problem: fmt.Sprintf("the primary key is (%s), the plan says (%s)", strings.Join(have.spelled(primary), ", "), strings.Join(t.Key, ", ")),
			Fix:     fmt.Sprintf("correct the plan: key: [%s]", strings.Join(have.spelled(primary), ", "))}
		if v.found.key(have.name) == v.found.key(t.Archive) {
			d.Fix, statement = v.replaceKey(have, t.Key)
		}
		v.say(keyOther, d, statement)
	}
	for _, col := range primary {
		if problem := have.keyProblem(col); problem != "" {
			v.say(keyInexact, difference{Table: have.name, Column: col, Problem: "it is in the primary key, and " + problem, Fix: "make another column the primary key"}, "")
		}
	}
}

// foreignTriggers: what a trigger writes is neither bounded nor counted; so a person
// has to have looked at it. One that runs with inserts never meets the worker.
func (v *verifier) foreignTriggers(t Table, n Node, have *foundTable) {
	updates := slices.ContainsFunc(n.Parents, func(e Edge) bool { return e.OnDelete.Detaches() || e.Table == n.Name })
	for _, tr := range have.triggers {
		if !tr.runsWith(!t.Stays, updates) || slices.ContainsFunc(t.Triggers, func(name string) bool { return strings.EqualFold(name, tr.name) }) {
			continue
		}
		v.say(foreignTrigger, difference{Table: have.name,
			Problem: fmt.Sprintf("the trigger %q runs %s each %s of the worker's; what it writes is neither bounded nor counted", tr.name, strings.ToLower(tr.timing), strings.ToLower(tr.event)),
			Fix:     fmt.Sprintf("look at it: if it belongs to the deletion of a row, say so in the plan, triggers: [%s]; otherwise", tr.name)}, "DROP TRIGGER "+Quote(tr.name))
	}
	for _, name := range t.Triggers {
		in := func(table string) bool {
			other := v.found.table(table)
			return other != nil && slices.ContainsFunc(other.triggers, func(tr foundTrigger) bool { return strings.EqualFold(tr.name, name) })
		}
		if have.name == v.found.in(t.Name).name && !slices.ContainsFunc(tablesOf(t), in) {
			v.say(triggerGone, difference{Table: have.name, Problem: fmt.Sprintf("the plan accepts the trigger %q, and the table has none of that name that this user may see", name),
				Fix: "take it out of the plan's triggers, or GRANT TRIGGER to see it"}, "")
		}
	}
}

// archivePair: rows go from one table to the other with their key and all they hold.
func (v *verifier) archivePair(n Node, active, archive *foundTable) {
	matters := slices.Clone(n.Key)
	if n.Asset != "" {
		matters = append(matters, n.Asset)
	}
	for _, e := range n.Parents {
		matters = append(matters, e.Columns...)
	}
	for i := range active.columns {
		a := &active.columns[i]
		b := archive.column(a.name)
		switch {
		case a.computed():
		case b == nil:
			words, statement := v.addLike(active, archive, a)
			v.say(archiveMissing, difference{Table: archive.name, Column: a.name, Problem: fmt.Sprintf("%q has it and its archive does not, so a row loses it when it moves", active.name), Fix: words}, statement)
		case colset.Has(matters, a.name) && (a.full != b.full || a.collation != b.collation):
			words, statement := v.pairFix(active, archive, a, b, true)
			v.say(archiveDiffers, difference{Table: archive.name, Column: a.name, Problem: fmt.Sprintf("it is %s here and %s in %q, so the cascade cannot look for the same value in both", b.collated(), a.collated(), active.name), Fix: words}, statement)
		}
	}
}

package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// existing holds an existing table, and its archive, against the plan: what the
// cascade needs of the table itself.
func (v *verifier) existing(n schema.Node) {
	const create = "correct the plan, or let cascade-worker discover write it anew"
	var active *dict.Table
	for _, name := range n.Tables {
		have := v.table(name, create)
		if have == nil {
			continue
		}
		v.primaryKey(n, have)
		if n.Asset != "" && have.Column(n.Asset) == nil {
			v.report(AssetMissing, Difference{Table: name, Column: n.Asset, Problem: "it does not exist; it should name the row's asset", Fix: "correct the plan's asset"}, "")
		}
		v.acceptedTriggers(n, have)
		if active == nil {
			active = have
			continue
		}
		v.archivePair(n, active, have)
	}
}

// primaryKey compares the primary key, by which rows are named, locked and parked.
func (v *verifier) primaryKey(n schema.Node, have *dict.Table) {
	primary, statement := have.Primary(), ""
	switch {
	case primary == nil:
		words, statement := v.replaceKey(have, n.Key)
		if statement == "" {
			words, statement = AddPrimaryKey(have)
		}
		v.report(KeyMissing, Difference{Table: have.Name, Index: "PRIMARY", Problem: "it has no primary key, so no row of it can be named, locked or parked", Fix: words}, statement)
		return
	case !slices.Equal(primary, colset.Lower(n.Key)):
		d := Difference{Table: have.Name, Index: "PRIMARY",
			Problem: fmt.Sprintf("the primary key is (%s), the plan says (%s)", strings.Join(have.Spelled(primary), ", "), strings.Join(n.Key, ", ")),
			Fix:     fmt.Sprintf("correct the plan: key: [%s]", strings.Join(have.Spelled(primary), ", "))}
		if v.found.Key(have.Name) != v.found.Key(n.Tables[0]) { // it is the archive
			d.Fix, statement = v.replaceKey(have, n.Key)
		}
		v.report(KeyOther, d, statement)
	}
	for _, col := range primary {
		if problem := have.KeyProblem(col); problem != "" {
			v.report(KeyInexact, Difference{Table: have.Name, Column: col, Problem: "it is in the primary key, and " + problem, Fix: "make another column the primary key"}, "")
		}
	}
}

// acceptedTriggers reports triggers that nobody has accepted: what a trigger writes is neither bounded nor
// counted; so a person has to have looked at it. One that runs with inserts never meets the worker.
func (v *verifier) acceptedTriggers(n schema.Node, have *dict.Table) {
	updates := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.OnDelete.Detaches() || e.Table == n.Name })
	for _, tr := range have.Triggers {
		if !tr.RunsWith(!n.Stays, updates) || colset.Has(n.Triggers, tr.Name) {
			continue
		}
		v.report(ForeignTrigger, Difference{Table: have.Name,
			Problem: fmt.Sprintf("the trigger %q runs %s each %s of the worker's; what it writes is neither bounded nor counted", tr.Name, strings.ToLower(tr.Timing), strings.ToLower(tr.Event)),
			Fix:     fmt.Sprintf("look at it: if it belongs to the deletion of a row, say so in the plan, triggers: [%s]; otherwise", tr.Name)}, "DROP TRIGGER "+ident.Quote(tr.Name))
	}
	for _, name := range n.Triggers {
		in := func(table string) bool {
			other := v.found.Table(table)
			return other != nil && slices.ContainsFunc(other.Triggers, func(tr dict.Trigger) bool { return strings.EqualFold(tr.Name, name) })
		}
		if have.Name == v.found.TableOrEmpty(n.Tables[0]).Name && !slices.ContainsFunc(n.Tables, in) {
			v.report(TriggerGone, Difference{Table: have.Name, Problem: fmt.Sprintf("the plan accepts the trigger %q, and the table has none of that name that this user may see", name),
				Fix: "take it out of the plan's triggers, or GRANT TRIGGER to see it"}, "")
		}
	}
}

// archivePair compares a table with its archive: rows go from one table to the other with their key and all
// they hold.
func (v *verifier) archivePair(n schema.Node, active, archive *dict.Table) {
	matters := slices.Clone(n.Key)
	if n.Asset != "" {
		matters = append(matters, n.Asset)
	}
	for _, e := range n.Parents {
		matters = append(matters, e.Columns...)
	}
	for i := range active.Columns {
		a := &active.Columns[i]
		b := archive.Column(a.Name)
		switch {
		case a.Computed():
		case b == nil:
			words, statement := v.addLike(active, archive, a)
			v.report(ArchiveMissing, Difference{Table: archive.Name, Column: a.Name, Problem: fmt.Sprintf("%q has it and its archive does not, so a row loses it when it moves", active.Name), Fix: words}, statement)
		case colset.Has(matters, a.Name) && (a.Full != b.Full || a.Collation != b.Collation):
			words, statement := v.pairFix(active, archive, a, b, true)
			v.report(ArchiveDiffers, Difference{Table: archive.Name, Column: a.Name, Problem: fmt.Sprintf("it is %s here and %s in %q, so the cascade cannot look for the same value in both", b.Collated(), a.Collated(), active.Name), Fix: words}, statement)
		}
	}
}

package restorefuzz

import (
	"maps"
	"slices"

	"github.com/onerow/onerow/cascade/recover"
)

// account is what was deleted of a node, and what became of it.
type account struct{ deleted, back, missing, references, expired, toldExpired, dry, dryExpired int64 }

const expiredWhy = "their time in the trash is over"

// accounts holds what is told against what is there.
func (t *trial) accounts(lacking map[string]int64, found func(kind, format string, args ...any)) {
	of, whole := t.sums(), len(lacking) == 0
	back := map[string]int64{} // by table
	for n, is := range t.end {
		if t.deleted(n) {
			of(n.Node).back++
			back[is.table]++
		}
	}
	t.addTold(of, found)
	for node, n := range lacking {
		of(node).references -= n
	}
	for n := range t.copies.cutLost { // the job does not count the references of rows that go as well
		of(n.Node).references = max(0, of(n.Node).references)
	}
	nodes := map[string]bool{}
	for n := range t.before {
		nodes[n.Node] = true
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		a := of(node)
		whole = whole && a.deleted == a.back
		if a.deleted != a.back+a.missing {
			found(brokenCounts, "of %s %d were deleted, %d are back, %d are told as missing: %+v", node, a.deleted, a.back, a.missing, t.told.Missing)
		}
		if a.references < 0 {
			found(brokenTold, "%d rows of %s lack a reference, and are not told: %+v", lacking[node], node, t.told.Missing)
		}
		if a.expired != a.toldExpired && !t.cut { // else some may have been purged
			found(brokenTold, "%d rows of %s have expired: %+v", a.expired, node, t.told.Missing)
		}
		if a.expired != a.dryExpired || a.dry > a.missing {
			found(brokenDry, "%d rows of %s have expired, %d are missing at the end: %+v", a.expired, node, a.missing, t.dry.Missing)
		}
	}
	if whole && len(t.copies.cutLost) == 0 && slices.ContainsFunc(t.told.Missing, func(m recover.Missing) bool { return m.Column == "" }) {
		found(brokenTold, "all is back: %+v", t.told.Missing)
	}
	for _, r := range t.report.Restored {
		if back[r.Table] -= r.Rows; back[r.Table] != 0 {
			found(brokenCounts, "the report says %+v, and there are %d more", r, back[r.Table])
		}
		delete(back, r.Table)
	}
	if len(back) > 0 {
		found(brokenCounts, "the report does not tell %v", back)
	}
	_, there := t.end[t.root]
	if there = there || !t.deleted(t.root); there != (t.told.RootMissing == "") {
		found(brokenRoot, "%q; it is there: %t", t.told.RootMissing, there)
	}
}

// addTold adds up what the restore and the dry run have told as missing.
func (t *trial) addTold(of func(node string) *account, found func(kind, format string, args ...any)) {
	for _, m := range t.told.Missing {
		if m.Why == "" || m.Rows < 0 || m.References < 0 || m.Rows+m.References == 0 {
			found(brokenTold, "%+v", m)
		}
		if m.Column == "" {
			of(m.Table).missing += m.Rows
			of(m.Table).references += m.References
		}
		if m.Why == expiredWhy {
			of(m.Table).toldExpired += m.Rows
		}
	}
	for _, m := range t.dry.Missing {
		if m.Column == "" {
			of(m.Table).dry += m.Rows
		}
		if m.Why == expiredWhy {
			of(m.Table).dryExpired += m.Rows
		}
	}
}

// sums adds up what the job has deleted by node, and what of it has expired.
func (t *trial) sums() func(node string) *account {
	all := map[string]*account{}
	of := func(node string) *account {
		if all[node] == nil {
			all[node] = &account{}
		}
		return all[node]
	}
	for n := range t.before {
		if t.deleted(n) {
			of(n.Node).deleted++
		}
	}
	for node, n := range t.copies.over {
		of(node).expired += n
	}
	return of
}

// dryRun judges what was told before.
func (t *trial) dryRun(found func(kind, format string, args ...any)) {
	if t.dry.Total != t.copies.live || !t.cut && t.told.Seen != t.copies.live {
		found(brokenDry, "%d are in the trash, %d tried: %+v", t.copies.live, t.told.Seen, t.dry)
	}
	if t.dry.RootMissing != "" && t.told.RootMissing == "" {
		found(brokenDry, "the root is back, told was %q", t.dry.RootMissing)
	}
	for what, p := range map[string]recover.Progress{"dry run": t.dry, "restore": t.told} {
		dropped := map[string]int64{}
		for _, m := range p.Missing {
			if m.Column != "" {
				dropped[m.Table] += m.Rows
			}
		}
		if what == "restore" && t.cut {
			continue
		}
		if !maps.Equal(dropped, t.dropped) {
			found(brokenTold, "%s: values of dropped columns: %v, told are %v", what, t.dropped, dropped)
		}
	}
}

package restorefuzz

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/schematest"
)

// Kinds of findings.
const (
	brokenRow      = "a row is not what it was, or is there twice"
	brokenStranger = "what is not of the deletion has changed"
	brokenBelow    = "a row is below one that has not come back"
	brokenStays    = "a row that could come back has not"
	brokenCounts   = "back and missing are not what was deleted"
	brokenTold     = "what is missing is told wrongly"
	brokenRoot     = "the root is told wrongly"
	brokenDry      = "the dry run told what is not so"
	brokenJob      = "the job has not ended as restored"
	brokenError    = "a call failed"
)

// row is one row, wherever it is.
type row struct {
	table string
	cells map[string]sql.NullString
}

// state are the rows of all tables.
type state map[schematest.Name]row

// same says whether the column is the same in both, or not in both.
func (r row) same(other row, column string) bool {
	a, in := r.cells[column]
	b, also := other.cells[column]
	return !in || !also || a == b
}

// live says whether a row still has a reference that it had.
func (r row) live(before row, ref schematest.Ref) bool {
	if mark := ref.Action.Mark(); mark != "" && r.cells[mark].Valid {
		return false
	}
	return !slices.ContainsFunc(ref.Columns, func(c string) bool { return !r.same(before, c) })
}

// copies say what of the deletion the trash has.
type copies struct {
	rows, expired map[schematest.Name]bool // whole rows, alive or not
	cutLost       map[schematest.Name]bool // rows of which a copy with a reference is not there, or has expired
	live          int64                    // rows and references, as the notes count them
	over          map[string]int64         // rows that have expired, as the notes count them, by node
}

// trial is one restore.
type trial struct {
	root                      schematest.Name
	done                      bool // the deletion
	refs                      map[schematest.Name][]schematest.Ref
	before, after, start, end state                    // the deletion, and the restore
	taken                     map[schematest.Name]bool // by a stranger
	unkept                    map[string]bool          // nodes, by the plan of today
	copies                    copies
	dropped                   map[string]int64 // values in the trash, by table

	dry, told recover.Progress
	cut       bool // in several calls
	report    admin.Report
}

// deleted says whether the job has deleted the row.
func (t *trial) deleted(n schematest.Name) bool {
	_, was := t.before[n]
	_, is := t.after[n]
	return was && !is
}

// judge calls found with each thing that is not as it must be.
func (t *trial) judge(found func(kind, format string, args ...any)) {
	for _, n := range sorted(t.start) {
		if _, there := t.end[n]; !there {
			found(brokenStranger, "%s is gone", n)
		}
	}
	lacking := map[string]int64{} // rows without a reference that they had, by node
	for _, n := range sorted(t.end) {
		if t.row(n, found) {
			lacking[n.Node]++
		}
	}
	t.mustBack(found)
	t.accounts(lacking, found)
	t.dryRun(found)
	job := t.report.Job
	if job == nil || job.State != queue.Restored || job.LastError != "" {
		found(brokenJob, "%+v", job)
	}
}

// row judges one that is there, and says whether it lacks a reference.
func (t *trial) row(n schematest.Name, found func(kind, format string, args ...any)) (lacks bool) {
	is, was := t.end[n], t.before[n]
	at, stayed := t.start[n]
	switch {
	case was.cells == nil && !stayed:
		found(brokenStranger, "%s came from nowhere: %v", n, is)
		return false
	case was.cells == nil:
		if !maps.Equal(is.cells, at.cells) || is.table != at.table {
			found(brokenStranger, "%s is %v, it was %v", n, is, at)
		}
		return false
	case !stayed && !t.deleted(n):
		found(brokenRow, "%s is back, though somebody else had deleted it: %v", n, is)
		return false
	case is.table != was.table:
		found(brokenRow, "%s is in %s, it was in %s", n, is.table, was.table)
	}
	cuts := map[string]bool{} // columns in which it may have lost a reference
	for _, ref := range t.refs[n] {
		if t.deleted(ref.To) {
			for _, c := range ref.Columns {
				cuts[c] = true
			}
			cuts[ref.Action.Mark()] = true
		}
	}
	for _, c := range slices.Sorted(maps.Keys(is.cells)) {
		switch {
		case is.same(was, c), stayed && is.cells[c] == at.cells[c]:
		case !stayed && cuts[c] && (!is.cells[c].Valid || strings.HasPrefix(c, schematest.MarkPrefix)):
		default:
			found(brokenRow, "%s has %v in %q, it had %v", n, is.cells[c], c, was.cells[c])
		}
	}
	for _, ref := range t.refs[n] {
		_, above := t.end[ref.To]
		switch live := is.live(was, ref); {
		case live && !above && (!stayed || !at.live(was, ref)):
			found(brokenBelow, "%s: what it refers to with %q, %s, is not there", n, ref.Columns, ref.To)
		case !live && t.deleted(ref.To) && (!stayed || !at.live(was, ref) && at.sameAll(t.after[n])):
			lacks = true
			if stayed && above && !t.copies.cutLost[n] && !t.lossy(ref.To.Node) && !t.lossy(n.Node) && t.allAbove(n) {
				found(brokenStays, "%s does not refer to %s again, with %q: %v", n, ref.To, ref.Columns, is)
			}
		}
	}
	return lacks
}

// allAbove says whether all is there to which the row referred.
func (t *trial) allAbove(n schematest.Name) bool {
	return !slices.ContainsFunc(t.refs[n], func(r schematest.Ref) bool { _, there := t.end[r.To]; return !there })
}

func (r row) sameAll(other row) bool {
	for c := range r.cells {
		if !r.same(other, c) {
			return false
		}
	}
	return true
}

// lossy says whether copies of deleted rows of the node are lost.
func (t *trial) lossy(node string) bool {
	for n := range t.before {
		if _, back := t.start[n]; n.Node == node && t.deleted(n) && !back && !t.copies.rows[n] && (!t.copies.expired[n] || t.cut) { // it may have been purged between two calls

			return true
		}
	}
	return t.unkept[node]
}

// mustBack judges what has not come back.
func (t *trial) mustBack(found func(kind, format string, args ...any)) {
	lossy := map[string]bool{}
	for n := range t.before {
		if _, known := lossy[n.Node]; !known {
			lossy[n.Node] = t.lossy(n.Node)
		}
	}
	may := map[schematest.Name]bool{}
	for n := range t.before {
		_, back := t.start[n]
		may[n] = t.deleted(n) && (back || t.copies.rows[n] && !t.taken[n] && !t.unkept[n.Node])
	}
	for grew := true; grew; {
		grew = false
		for n := range t.before {
			for _, ref := range t.refs[n] {
				_, there := t.start[ref.To]
				if _, back := t.start[n]; may[n] && !back && (lossy[ref.To.Node] || !there && !may[ref.To]) {
					may[n], grew = false, true
				}
			}
		}
	}
	for _, n := range sorted(t.before) {
		if _, back := t.end[n]; may[n] && !back {
			found(brokenStays, "%s, %v: %+v", n, t.before[n], t.told.Missing)
		}
	}
}

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
	if t.dry.Total != t.copies.live || !t.cut && t.told.Seen() != t.copies.live {
		found(brokenDry, "%d are in the trash, %d tried: %+v", t.copies.live, t.told.Seen(), t.dry)
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

func sorted(s state) []schematest.Name {
	return slices.SortedFunc(maps.Keys(s), func(a, b schematest.Name) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

package restorefuzz

import (
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

// lossy says whether copies of deleted rows of the node are lost.
func (t *trial) lossy(node string) bool {
	for n := range t.before {
		_, back := t.start[n]
		purged := !t.copies.expired[n] || t.cut // perhaps between two calls
		if n.Node == node && t.deleted(n) && !back && !t.copies.rows[n] && purged {
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

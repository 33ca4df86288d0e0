package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
)

// TestReport: what became of a deletion, and by whom, in words and as JSON.
func TestReport(t *testing.T) {
	w := ready(t)
	w.want(2, "say which job or deletion", "report")
	w.want(2, "not more than one of them", "report", "1", "--deletion", "1")
	w.want(1, "there is no job 17, or it was purged", "report", "17")
	w.want(1, "there is no deletion 17, or its audit was purged", "report", "--deletion", "17")
	w.createTrash()
	w.fill(1, 1, 3)
	w.ok("enqueue", "project", "1", "--by", "ann\x1b[31m", "--reason", "ticket\n4711")
	w.ok("drain")
	out := w.ok("report", "1")
	for _, want := range []string{"row           project 1\n", " by ann", "why           ticket", "deleted       3 rows of comment\n              1 row of screen\n",
		"in the trash  3 rows of comment, the first until 20", "done          20", " delete by ann"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") || strings.Count(out, "\n") > 15 {
		t.Errorf("it can be spoiled:\n%s", out)
	}
	w.ok("restore", "1", "--by", "ben", "--reason", "a mistake")
	var r admin.Report
	if err := json.Unmarshal([]byte(w.ok("report", "--deletion", "1", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Actions) != 3 || r.Actions[1].Action != "restore" || r.Actions[1].Actor != "ben" || r.Actions[1].Reason != "a mistake" || len(r.Trash) != 0 || r.Job.State != queue.Restored {
		t.Errorf("%+v", r)
	}
	if out := w.ok("report", "1"); strings.Contains(out, "cancel") || !strings.Contains(out, " restored by ben: a mistake\n") {
		t.Errorf("a restore is no cancel:\n%s", out)
	}
	w.fill(2, 1, 1)
	w.ok("enqueue", "project", "2", "--no-trash")
	w.ok("drain")
	if out := w.ok("report", "2"); !strings.Contains(out, "in the trash  nothing") || !strings.Contains(out, "unknown (the call did not say)") && !strings.Contains(out, "@") {
		t.Error(out)
	}
	w.ok("pause", "--by", "ann", "schema change")
	w.want(0, " pause by ann: schema change\n", "report", "--recent", "1")
	w.ok("resume", "--by", "ann")
	w.exec("DELETE FROM onerow_deletion")
	if out := w.ok("report", "2"); !strings.Contains(out, "unknown: the deletion was not logged, or its audit was purged") {
		t.Error(out)
	}
}

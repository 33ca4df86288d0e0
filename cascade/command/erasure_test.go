package command

import (
	"strings"
	"testing"
)

// TestVerifyErasure: a column that may name a project fails it until the plan decides on it.
func TestVerifyErasure(t *testing.T) {
	w := ready(t)
	o := w.want(0, "ok: nothing else", "verify", "--erasure", "project")
	if !strings.Contains(o.stdout, "screen") || !strings.Contains(o.stdout, "are deleted") {
		t.Error(o)
	}
	t.Log("\n" + o.stdout)
	w.exec("CREATE TABLE access_log (at DATETIME, project_id BIGINT)")
	w.exec("CREATE TABLE outbox (id BIGINT PRIMARY KEY, payload JSON)")
	w.exec(`INSERT INTO outbox VALUES (1, '{"screens": [{"projectId": 7}]}')`)
	o = w.want(1, "2 columns undecided", "verify", "--erasure", "project")
	for _, part := range []string{"undecided: access_log.project_id: its name says project", "undecided: outbox.payload: 1 of the first documents", "table: project, columns: [project_id]", "because: …", "no edge reaches into a document"} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("%q is missing in %s", part, o)
		}
	}
	t.Log("\n" + o.stdout)
	w.write(w.plan, testPlan+"spared:\n  - {table: access_log, column: project_id, because: removed after a week}\n  - {table: outbox, column: payload, because: removed when it is sent}\n")
	o = w.want(0, "ok: nothing else", "verify", "--erasure", "project")
	if !strings.Contains(o.stdout, "removed after a week") {
		t.Error(o)
	}
	w.ok("verify")
	w.want(2, "unknown resource", "verify", "--erasure", "nobody")
	w.want(2, "asked alone", "verify", "--erasure", "project", "--purge")
	w.write(w.plan, testPlan+"spared:\n  - {table: access_log, column: project_id}\n")
	w.want(2, "why it stays", "verify", "--erasure", "project")
}

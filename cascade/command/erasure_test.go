package command

import (
	"encoding/json"
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

// TestCertificate: an erasure is full when nothing refers to the row, nothing is in the trash, and the plan has
// decided on all that might.
func TestCertificate(t *testing.T) {
	w := ready(t)
	w.createTrash()
	w.fill(1, 2, 3)
	w.ok("enqueue", "project", "1", "--no-trash", "--by", "ann", "--reason", "request 4711")
	w.want(1, "job 1 is ready", "report", "1", "--certificate")
	w.ok("drain")
	o := w.want(0, "the erasure is full", "report", "1", "--certificate")
	for _, part := range []string{"why           request 4711", "screen   project_id  project    ", "comment  screen_id   screen     "} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("%q is missing in %s", part, o)
		}
	}
	t.Log("\n" + o.stdout)
	var c struct {
		Decisions []struct {
			Table      string
			Went, Left int64
		}
		Open []string
	}
	if err := json.Unmarshal([]byte(w.ok("report", "1", "--certificate", "--json")), &c); err != nil || len(c.Open) != 0 || len(c.Decisions) != 2 || c.Decisions[0].Went != 2 || c.Decisions[1].Went != 6 {
		t.Errorf("%v, %+v", err, c)
	}
	w.exec("INSERT INTO screen (id, project_id, filename, base, stem_key, created_at, updated_at) VALUES (77, 1, 'a', 'a', 'a', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	w.exec("CREATE TABLE access_log (at DATETIME, project_id BIGINT)")
	o = w.want(1, "1 row of screen: still below it", "report", "1", "--certificate")
	if !strings.Contains(o.stdout, "access_log.project_id may name it") || strings.Contains(o.stdout, "is full") {
		t.Error(o)
	}
	w.exec("DELETE FROM screen WHERE id = 77")
	w.exec("DROP TABLE access_log")
	w.fill(2, 1, 1)
	w.ok("enqueue", "project", "2")
	w.ok("drain")
	if o := w.want(1, "in the trash until", "report", "2", "--certificate"); strings.Contains(o.stdout, "still below") {
		t.Error(o)
	}
	w.ok("trash", "purge", "--job", "2")
	w.want(0, "the erasure is full", "report", "2", "--certificate")
	w.want(2, "of one deletion", "report", "--recent", "3", "--certificate")
}

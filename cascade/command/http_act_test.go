package command

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func (s *site) post(path string, fields ...string) reply {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.do(http.MethodPost, path, form)
}

// eventually reads a page until it says something.
func (s *site) eventually(path, text string) {
	s.t.Helper()
	dbtest.Eventually(s.t, 60*time.Second, func() (bool, string) {
		body := s.get(path).body
		return strings.Contains(body, text), fmt.Sprintf("%q is not in %s", text, body)
	})
}

// lease makes a job one that a worker has, until then.
func (s *site) lease(job int64, worker string, until time.Duration) {
	s.t.Helper()
	s.exec(`UPDATE onerow_job SET state = 'running', started_at = UTC_TIMESTAMP(6), due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, worker = ?, token = token + 1 WHERE id = ?`,
		until.Microseconds(), worker, job)
	s.changed()
}

// reported makes a worker have reported some time ago.
func (s *site) reported(worker string, ago time.Duration, throttle any) {
	s.t.Helper()
	s.exec(`INSERT INTO onerow_worker (name, started_at, seen_at, beats, throttle) VALUES (?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND, 1, ?)
ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at), throttle = VALUES(throttle)`, worker, ago.Microseconds(), throttle)
	s.changed()
}

// TestPageNamesWhoActs: by the token's name, with the reason; the report of the job says it.
func TestPageNamesWhoActs(t *testing.T) {
	w := ready(t)
	s := w.serve("alice:"+testToken+" bob@shop:"+strings.ToUpper(testToken), false)
	s.token = testToken
	w.fill(1, 1, 1)
	job := s.enqueue(1, 0)
	s.message(s.post(fmt.Sprintf("/jobs/%d/pause", job.ID), "reason", "asked the owner", "to", fmt.Sprintf("/jobs/%d", job.ID)), "alice (page): asked the owner")
	s.token = "bob@shop:" + strings.ToUpper(testToken) // as it was set
	s.message(s.post(fmt.Sprintf("/jobs/%d/resume", job.ID)), "is ready")
	s.says(s.get(fmt.Sprintf("/jobs/%d", job.ID)), http.StatusOK, "resume by bob@shop (page)", "pause by alice (page): asked the owner")
	// A cookie knows whose it is.
	in := s.do(http.MethodPost, "/login", url.Values{"token": {testToken}}, func(r *http.Request) { r.Header.Del("Authorization") })
	s.says(in, http.StatusSeeOther)
	s.message(s.do(http.MethodPost, fmt.Sprintf("/jobs/%d/pause", job.ID), url.Values{}, func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(in.Cookies()[0])
	}), "is paused")
	s.says(s.get(fmt.Sprintf("/jobs/%d", job.ID)), http.StatusOK, "pause by alice (page)<")
	// A person finds the job by who has acted, by the row, and by its number.
	for _, q := range []string{"alice", "project 1", "project", fmt.Sprint(job.ID)} {
		s.says(s.get("/search?q="+url.QueryEscape(q)), http.StatusOK, fmt.Sprintf(`id="job-%d"`, job.ID))
	}
	s.says(s.get("/search?q=nobody"), http.StatusOK, "Nothing found")
	s.says(s.get("/search?q=%3Cscript%3E"), http.StatusOK, "&lt;script&gt;")
	if got := s.get("/search?q=+"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("nothing is searched for: %s", got.Status)
	}
	s.says(s.get("/jobs/4711"), http.StatusNotFound, "There is no job 4711")
}

// TestPageGroups: what failed in the same way is one entry, retried or skipped at once, beyond what is shown.
func TestPageGroups(t *testing.T) {
	s := ready(t).serve("", true)
	for id := 1; id <= 3; id++ {
		s.fill(id, 1, 1)
		s.end(s.enqueue(id, 0).ID, queue.Dead, fmt.Sprintf("cascade: job %d is refused for 'x%d'", id, id))
	}
	s.fill(4, 1, 1)
	other := s.enqueue(4, 0)
	s.end(other.ID, queue.Dead, "cascade: another error")
	body := s.get("/").body
	for _, text := range []string{"3 jobs of project", "Retry all", fmt.Sprintf(`id="job-%d"`, other.ID), "Nothing is due.", "4 jobs above need somebody"} {
		if !strings.Contains(body, text) {
			t.Errorf("%q is not in %s", text, body)
		}
	}
	group := regexp.MustCompile(`/errors/[0-9a-f]+/retry`).FindString(body)
	s.message(s.post(group), "3 jobs are tried again")
	s.says(s.post(group), http.StatusNotFound, "somebody was faster")
	if n := s.number("SELECT COUNT(*) FROM onerow_job"); n != 3 {
		t.Errorf("%d jobs are open", n)
	}

	const many = 250 // more than a page reads
	for i := range many {
		s.park(other.ID, "comment", i, fmt.Sprintf("Error 1451 (23000): Cannot delete row %d: a foreign key constraint fails (`shop`.`report`)", i))
	}
	s.park(other.ID, "comment", many, "Error 1644 (45000): row 1 is under audit")
	body = s.get("/").body
	for _, text := range []string{"199 rows of comment", "51 more rows", "Skip all", "and 179 more rows"} {
		if !strings.Contains(body, text) {
			t.Errorf("%q is not in %s", text, body)
		}
	}
	ask := ""
	for _, path := range regexp.MustCompile(`/errors/[0-9a-f]+/skip`).FindAllString(body, -1) {
		ask = path
	}
	if ask == "" { // the newest row is the only one of its kind: the group comes after it
		t.Fatal(body)
	}
	s.says(s.get(ask), http.StatusOK, "Skip 250 rows of comment?")
	s.message(s.post(ask), "250 rows are skipped")
	s.says(s.get(ask), http.StatusNotFound, "None of these rows is parked any more")
	if n := s.number("SELECT COUNT(*) FROM onerow_parked WHERE state = 'parked'"); n != 1 {
		t.Errorf("%d rows are parked", n)
	}
}

// TestPageControls: cancel, pause of a job and of a resource, and how workers work.
func TestPageControls(t *testing.T) {
	s := ready(t).serve("", true)
	s.fill(1, 2, 3)
	job := s.enqueue(1, 0)
	path := fmt.Sprintf("/jobs/%d", job.ID)
	s.says(s.get("/"), http.StatusOK, "No worker is running, so nothing of this is worked")
	s.message(s.post(path+"/first", "to", path), "is the next one")
	s.lease(job.ID, "w:1", time.Hour)
	s.reported("w:1", 0, nil)
	s.says(s.get("/"), http.StatusOK, ">running<", ">deleting<")
	s.says(s.get(path), http.StatusOK, "Cancel…", "Pause", "project 1", "Nothing of this job")

	s.message(s.post(path+"/first"), "does not wait for a worker any more")
	s.message(s.post("/pause-resource", "resource", "project", "reason", "ticket 7"), "Jobs of project are paused")
	s.says(s.get("/"), http.StatusOK, "ticket 7", ">paused<", "jobs of project are paused")
	if body := s.get("/").body; strings.Contains(body, ">running<") || strings.Contains(body, "rows/s") {
		t.Errorf("what is paused is shown at work: %s", body)
	}
	s.message(s.post("/pause-resource", "resource", "nonsense"), "nonsense")
	s.message(s.post("/resume-resource", "resource", "project"), "Jobs of project are worked")
	s.message(s.post("/pause", "reason", "why"), "Paused")
	s.says(s.get("/"), http.StatusOK, "all workers are paused", `badge wait">paused<`)
	s.message(s.post("/resume"), "Resumed")

	s.message(s.post("/settings", "load", "30", "target", "20"), "Set for all workers: load 30 %, target 20ms")
	s.message(s.post("/settings", "parallel", "2", "worker", "w:1"), "Set for worker w:1: 2 jobs at once")
	s.says(s.get("/"), http.StatusOK, "Set for all workers: load 30 %, target 20ms", "Set for worker w:1")
	for _, wrong := range []string{"x", "0", "101", "-3", "1e3"} {
		s.message(s.post("/settings", "load", wrong), "it should be a number from 1 to 100")
	}
	s.message(s.post("/settings"), "Nothing was set")
	s.message(s.post("/settings/default", "worker", "w:1"), "Worker w:1 work as the flags say")
	s.message(s.post("/settings/default"), "All workers work as the flags say")
	if body := s.get("/").body; strings.Contains(body, "Set for") {
		t.Error(body)
	}
	// Load is configuration, and no trouble; a lag is.
	s.reported("w:1", 0, "load: batches get 50% of the time")
	s.says(s.get("/"), http.StatusOK, `badge run">deleting<`, ">batches get 50% of the time<")

	// A worker that was killed: its lease runs, then it is gone, and its job is lost until another one takes it.
	s.reported("w:1", 20*time.Second, nil)
	s.says(s.get("/"), http.StatusOK, "silent; its lease ends in 59 min")
	s.lease(job.ID, "w:1", -time.Second)
	s.says(s.get("/"), http.StatusOK, `badge bad">gone<`, ">lost<", "the next worker goes on")

	s.says(s.get(path+"/cancel"), http.StatusOK, "Cancel the deletion of project 1?", "Nothing below it was deleted so far")
	s.exec("INSERT INTO onerow_job_count VALUES (?, 'comment', 2)", job.ID)
	s.message(s.post(path+"/cancel", "reason", "a mistake", "to", path), "is active again. 2 rows of comment were deleted; nothing of that is in the trash: it stays gone.")
	s.says(s.get(path), http.StatusOK, "a mistake", ">cancelled<")
	s.says(s.get(path+"/cancel"), http.StatusConflict, "there is nothing to cancel")
	s.says(s.get("/jobs/4711/cancel"), http.StatusNotFound)
	s.says(s.post("/jobs/4711/cancel"), http.StatusNotFound)
	s.says(s.post("/jobs/4711/pause"), http.StatusNotFound)
	if n := s.number("SELECT COUNT(*) FROM project WHERE id = 1"); n != 1 {
		t.Error("the row did not return")
	}
}

// TestPageRestores: what a plan keeps comes back by a button, in the background, or is given up.
func TestPageRestores(t *testing.T) {
	w := ready(t)
	w.createTrash()
	s := w.serve("", true)
	s.says(s.get("/trash"), http.StatusOK, "The trash is empty")
	below := w.fill(1, 3, 4)
	w.ok("enqueue", "project", "1")
	w.ok("drain")
	job := w.number("SELECT MAX(id) FROM onerow_job_archive")
	path := fmt.Sprintf("/jobs/%d", job)
	s.says(s.get("/trash"), http.StatusOK, "project 1", "16 rows", "Restore…")
	s.says(s.get("/metrics"), http.StatusOK, `onerow_cascade_trash_rows{what="rows"} 16`)
	s.says(s.get(path), http.StatusOK, "Restore…", "Empty its trash…", "comment")
	s.says(s.get(path+"/restore"), http.StatusOK, "Restore project 1?", "It brings back 16 rows from the trash")
	if w.rows() != 0 {
		t.Fatal("the question has restored it")
	}
	s.message(s.post(path+"/restore", "reason", "a mistake", "to", path), "comes back")
	s.eventually(path, fmt.Sprintf("project 1 &#34;p1&#34; is active again: %d rows back", below+1))
	if n := w.rows(); n != below+1 {
		t.Errorf("%d rows are back", n)
	}
	s.says(s.get(path), http.StatusOK, "a mistake")
	s.says(s.get(path+"/restore"), http.StatusConflict, "is in the trash")
	s.message(s.post(path+"/restore"), "comes back") // the button of a page that is old
	s.eventually(path, "so nothing was changed")

	w.fill(2, 1, 1)
	w.ok("enqueue", "project", "2")
	w.ok("drain")
	path = fmt.Sprintf("/jobs/%d", w.number("SELECT MAX(id) FROM onerow_job_archive"))
	s.says(s.get(path+"/expire"), http.StatusOK, "Empty the trash of project 2?")
	s.message(s.post(path+"/expire"), "is given up")
	s.says(s.post(path+"/expire"), http.StatusNotFound, "is in the trash")
}

// TestPageDeletes: a row is looked at first, then queued; what is typed wrong is said.
func TestPageDeletes(t *testing.T) {
	w := ready(t)
	w.createTrash()
	s := w.serve("", true)
	s.fill(1, 2, 3)
	s.says(s.get("/delete"), http.StatusOK, "Delete a row", "<option>project</option>")
	s.says(s.get("/delete?resource=nonsense&key=1"), http.StatusOK, "The plan has no resource")
	s.says(s.get("/delete?resource=project&key=x"), http.StatusOK, "No key of project")
	s.says(s.get("/delete?resource=project&key=77"), http.StatusOK, "The row itself is gone already", "Nothing would be deleted")
	s.says(s.get("/delete?resource=project&key=1"), http.StatusOK, "Delete <bdi>project 1</bdi>?", "6 rows of comment would be deleted", "erasure")
	if n := s.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Fatal("looking has queued it")
	}
	s.message(s.post("/enqueue", "resource", "project", "key", "1", "grace", "x"), "it should be a number from 0")
	s.message(s.post("/enqueue", "resource", "project", "key", "1", "grace", "10", "reason", "account closed"), "project 1 is queued, due in 10m0s")
	job := s.number("SELECT id FROM onerow_job")
	s.says(s.get(fmt.Sprintf("/jobs/%d", job)), http.StatusOK, "account closed", "Undo…")
	s.message(s.post("/enqueue", "resource", "project", "key", "1"), "was open for project 1 already")
	s.message(s.post("/enqueue", "resource", "nonsense", "key", "1"), "no resource")
}

// TestPageIsolatesWhatWasTyped: a text that is written from the right reorders nothing beside it: it has an
// element of its own that isolates. What would override the direction is not shown at all.
func TestPageIsolatesWhatWasTyped(t *testing.T) {
	w := ids(t)
	s := w.serve("", true)
	const word, override = "שלום", "\u202e"
	w.exec("INSERT INTO tag VALUES (?)", word)
	w.exec("INSERT INTO tag VALUES (?)", "a"+override)
	w.ok("enqueue", "tag", "--where", "1 = 1")
	w.ok("pause", "--job", fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job")), word+override)
	w.ok("pause", "--resource", "shelf", word+override)
	w.ok("pause", word+override)
	first := w.number("SELECT MIN(id) FROM onerow_job WHERE resource_id LIKE ?", "%"+word)
	s.park(first, "tag", word, word+" stays")
	isolated := regexp.MustCompile(`<(\w+)(?: [^<>]*)? dir="auto"[^<>]*>[^<]*</(\w+)>|<bdi>[^<]*</bdi>|<(title|option)[^>]*>[^<]*<|<[^>]*>`)
	s.changed()
	s.eventually("/", "tag "+word)
	for path, n := range map[string]int{"/": 5, "/live": 5, fmt.Sprintf("/jobs/%d", first): 3, "/search?" + url.Values{"q": {word}}.Encode(): 2,
		"/delete?" + url.Values{"resource": {"tag"}, "key": {word}}.Encode(): 1} {
		body := s.get(path).body
		if rest := isolated.ReplaceAllString(body, ""); strings.Contains(rest, word) || strings.Contains(body, override) || strings.Count(body, word) < n {
			t.Errorf("%s is not isolated: %s", path, rest)
		}
	}
}

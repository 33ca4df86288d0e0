package app

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each line of the interface's table.
func TestUsersAndPlans(t *testing.T) {
	f := start(t)
	a := f.send(t, "POST", "/api/users", `{"name":"Ada","plan":"free"}`).want(201)
	id := a.id("id")
	if a.get("name") != "Ada" || a.get("plan") != "free" || a.get("project_limit") != 3.0 {
		t.Errorf("%s", a.body)
	}
	over := func() (flags []bool) {
		for _, item := range f.send(t, "GET", fmt.Sprintf("/api/users/%d/projects", id), "").want(200).get("items").([]any) {
			flags = append(flags, item.(map[string]any)["is_over_quota"].(bool))
		}
		return flags
	}
	var last answer
	for i := range 5 {
		last = f.send(t, "POST", fmt.Sprintf("/api/users/%d/projects", id), object("name", fmt.Sprint("p", i))).want(201)
		if want := i >= 3; last.get("is_over_quota") != want {
			t.Errorf("project %d: %s", i, last.body)
		}
	}
	if got := fmt.Sprint(over()); got != "[false false false true true]" {
		t.Error(got)
	}
	plan := fmt.Sprintf("/api/users/%d/plan", id)
	if a := f.send(t, "PUT", plan, `{"plan":"pro"}`).want(200); a.get("plan") != "pro" {
		t.Errorf("%s", a.body)
	}
	if got := fmt.Sprint(over()); got != "[false false false false false]" {
		t.Error("pro:", got)
	}
	f.send(t, "PUT", plan, `{"plan":"team"}`).want(200)
	f.send(t, "PUT", plan, `{"plan":"free"}`).want(200)
	if got := fmt.Sprint(over()); got != "[false false false true true]" {
		t.Error("free again:", got)
	}
	first := f.send(t, "GET", fmt.Sprintf("/api/users/%d/projects?limit=1", id), "").want(200).get("items").([]any)[0].(map[string]any)
	f.send(t, "POST", fmt.Sprintf("/api/projects/%.0f/archive", first["id"]), "").want(200)
	if got := fmt.Sprint(over()); got != "[false false false true]" {
		t.Error("one archived:", got)
	}
	f.send(t, "DELETE", fmt.Sprintf("/api/projects/%d", last.id("id")-1), "").want(202)
	if got := fmt.Sprint(over()); got != "[false false false]" {
		t.Error("one deleted:", got)
	}
	if a := f.send(t, "POST", fmt.Sprintf("/api/projects/%.0f/activate", first["id"]), "").want(200); a.get("is_over_quota") != false {
		t.Errorf("the oldest stays within: %s", a.body)
	}
	f.send(t, "PUT", plan, `{"plan":"gold"}`).want(422)
	f.send(t, "PUT", "/api/users/999/plan", `{"plan":"pro"}`).want(404)
	f.send(t, "POST", "/api/users", `{"name":"x","plan":"gold"}`).want(422)
	f.send(t, "POST", "/api/users", `{"plan":"pro"}`).want(400)
	f.send(t, "POST", "/api/users/999/projects", `{"name":"x"}`).want(404)
	f.send(t, "GET", "/api/users/999/projects", "").want(404)
}

func TestProjects(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	a := f.send(t, "POST", projects, object("name", "Email Campaign")).want(201)
	for _, name := range []string{"id", "user_id", "name", "state", "is_over_quota", "created_at"} {
		if a.get(name) == nil {
			t.Errorf("no %s in %s", name, a.body)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, a.get("created_at").(string)); err != nil || a.get("state") != "active" {
		t.Errorf("%s: %v", a.body, err)
	}
	id := a.id("id")
	path := fmt.Sprintf("/api/projects/%d", id)
	if at := a.header.Get("Location"); at != path {
		t.Errorf("Location %q, want %q", at, path)
	}
	if p := f.send(t, "POST", projects, object("name", " EMAIL  campaign ")).want(409).problem(); p.ExistingID != id {
		t.Errorf("%+v", p)
	}
	f.send(t, "GET", path, "").want(200)
	f.send(t, "GET", "/api/projects/999", "").want(404)
	f.send(t, "GET", "/api/projects/x", "").want(404)
	other := f.send(t, "POST", projects, object("name", "Other")).want(201).id("id")
	if p := f.send(t, "PATCH", path, object("name", "other")).want(409).problem(); p.ExistingID != other {
		t.Errorf("%+v", p)
	}
	if a := f.send(t, "PATCH", path, object("name", "Email CAMPAIGN")).want(200); a.get("name") != "Email CAMPAIGN" {
		t.Errorf("%s", a.body)
	}
	if a := f.send(t, "POST", path+"/archive", "").want(200); a.get("state") != "archived" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "POST", path+"/archive", "").want(200)
	f.send(t, "PATCH", path, object("name", "x")).want(409)
	f.send(t, "POST", projects, object("name", "Email Campaign")).want(201)
	if a := f.send(t, "POST", path+"/activate", "").want(200); a.get("name") != "Email CAMPAIGN (Copy 1)" || a.get("state") != "active" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "POST", path+"/activate", "").want(200)
	for _, verb := range []string{"archive", "activate", "cancel-delete"} {
		f.send(t, "POST", "/api/projects/999/"+verb, "").want(404)
	}
	// Pages of a list.
	list := f.send(t, "GET", projects+"?limit=2", "").want(200)
	next, ok := list.get("next").(string)
	if !ok || len(list.get("items").([]any)) != 2 {
		t.Fatalf("%s", list.body)
	}
	list = f.send(t, "GET", projects+"?limit=2&cursor="+next, "").want(200)
	if list.get("next") != nil || len(list.get("items").([]any)) != 1 {
		t.Errorf("%s", list.body)
	}
	f.send(t, "POST", path+"/archive", "").want(200)
	if list := f.send(t, "GET", projects+"?state=archived", "").want(200); len(list.get("items").([]any)) != 1 {
		t.Errorf("%s", list.body)
	}
	for _, query := range []string{"state=x", "limit=0", "limit=x", "cursor=x", "cursor='a", "cursor=%00"} {
		f.send(t, "GET", projects+"?"+query, "").want(400)
	}
}

func TestIdempotencyKey(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	body := object("name", "Email Campaign")
	first := f.send(t, "POST", projects, body, "Idempotency-Key", "k-1").want(201)
	if first.header.Get("Idempotency-Replayed") != "" {
		t.Error("the first call is no replay")
	}
	again := f.send(t, "POST", projects, body, "Idempotency-Key", "k-1").want(201)
	if again.header.Get("Idempotency-Replayed") != "true" || again.id("id") != first.id("id") {
		t.Errorf("%v %s", again.header, again.body)
	}
	f.send(t, "POST", projects, object("name", "Another"), "Idempotency-Key", "k-1").want(422)
	f.send(t, "POST", projects, body, "Idempotency-Key", "k-2").want(409)
	f.send(t, "DELETE", fmt.Sprintf("/api/projects/%d", first.id("id")), "").want(202)
	f.send(t, "POST", projects, body, "Idempotency-Key", "k-1").want(410)
	f.send(t, "POST", projects, body, "Idempotency-Key", strings.Repeat("k", 256)).want(400)
	f.send(t, "POST", projects, body, "Idempotency-Key", strings.Repeat("k", 255)).want(201)
	if n := f.count(t, "SELECT COUNT(*) FROM project"); n != 1 {
		t.Errorf("%d projects", n)
	}
}

func TestDelete(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	id := f.send(t, "POST", projects, object("name", "Email Campaign")).want(201).id("id")
	path := fmt.Sprintf("/api/projects/%d", id)

	// With a grace period, taken back.
	job := f.send(t, "DELETE", path+"?grace=30s", "").want(202).id("job_id")
	if a := f.send(t, "GET", fmt.Sprintf("/api/jobs/%d", job), "").want(200); a.get("state") != "scheduled" || a.get("deleted_rows") != 0.0 || a.get("tables") == nil {
		t.Errorf("%s", a.body)
	}
	f.send(t, "GET", path, "").want(404)
	f.send(t, "GET", path+"/screens", "").want(404)
	f.send(t, "PUT", path+"/screens/a.png", "x").want(404)
	// What was accepted is at the address of its job.
	accepted := f.send(t, "DELETE", path+"?grace=30s", "").want(202)
	if at := accepted.header.Get("Location"); at != fmt.Sprintf("/api/jobs/%d", job) || f.send(t, "GET", at, "").want(200).id("id") != job {
		t.Errorf("Location %q of job %d", at, job)
	}
	if again := f.send(t, "DELETE", path+"?grace=30s", "").want(202).id("job_id"); again != job {
		t.Errorf("job %d, then %d", job, again)
	}
	f.send(t, "POST", projects, object("name", "Email Campaign")).want(201)
	if a := f.send(t, "POST", path+"/cancel-delete", "").want(200); a.get("name") != "Email Campaign (Copy 1)" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "POST", path+"/cancel-delete", "").want(200)
	if a := f.send(t, "GET", fmt.Sprintf("/api/jobs/%d", job), "").want(200); a.get("state") != "cancelled" {
		t.Errorf("%s", a.body)
	}

	// At once, with everything below it.
	screen := f.send(t, "PUT", path+"/screens/home.png", "bytes").want(201).id("id")
	f.send(t, "POST", fmt.Sprintf("/api/screens/%d/comments", screen), object("body", "nice")).want(201)
	job = f.send(t, "DELETE", path, "").want(202).id("job_id")
	f.send(t, "POST", path+"/cancel-delete", "").want(409)
	f.send(t, "GET", fmt.Sprintf("/api/screens/%d/comments", screen), "").want(404)
	if err := f.worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := f.send(t, "GET", fmt.Sprintf("/api/jobs/%d", job), "").want(200)
	if tables := a.get("tables").(map[string]any); a.get("state") != "done" || a.get("deleted_rows") != 2.0 || tables["screen"] != 1.0 || tables["comment"] != 1.0 {
		t.Errorf("%s", a.body)
	}
	if n := f.files(t); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if again := f.send(t, "DELETE", path, "").want(202).id("job_id"); again != job {
		t.Errorf("gone already: job %d, want %d", again, job)
	}
	f.send(t, "POST", path+"/cancel-delete", "").want(409)
	if a := f.send(t, "DELETE", "/api/projects/999", "").want(204); len(a.body) != 0 {
		t.Errorf("%q", a.body)
	}
	for _, grace := range []string{"x", "-1s", "25h", "30"} {
		f.send(t, "DELETE", "/api/projects/999?grace="+grace, "").want(400)
	}
	f.send(t, "GET", "/api/jobs/999", "").want(404)
	f.send(t, "GET", "/api/jobs/x", "").want(404)
}

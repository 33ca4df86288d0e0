package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// client is one of the API's.
type client struct {
	t    *testing.T
	db   *sql.DB
	desk *Desk
	url  string
	at   string // the tickets of its workspace
}

// served is the API on an adopted database.
func served(t *testing.T, db *sql.DB) client {
	t.Helper()
	desk, err := NewDesk(t.Context(), db, Folder(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(API(desk, slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	return client{t, db, desk, server.URL, ""}
}

// in is the same in the n-th workspace of tenant 1.
func (c client) in(n int) client {
	id := dbtest.Scan[string](c.t, c.db, fmt.Sprintf("SELECT LOWER(HEX(id)) FROM workspaces WHERE tenant_id = 1 ORDER BY id LIMIT %d, 1", n))
	c.at = "/tenants/1/workspaces/" + id + "/tickets"
	return c
}

// do sends a request and wants this status.
func (c client) do(status int, method, path, body string, header ...string) map[string]any {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if len(header) == 2 {
		req.Header.Set(header[0], header[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, res.StatusCode, status, text)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// pages reads all pages of a list, a few at a time.
func (c client) pages(query string) (ids []string) {
	c.t.Helper()
	for after := ""; ; {
		page := c.do(200, "GET", c.at+"?limit=3&"+query+"&after="+after, "")
		for _, item := range page["Items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		if after = page["Next"].(string); after == "" {
			return ids
		}
	}
}

// TestAPI: what the API does on a database that was adopted beside its old writer.
func TestAPI(t *testing.T) {
	db, _, _ := adopted(t, 2_000)
	use(t, db)
}

// use uses all of the API on it.
func use(t *testing.T, db *sql.DB) {
	t.Helper()
	c := served(t, db).in(0)
	a, b := uuid.NewString(), uuid.NewString()
	last := dbtest.Scan[int](t, db, "SELECT MAX(number) FROM tickets WHERE tenant_id = 1")
	first := c.do(200, "PUT", c.at+"/"+a, `{"subject": "The printer is on fire", "priority": 1}`)
	again := c.do(200, "PUT", c.at+"/"+a, `{"subject": "The printer is on fire", "priority": 1}`)
	next := c.do(200, "PUT", c.at+"/"+b, `{"subject": "So is the fax"}`)
	if first["number"] != float64(last+1) || again["number"] != first["number"] || next["number"] != float64(last+2) {
		t.Errorf("numbers %v, %v, %v behind %d", first["number"], again["number"], next["number"], last)
	}
	c.do(403, "PUT", c.at+"/"+uuid.NewString(), `{"subject": "of another site"}`, "Origin", "http://elsewhere.example")
	c.do(400, "PUT", c.at+"/"+uuid.NewString(), `{"nonsense": 1}`)
	c.do(400, "GET", c.at+"?sort=subject", "")
	c.do(404, "PUT", "/tenants/2"+strings.TrimPrefix(c.at, "/tenants/1")+"/"+uuid.NewString(), `{"subject": "of another tenant"}`)

	open := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM tickets WHERE status = 'open' AND workspace_id = UNHEX('"+strings.Split(c.at, "/")[4]+"')")
	updated, urgent := c.pages("status=open"), c.pages("status=open&sort=priority")
	if len(updated) != open || len(urgent) != open || updated[0] != b || updated[1] != a || urgent[0] != a && urgent[1] != a && open < 4 {
		t.Errorf("%d open: %v, %v", open, updated, urgent)
	}

	for range 2 {
		c.do(200, "POST", c.at+"/"+a+"/messages", `{"body": "Use water", "status": "waiting"}`, "Idempotency-Key", "4711")
	}
	c.do(422, "POST", c.at+"/"+a+"/messages", `{"body": "Use sand", "status": "waiting"}`, "Idempotency-Key", "4711")
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM messages WHERE body = 'Use water'"); n != 1 {
		t.Errorf("%d messages", n)
	}
	if got := c.do(200, "GET", c.at+"/"+a, ""); got["status"] != "waiting" {
		t.Error(got)
	}
	c.do(200, "POST", c.at+"/"+a+"/archive", "")
	c.do(409, "POST", c.at+"/"+a+"/move", `{"workspace": "`+uuid.NewString()+`"}`)
	c.do(200, "POST", c.at+"/"+a+"/activate", "")
	there := c.in(1)
	to := strings.Split(there.at, "/")[4]
	for range 2 {
		c.do(200, "POST", c.at+"/"+a+"/move", `{"workspace": "`+to+`"}`)
	}
	c.do(404, "GET", c.at+"/"+a, "")
	there.do(200, "GET", there.at+"/"+a, "")
	label := dbtest.Scan[string](t, db, "SELECT label FROM tags WHERE tenant_id = 1 LIMIT 1")
	for range 2 {
		there.do(200, "PUT", there.at+"/"+a+"/tags/"+strings.ReplaceAll(label, " ", "%20"), "")
	}
	there.do(404, "PUT", there.at+"/"+a+"/tags/none", "")
	if report := c.do(200, "GET", "/tenants/1/report", ""); len(report["tickets"].([]any)) == 0 || len(report["open_by_tag"].([]any)) == 0 {
		t.Error(report)
	}
	there.files(a)
}

// files: room for bytes is refused with the numbers, and comes back when the ticket and all below it are gone.
func (c client) files(ticket string) {
	t, db := c.t, c.db
	used := dbtest.Scan[int](t, db, "SELECT SUM(bytes) FROM attachments WHERE tenant_id = 1")
	dbtest.Exec(t, db, fmt.Sprintf("UPDATE tenants SET max_bytes = %d WHERE id = 1", used+100))
	id := uuid.NewString()
	for range 2 {
		c.do(200, "PUT", c.at+"/"+ticket+"/attachments/"+id+"?name=fire.png", strings.Repeat("x", 80))
	}
	full := c.do(507, "PUT", c.at+"/"+ticket+"/attachments/"+uuid.NewString(), strings.Repeat("x", 21))
	if full["wanted"] != 21.0 || full["used"] != float64(used+80) || full["max"] != float64(used+100) {
		t.Error(full)
	}
	files, err := filepath.Glob(string(c.desk.files) + "/" + id + "*")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	file := files[0]
	if text, err := os.ReadFile(file); err != nil || len(text) != 80 {
		t.Errorf("%q, %v", text, err)
	}
	c.do(200, "DELETE", c.at+"/"+ticket+"?grace=1h", "")
	c.do(404, "GET", c.at+"/"+ticket, "")
	c.do(200, "POST", c.at+"/"+ticket+"/undo", "")
	c.do(200, "DELETE", c.at+"/"+ticket, "")
	c.drain()
	for _, table := range []string{"tickets WHERE id", "messages WHERE ticket_id", "attachments WHERE ticket_id", "ticket_tag WHERE ticket_id", "tickets_archive WHERE id"} {
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM "+table+" = UNHEX('"+strings.ReplaceAll(ticket, "-", "")+"')"); n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
	c.do(410, "PUT", c.at+"/"+ticket, `{"subject": "The printer is on fire", "priority": 1}`)
	other := c.do(200, "PUT", c.at+"/"+uuid.NewString(), `{"subject": "Another"}`)
	c.do(200, "PUT", c.at+"/"+other["id"].(string)+"/attachments/"+uuid.NewString(), strings.Repeat("x", 100))
}

func (c client) drain() {
	plan, err := Plan()
	if err != nil {
		c.t.Fatal(err)
	}
	worker, err := cascade.NewWorker(c.db, plan, cascade.Config{Assets: c.desk.files})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := worker.Drain(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

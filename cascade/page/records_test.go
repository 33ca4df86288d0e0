package page

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/serial"
)

// odd is a part of a key that no form can type, and that wants to be a program.
const odd = "a&b=\"<script>alert(1)</script>\xff\x00'%41+"

// link is where a link or a form of the page leads.
func (d *desk) link(body, pattern string) string {
	d.t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(body)
	if found == nil {
		d.t.Fatalf("%s is not in: %s", pattern, body)
	}
	return html.UnescapeString(found[1])
}

// claimed makes a key that is in progress, and overdue.
func (d *desk) claimed(tenant, operation, id string) idempotency.Key {
	d.t.Helper()
	d.exec(`INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, expected_completion)
VALUES (?, ?, ?, 'in_progress', 3, REPEAT('x', 16), 'worker:7', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)`, []byte(tenant), []byte(operation), []byte(id))
	return idempotency.Key{Tenant: tenant, Operation: operation, ID: id}
}

// TestKeysPage: lists, pages, one key, and what an operator does; each verb only to what was seen.
func TestKeysPage(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/keys", by(evesToken)), http.StatusOK, "No such keys")
	key := d.claimed("shop", "charge", odd)
	body := d.says(d.get("/keys", by(evesToken)), http.StatusOK, "In progress, overdue", "expected ", "by <bdi>worker:7</bdi>", "&lt;script&gt;")
	if strings.Contains(body, "<script>alert") {
		t.Error("a key is a program")
	}
	one := d.link(body, `href="(/key\?[^"]*)"`)
	if body := d.says(d.get(one, by(evesToken)), http.StatusOK, "Token", "worker:7"); strings.Contains(body, "It was done") {
		t.Error("who looks has buttons")
	}
	body = d.says(d.get(one, by(annsToken)), http.StatusOK, "It was done…", "It was not done…")
	if strings.Contains(body, "Forget it…") {
		t.Error("a key in progress can be forgotten")
	}
	ask := d.link(body, `id="do-complete" href="([^"]*)"`)
	body = d.says(d.get(ask, by(annsToken)), http.StatusOK, "with a result?", `name="result" required`)
	post := d.link(body, `action="(/key/complete[^"]*)"`)
	press := func(path, want string, fields ...string) {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		if told := d.told(d.do(http.MethodPost, path, form, by(annsToken))); !strings.Contains(told, want) {
			t.Errorf("%q, want %q", told, want)
		}
	}
	press(post, "say why", "result", "1")
	press(post, "no JSON", "result", "text", "reason", "ticket")
	if e, err := keyadmin.Find(t.Context(), d.db, key); err != nil || e.Status != idempotency.InProgress {
		t.Errorf("%+v, %v", e, err)
	}
	press(post, "is complete", "result", `{"paid": true}`, "reason", "the bank says so")
	press(d.link(d.get(one, by(annsToken)).Body.String(), `id="do-expire" href="([^"]*)"`), "is absent", "reason", "the bank was wrong")
	press(strings.Replace(post, "complete", "release", 1), "by now, not in_progress with 3", "reason", "late")
	d.says(d.get(ask, by(annsToken)), http.StatusConflict, "has changed meanwhile")
	audit, err := keyadmin.Audit(t.Context(), d.db, key)
	if err != nil || len(audit) != 2 || audit[0].Actor != "ann (page)" || audit[0].Reason != "the bank says so" {
		t.Errorf("%+v, %v", audit, err)
	}
	d.says(d.get(one, by(evesToken)), http.StatusOK, "complete by ann (page): the bank says so", "expire by ann (page)")
	second := d.claimed("", "charge", "2")
	press("/key/release?"+url.Values{"operation": {"charge"}, "id": {"2"}, "token": {"3"}, "status": {"in_progress"}}.Encode(), "is free", "reason", "it never began")
	if e, err := keyadmin.Find(t.Context(), d.db, second); err != nil || e.Status != idempotency.Released {
		t.Errorf("%+v, %v", e, err)
	}
	d.says(d.get("/key?operation=charge&id=none", by(evesToken)), http.StatusNotFound, "There is no such key")
	d.says(d.get("/key?operation=", by(evesToken)), http.StatusBadRequest)
	d.says(d.get("/key/release?operation=charge&id=none&token=1&status=in_progress", by(annsToken)), http.StatusNotFound)

	// Page by page each is there once.
	for i := range maxListed + 5 {
		d.claimed("shop", "many", fmt.Sprintf("%03d%s", i, odd))
	}
	seen, path := map[string]int{}, "/keys?what=in-progress"
	for pages := 0; path != "" && pages < 4; pages++ {
		body = d.says(d.get(path, by(evesToken)), http.StatusOK)
		for _, found := range regexp.MustCompile(`href="(/key\?[^"]*)"`).FindAllStringSubmatch(body, -1) {
			seen[found[1]]++
		}
		path = ""
		if strings.Contains(body, `rel="next"`) {
			path = d.link(body, `href="([^"]*)" rel="next"`)
		}
	}
	if len(seen) != maxListed+5 {
		t.Errorf("%d keys are listed", len(seen))
	}
	for link, n := range seen {
		if n != 1 {
			t.Errorf("%s is listed %d times", link, n)
		}
	}
}

// TestBoardOfKeys: the board leads to the keys that wait for somebody, as far as they may be read.
func TestBoardOfKeys(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	if body := d.says(d.get("/", by(evesToken)), http.StatusOK); strings.Contains(body, "idempotency key") {
		t.Error("there is no key")
	}
	for i := range showKeys + 1 {
		d.claimed("shop", "charge", fmt.Sprint(i))
	}
	d.exec("UPDATE onerow_key SET status = 'error', attention = 1 WHERE idem_key = '0'")
	d.watch.changed()
	d.says(d.get("/", by(evesToken)), http.StatusOK, `href="/keys?what=overdue">At least 100 idempotency keys are overdue<`,
		`href="/keys?what=errored">1 idempotency key failed and needs attention<`)
}

// TestBoardWithoutRights: a user who may read neither keys nor actions sees the board, without what they say.
func TestBoardWithoutRights(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.claimed("shop", "charge", "1")
	d.told(d.do(http.MethodPost, "/pause", url.Values{"reason": {"slow"}}, by(annsToken)))
	d.says(d.get("/", by(evesToken)), http.StatusOK, "1 idempotency key is overdue", "by <bdi>ann (page)</bdi>")
	name := dbtest.Scan[string](t, d.db, "SELECT DATABASE()")
	user := name + "_u" // of at most 32 characters
	dbtest.Exec(t, d.db, "CREATE USER '"+user+"'@'%' IDENTIFIED BY 'looks'")
	t.Cleanup(func() {
		if _, err := d.db.ExecContext(context.WithoutCancel(t.Context()), "DROP USER '"+user+"'@'%'"); err != nil {
			t.Error(err)
		}
	})
	for _, table := range strings.Split(dbtest.Scan[string](t, d.db, "SELECT GROUP_CONCAT(table_name) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name NOT IN ('onerow_key', 'onerow_action')"), ",") {
		dbtest.Exec(t, d.db, "GRANT SELECT ON `"+name+"`.`"+table+"` TO '"+user+"'@'%'")
	}
	cfg := dbtest.Server(t).Config(name)
	cfg.User, cfg.Passwd = user, "looks"
	least := &desk{t: t, db: dbtest.OpenDSN(t, cfg.FormatDSN())}
	var err error
	if least.Page, err = New(Options{DB: least.db, Plan: testPlan, Name: "tester:2", Local: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}); err != nil {
		t.Fatal(err)
	}
	body := least.says(least.do(http.MethodGet, "/", nil, func(r *http.Request) { r.Host = "localhost" }), http.StatusOK, "<bdi>slow</bdi>", "Open jobs")
	if strings.Contains(body, "idempotency key") || strings.Contains(body, "ann (page)") || strings.Contains(body, "cannot be read") {
		t.Errorf("%s", body)
	}
}

// TestPausedBy: who has paused is shown with the reason, and of two the last.
func TestPausedBy(t *testing.T) {
	d := atDesk(t, testPlan, func(o *Options) { o.Tokens["0123456789abcdef-bob"] = "bob" })
	press := func(token, path string, fields url.Values) {
		t.Helper()
		d.told(d.do(http.MethodPost, path, fields, by(token)))
	}
	press(annsToken, "/pause", url.Values{"reason": {"slow"}})
	press("0123456789abcdef-bob", "/pause", url.Values{"reason": {"slower"}})
	press(annsToken, "/pause-resource", url.Values{"resource": {"shelf"}})
	d.says(d.get("/", by(evesToken)), http.StatusOK, "by <bdi>bob (page)</bdi>: <bdi>slower", "by <bdi>ann (page)</bdi>")
	press(annsToken, "/resume", nil)
	d.exec("UPDATE onerow_switch SET is_on = 1, reason = 'by hand' WHERE name = 'pause'")
	d.watch.changed()
	if body := d.says(d.get("/", by(evesToken)), http.StatusOK, "by hand"); strings.Contains(body, "bob (page)") {
		t.Error("bob has not paused that")
	}
	// An earlier pause names nobody for this one, whose program did not say who it is.
	press(annsToken, "/pause", url.Values{"reason": {"slow"}})
	d.exec("UPDATE onerow_switch SET is_on = 0 WHERE name = 'pause'")
	d.exec("UPDATE onerow_switch SET is_on = 1, reason = 'by a program', changed_at = UTC_TIMESTAMP(6) WHERE name = 'pause'")
	d.watch.changed()
	if body := d.says(d.get("/", by(evesToken)), http.StatusOK, "by a program"); strings.Contains(body, "by <bdi>ann (page)</bdi>: <bdi>by a program") {
		t.Error("ann has not paused that")
	}
}

// TestSerialsPage: the series, what they have given, and what is voided or missing.
func TestSerialsPage(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/serials", by(evesToken)), http.StatusOK, "No series")
	s, err := serial.New("invoices <2026>")
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int64{3, 1} {
		if _, err := s.Claim(t.Context(), d.db, fmt.Sprint("k", i), n); err != nil {
			t.Fatal(err)
		}
	}
	body := d.says(d.get("/serials", by(evesToken)), http.StatusOK, "invoices &lt;2026&gt;", "1 to 4 are given out")
	one := d.link(body, `href="(/series\?[^"]*)"`)
	d.says(d.get(one, by(evesToken)), http.StatusOK, "in order", "no number is missing")
	if _, err := s.Void(t.Context(), d.db, "k0", "a mistake"); err != nil {
		t.Fatal(err)
	}
	d.says(d.get(one, by(evesToken)), http.StatusOK, "in order", "Voided", "1 to 3, claim k0")
	d.exec("DELETE FROM onerow_serial_claim WHERE from_no = 4")
	d.says(d.get(one, by(evesToken)), http.StatusOK, "not in order", "Missing")
	d.says(d.get("/series?name=none", by(evesToken)), http.StatusNotFound, "There is no series none")
	d.says(d.get("/series?name=", by(evesToken)), http.StatusBadRequest)
}

// TestLimitsPage: what owners have in use, page by page.
func TestLimitsPage(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/limits", by(evesToken)), http.StatusOK, "No limits")
	d.exec("INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('file', ?, 0, 3, 1500, 1, NULL), ('file', 'full', 0, 0, 5, 1, UTC_TIMESTAMP(6))", []byte(odd))
	for i := range maxListed {
		d.exec("INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('old', ?, 0, 1, 1, 1, UTC_TIMESTAMP(6))", fmt.Sprintf("u%03d", i))
	}
	body := d.says(d.get("/limits", by(evesToken)), http.StatusOK, "1,497 of 1,500 in use", "is to be counted again", "5 of 5 in use", "0 of 1 in use", "u097", "&lt;script&gt;")
	if strings.Contains(body, "u098") || strings.Contains(body, "<script>alert") {
		t.Error(body)
	}
	body = d.says(d.get(d.link(body, `href="([^"]*)" rel="next"`), by(evesToken)), http.StatusOK, "u098", "u099")
	if strings.Contains(body, "u097") || strings.Contains(body, `rel="next"`) {
		t.Error(body)
	}
}

// TestLettersPage: messages of a queue, page by page, whatever they have in them.
func TestLettersPage(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	d.says(d.get("/letters", by(evesToken)), http.StatusOK, "Dead letters")
	for i := range maxListed + 2 {
		if _, err := ordering.Park(t.Context(), d.db, "orders", fmt.Sprintf("m%03d", i), []byte(odd), errors.New("no <b>such</b> order")); err != nil {
			t.Fatal(err)
		}
	}
	body := d.says(d.get("/letters?queue=orders", by(evesToken)), http.StatusOK, "m000", "m099", "no &lt;b&gt;such&lt;/b&gt; order", "&lt;script&gt;")
	if strings.Contains(body, "m100") || strings.Contains(body, "<script>alert") {
		t.Error(body)
	}
	body = d.says(d.get(d.link(body, `href="([^"]*)" rel="next"`), by(evesToken)), http.StatusOK, "m100", "m101")
	if strings.Contains(body, "m099") || strings.Contains(body, `rel="next"`) {
		t.Error(body)
	}
	d.says(d.get("/letters?queue=other", by(evesToken)), http.StatusOK, "Nothing is parked there")
}

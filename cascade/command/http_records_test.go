package command

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/onerow/onerow/cascade/page"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
)

// focusable are what Tab has to come to.
const focusable = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')].filter(e => e.checkVisibility())`

// tabs wants Tab to come to everything on the page, and each to show that it has the focus.
func (b *browser) tabs() {
	b.t.Helper()
	all := value[int](b, focusable+`.length`)
	value[bool](b, `window.came = new Set(), window.unseen = [], document.addEventListener('focusin', e => { came.add(e.target); if (getComputedStyle(e.target).outlineStyle === 'none') unseen.push(e.target.outerHTML) }), document.activeElement.blur(), true`)
	for range all + 1 {
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	if left := value[string](b, focusable+`.filter(e => !came.has(e)).map(e => e.outerHTML).join('; ')`); left != "" {
		b.t.Errorf("%s: Tab does not come to %s", value[string](b, `location.pathname`), left)
	}
	if unseen := value[string](b, `unseen.join('; ')`); unseen != "" {
		b.t.Errorf("%s: these do not show that they have the focus: %s", value[string](b, `location.pathname`), unseen)
	}
}

// press moves the focus to a thing, as Tab does, and presses Enter.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter))
}

// looks takes pictures of a state and walks through it by keyboard.
func (b *browser) looks(name string) {
	b.t.Helper()
	b.picture(name)
	b.tabs()
}

// TestRecordsInChromium looks at the pages of keys, series, limits, dead letters and retention, without
// anything and with something, and settles a key with the keyboard alone.
func TestRecordsInChromium(t *testing.T) {
	w := ready(t)
	s := w.serve("", true)
	b := newBrowser(t)
	for path, empty := range map[string]string{"/keys": "No such keys", "/serials": "No series", "/limits": "No limits", "/retention": "The plan has no retention"} {
		b.open(s, path)
		b.waits("#empty", empty)
		b.looks(path[1:] + "-empty")
	}
	b.open(s, "/letters")
	b.do(chromedp.SendKeys("#queue", "mail"), chromedp.KeyEvent(kb.Enter))
	b.waits("#empty", "Nothing is parked there")
	b.looks("letters-empty")

	hostile := `<img src=x onerror="document.title='owned'">`
	for i, key := range []struct{ status, attention, id, problem string }{
		{"in_progress", "0", "4711", ""}, {"in_progress", "0", hostile, ""}, {"error", "1", "4712", "the bank did not answer: dial tcp 10.1.2.3:443: i/o timeout"}, {"error", "0", "4713", "the card was refused"},
	} {
		w.exec(`INSERT INTO onerow_key (tenant, operation, idem_key, status, attention, token, call_token, locked_by, created_at, locked_at, expected_completion, completed_at, error)
VALUES ('shop', 'charge', ?, ?, ?, 3, REPEAT('x', 16), 'shop-3:311', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL ? HOUR, IF(? = '', NULL, UTC_TIMESTAMP(6)), NULLIF(?, ''))`,
			[]byte(key.id), key.status, key.attention, i+1, key.problem, key.problem)
	}
	w.fill(1, 1, 1)
	s.end(s.enqueue(1, 0).ID, "dead", "cascade: refused")
	b.open(s, "/")
	b.waits("#trouble-keys", "1 idempotency key failed and needs attention")
	b.waits("#trouble-keys", "2 idempotency keys are overdue")
	b.looks("board-keys")
	b.press("#trouble-keys a[href$=overdue]")
	b.waits("#keys", hostile)
	b.looks("keys")
	b.open(s, "/keys?what=errored")
	b.waits("#keys", "the bank did not answer")
	b.looks("keys-errored")
	b.press("#keys a")
	b.waits("h1", "charge 4712")
	b.looks("key")
	b.press("#do-complete")
	b.waits("h1", "with a result?")
	b.looks("key-complete")
	b.do(chromedp.Focus("#result"), chromedp.KeyEvent(`{"paid": true}`), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("the bank says so"), chromedp.KeyEvent(kb.Enter))
	b.waits("[role=status]", "is complete")
	b.waits("main", "complete by the page")
	b.looks("key-completed")
	b.open(s, "/key?operation=charge&id=none")
	b.waits("h1", "There is no such key")

	series, err := serial.New("invoices-2026")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := series.Claim(t.Context(), w.db, fmt.Sprint("order-", i), 1000); err != nil {
			t.Fatal(err)
		}
	}
	b.open(s, "/serials")
	b.waits("#series", "1 to 3,000")
	b.looks("serials")
	b.press("#series a")
	b.waits("main", "in order")
	b.looks("series")
	w.exec("DELETE FROM onerow_serial_claim WHERE from_no = 1001")
	b.open(s, "/series?name=invoices-2026")
	b.waits("main", "1,001 to 2,000")
	b.looks("series-gap")

	w.exec(`INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('files', '1', 0, 40, 100, 1, UTC_TIMESTAMP(6)), ('files', '2', 0, 0, 100, 1, UTC_TIMESTAMP(6)),
 ('files', '3', 0, 7, 10, 1, NULL), ('files.bytes', ?, 0, 1 << 61, 1 << 62, 1, UTC_TIMESTAMP(6))`, []byte("a-tenant-with-a-name-that-goes-on-and-on-"+hostile))
	b.open(s, "/limits")
	b.waits("#limits", "100 of 100 in use")
	b.looks("limits")

	w.exec(`INSERT INTO onerow_dead_letter (queue, message_id, payload, losing, reason, parked_at) VALUES ('mail', 'message-1', ?, '[{"version": 7}]', 'two changes of one version that differ', UTC_TIMESTAMP(6)), ('mail', ?, 'plain', NULL, 'no JSON', UTC_TIMESTAMP(6))`,
		`{"to": "`+hostile+`", "text": "`+fmt.Sprintf("%0300d", 7)+`"}`, []byte(hostile))
	b.open(s, "/letters?queue=mail")
	b.waits("#letters", "two changes of one version")
	b.press("#letters summary")
	b.waits("#letters", "What was lost against")
	b.looks("letters")
	if title := value[string](b, `document.title`); title == "owned" {
		t.Error("a record ran as a program")
	}

	w.exec("CREATE TABLE visit (id BIGINT PRIMARY KEY AUTO_INCREMENT, seen_at DATETIME NULL, KEY (seen_at)) ENGINE=InnoDB")
	w.exec("INSERT INTO visit (seen_at) VALUES ('2020-01-01'), ('2020-01-02')")
	w.write(w.plan, testPlan+`tables: [{name: visit, key: [id], retention: {column: seen_at, keep: 90d}}]`+"\n")
	b.open(w.serve("", true), "/retention")
	b.waits("#policies", "2 rows due")
	b.waits("#policies", "2020-01-01 00:00:00 UTC")
	b.looks("retention")
}

// TestWhoInChromium: who may only look sees everything and no button; under a prefix all links lead back to
// it.
func TestWhoInChromium(t *testing.T) {
	const eves = "0123456789abcdef-eve"
	w := ready(t)
	s := w.serveWith("", func(o *page.Options) {
		o.Prefix, o.Tokens, o.ReadTokens = "/admin/jobs", map[string]string{testToken: "ann"}, map[string]string{eves: "eve"}
	})
	s.token = testToken
	for id := 1; id <= 3; id++ {
		s.fill(id, 1, 1)
	}
	s.end(s.enqueue(1, 0).ID, "dead", "cascade: refused")
	s.enqueue(2, time.Hour)
	s.enqueue(3, time.Hour)
	s.says(s.post("/pause-resource", "resource", "project", "reason", "the shop is slow"), 303)
	b := newBrowser(t)
	b.open(s, "/")
	b.waits("h1", "Sign in")
	b.looks("login-prefix")
	b.do(chromedp.SendKeys("#token", eves), chromedp.KeyEvent(kb.Enter))
	b.waits(".who", "eve, looking only")
	b.waits("#paused-project", "by ann (page)")
	if n := value[int](b, `document.querySelectorAll('main button, main a.button').length`); n != 0 {
		t.Errorf("who looks has %d buttons", n)
	}
	b.looks("looking")
	for _, link := range []string{"Trash", "Retention", "Keys", "Serials", "Limits", "Dead letters", "Jobs"} {
		value[bool](b, `[...document.querySelectorAll('header nav a')].find(a => a.innerText === %q).focus(), true`, link)
		b.do(chromedp.KeyEvent(kb.Enter))
		dbtest.Eventually(t, 60*time.Second, func() (bool, string) {
			at := b.text("header nav [aria-current]")
			return at == link, fmt.Sprintf("the page is %q, want %q", at, link)
		})
		if at := value[string](b, `location.pathname`); len(at) < len("/admin/jobs/") || at[:len("/admin/jobs/")] != "/admin/jobs/" {
			t.Errorf("%s leads to %s", link, at)
		}
	}
	b.press("header .out button")
	b.waits("h1", "Sign in")
	b.do(chromedp.SendKeys("#token", testToken), chromedp.KeyEvent(kb.Enter))
	b.waits("#grace", "project 2")
	b.press("#cancel-many button")
	b.waits("h1", "Undo 2 jobs of project?")
	b.looks("undo-all")
	b.do(chromedp.Focus("#why"), chromedp.KeyEvent("a mistake"), chromedp.KeyEvent(kb.Enter))
	b.waits("[role=status]", "2 deletions are taken back")
	b.press("#retry-dead")
	b.waits("h1", "Retry 1 job?")
	b.looks("retry-dead")
	b.press("main button")
	b.waits("[role=status]", "1 job is tried again")
	b.looks("board-prefix")
}

// TestAwayInChromium: a page that is open says that its job is gone, that the sign-in has ended, and that the
// worker is.
func TestAwayInChromium(t *testing.T) {
	s := ready(t).serve(testToken, false)
	s.fill(1, 1, 1)
	job := s.enqueue(1, time.Hour)
	b := newBrowser(t)
	b.open(s, fmt.Sprintf("/jobs/%d", job.ID))
	b.do(chromedp.SendKeys("#token", testToken), chromedp.KeyEvent(kb.Enter))
	b.waits("#live", "Live")
	b.waits("#facts", "Queued")
	s.exec("DELETE FROM onerow_job")
	b.waits("#offline", "This is not there any more.")
	b.looks("job-gone")

	b.open(s, "/")
	b.waits("#live", "Live")
	value[bool](b, `fetch('/logout', {method: 'POST'}), true`)
	b.waits("#offline", "The sign-in has ended")
	b.looks("signed-out")
	b.open(s, "/")
	b.do(chromedp.SendKeys("#token", testToken), chromedp.KeyEvent(kb.Enter))
	b.waits("#live", "Live")
	s.away()
	b.waits("#offline", "This worker does not answer, so what is shown is old.")
	b.looks("worker-away")
}

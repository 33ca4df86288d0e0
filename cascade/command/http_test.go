package command

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/page"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

var asHTML = header("Accept", "text/html")

// TestPageToken: with a token nothing but probes and the form answers without it.
func TestPageToken(t *testing.T) {
	s := ready(t).serve(testToken, false)
	wrong := header("Authorization", "Bearer "+testToken+"x")
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	for _, path := range []string{"/", "/live", "/metrics", "/jobs/1/undo", "/nowhere"} {
		s.says(s.get(path, wrong), http.StatusUnauthorized)
		s.says(s.get(path, none), http.StatusUnauthorized)
		if got := s.get(path, none, asHTML); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/login") {
			t.Errorf("%s: a person is sent to %q with %s", path, got.Header.Get("Location"), got.Status)
		}
	}
	for _, path := range []string{"/pause", "/resume", "/jobs/1/retry", "/parked/1/skip", "/jobs/1/undo", "/logout"} {
		s.says(s.do(http.MethodPost, path, url.Values{}, none), http.StatusUnauthorized)
		s.says(s.do(http.MethodPost, path, url.Values{}, wrong), http.StatusUnauthorized)
	}
	if n := s.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on"); n != 0 {
		t.Error("paused without the token")
	}
	for _, path := range []string{"/healthz", "/readyz", "/login", "/static/style.css"} {
		s.says(s.get(path, none), http.StatusOK)
	}
	if body := s.get("/login", none).body; strings.Contains(body, "db.example") {
		t.Error("the form tells strangers which database it is")
	}
	s.says(s.get("/"), http.StatusOK, "db.example/shop", "Sign out")

	// The form gives a cookie that lets in, and only as it is.
	s.says(s.do(http.MethodPost, "/login", url.Values{"token": {"guess"}}, none), http.StatusUnauthorized, "not the token")
	in := s.do(http.MethodPost, "/login", url.Values{"token": {testToken}, "to": {"//evil.example/"}}, none)
	s.says(in, http.StatusSeeOther)
	if to := in.Header.Get("Location"); to != "/" {
		t.Errorf("the form sends away to %q", to)
	}
	cookie := in.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || strings.Contains(cookie.Value, testToken) {
		t.Errorf("the cookie is %+v", cookie)
	}
	with := func(value string) change {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value}) }
	}
	s.says(s.get("/", none, with(cookie.Value)), http.StatusOK, "db.example/shop")
	for _, forged := range []string{"", ".", cookie.Value[1:], strings.ToLower(cookie.Value), testToken} {
		s.says(s.get("/", none, with(forged)), http.StatusUnauthorized)
	}

	// Another process knows nothing of it, nor does this one after the sign-out; others stay signed in.
	again := s.do(http.MethodPost, "/login", url.Values{"token": {testToken}}, none).Cookies()[0]
	s.says(s.world.serve(testToken, false).get("/", none, with(cookie.Value)), http.StatusUnauthorized)
	s.says(s.do(http.MethodPost, "/logout", url.Values{}, none, with(cookie.Value)), http.StatusSeeOther)
	s.says(s.get("/", none, with(cookie.Value)), http.StatusUnauthorized)
	s.says(s.do(http.MethodPost, "/resume", url.Values{}, none, with(cookie.Value)), http.StatusUnauthorized)
	s.says(s.get("/", none, with(again.Value)), http.StatusOK)
}

// TestPageWrongTokens: wrong tokens are answered slowly, in the form and as a bearer, and the right one at once
// while they wait.
func TestPageWrongTokens(t *testing.T) {
	s := ready(t).serve(testToken, false)
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	begin := time.Now()
	var answered atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				s.says(s.do(http.MethodPost, "/login", url.Values{"token": {"guess"}}, none), http.StatusUnauthorized)
			} else {
				s.says(s.get("/", header("Authorization", "Bearer guess")), http.StatusUnauthorized)
			}
			answered.Add(1)
		})
	}
	for answered.Load() == 0 { // they are at work
		s.says(s.get("/healthz"), http.StatusOK)
	}
	s.says(s.do(http.MethodPost, "/login", url.Values{"token": {testToken}}, none), http.StatusSeeOther)
	s.says(s.get("/"), http.StatusOK)
	if n := answered.Load(); n == 8 {
		t.Error("the right token has waited for the wrong ones")
	}
	all.Wait()
	if took := time.Since(begin); took < 1500*time.Millisecond {
		t.Errorf("8 wrong tokens took %s", took)
	}
}

// TestPageStrangers: what other sites, other names and other addresses may not do.
func TestPageStrangers(t *testing.T) {
	w := ready(t)
	s := w.serve("", true)
	for name, from := range map[string][]change{
		"another site":        {header("Sec-Fetch-Site", "cross-site")},
		"the same site":       {header("Sec-Fetch-Site", "same-site")},
		"another origin":      {header("Origin", "http://evil.example")},
		"an origin of null":   {header("Origin", "null")},
		"a form of elsewhere": {header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example"), asHTML},
	} {
		t.Run(name, func(*testing.T) {
			s.says(s.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, from...), http.StatusForbidden, "another site")
		})
	}
	if n := s.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on"); n != 0 {
		t.Error("paused by another site")
	}
	// A program that was led to post here says nothing of where it comes from.
	silent := func(r *http.Request) { r.Header.Del("Origin") }
	for _, path := range []string{"/pause", "/resume", "/enqueue", "/jobs/1/cancel", "/parked/1/skip", "/login", "/logout"} {
		s.says(s.do(http.MethodPost, path, url.Values{"reason": {"x"}}, silent), http.StatusForbidden, "did not say where it comes from", output.EnvToken)
	}
	if n := s.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on"); n != 0 {
		t.Error("paused by nobody in particular")
	}
	s.message(s.do(http.MethodPost, "/pause", url.Values{"reason": {"why"}}, header("Sec-Fetch-Site", "same-origin"), header("Origin", s.base)), "Paused")

	// Nor may another site with the cookie or the token of somebody who is signed in.
	signed := w.serve(testToken, false)
	in := signed.do(http.MethodPost, "/login", url.Values{"token": {testToken}}, func(r *http.Request) { r.Header.Del("Authorization") })
	signed.says(in, http.StatusSeeOther)
	cookie := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(in.Cookies()[0])
	}
	signed.says(signed.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, cookie, silent), http.StatusForbidden)
	signed.message(signed.do(http.MethodPost, "/pause", url.Values{"reason": {"a program"}}, silent), "Paused") // by its bearer
	for name, by := range map[string]change{"token": func(*http.Request) {}, "cookie": cookie} {
		for _, path := range []string{"/pause", "/resume", "/login", "/logout"} {
			got := signed.do(http.MethodPost, path, url.Values{"reason": {"x"}}, by, header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example"))
			if got.StatusCode != http.StatusForbidden {
				t.Errorf("%s by the %s of another site's victim: %s", path, name, got.Status)
			}
		}
		signed.message(signed.do(http.MethodPost, "/pause", url.Values{"reason": {"why"}}, by, header("Sec-Fetch-Site", "same-origin")), "Sign out")
	}

	// A name of another site that resolves to this machine.
	rebound := func(r *http.Request) { r.Host = "evil.example:9090" }
	s.says(s.get("/", rebound), http.StatusMisdirectedRequest)
	s.says(s.do(http.MethodPost, "/resume", url.Values{}, rebound), http.StatusMisdirectedRequest)
	s.says(s.get("/", func(r *http.Request) { r.Host = "localhost:9090" }), http.StatusOK)

	// On other addresses, without a token, the page only shows.
	public := w.serve("", false)
	public.says(public.get("/", func(r *http.Request) { r.Host = "worker.internal" }), http.StatusOK, "why")
	for _, path := range []string{"/pause", "/resume", "/jobs/1/retry", "/jobs/1/cancel", "/jobs/1/restore", "/enqueue", "/settings", "/errors/0/skip", "/parked/1/skip"} {
		public.says(public.do(http.MethodPost, path, url.Values{}), http.StatusForbidden, output.EnvToken)
	}
	if body := public.get("/").body; strings.Contains(body, `method="post"`) || strings.Contains(body, "/delete") {
		t.Error("the page has buttons that nobody may press")
	}
}

// TestReadyAsksTheDatabase: what was found is believed for a while, but not that the database still answers.
func TestReadyAsksTheDatabase(t *testing.T) {
	w := ready(t)
	db := dbtest.OpenDSN(t, w.cfg.FormatDSN())
	s := w.serveWith("", func(o *page.Options) { o.Local, o.DB = true, db })
	s.says(s.get("/readyz"), http.StatusOK, "ready")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.says(s.get("/readyz"), http.StatusServiceUnavailable, "cannot be reached")
}

// TestMetricsAreMeasuredNowAndThen: scrapes that come thick and fast count the queue once a second.
func TestMetricsAreMeasuredNowAndThen(t *testing.T) {
	s := ready(t).serve("", true)
	at := func() time.Time {
		found := regexp.MustCompile(`(?m)^onerow_cascade_measured_timestamp_seconds (.*)$`).FindStringSubmatch(s.get("/metrics").body)
		if found == nil {
			t.Fatal("nothing says when the queue was measured")
		}
		seconds, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.UnixMicro(int64(seconds * 1e6))
	}
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		measured := at()
		again := at()
		if time.Since(measured) >= metrics.MeasureEvery {
			return false, "a scrape takes a second"
		}
		if !again.Equal(measured) {
			t.Fatal("the queue is measured at every scrape")
		}
		return true, ""
	})
	// And once it is a second old, again.
	time.Sleep(metrics.MeasureEvery)
	s.enqueue(1, time.Hour)
	s.says(s.get("/metrics"), http.StatusOK, `onerow_cascade_jobs{state="scheduled"} 1`)
}

// TestPageBelowAPrefix: in somebody's own mux nothing leads out of the prefix.
func TestPageBelowAPrefix(t *testing.T) {
	const prefix = "/our/jobs"
	w := ready(t)
	w.createTrash()
	s := w.serveWith(testToken, func(o *page.Options) { o.Prefix = prefix })
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	for path, want := range map[string]string{"/": prefix + "/login", "/jobs/1": prefix + "/login?to=%2Fjobs%2F1"} {
		if got := s.get(path, none, asHTML); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want {
			t.Errorf("%s: %s, to %q, want %q", path, got.Status, got.Header.Get("Location"), want)
		}
	}
	in := s.do(http.MethodPost, "/login", url.Values{"token": {testToken}, "to": {"/trash"}}, none)
	if in.Header.Get("Location") != prefix+"/trash" || in.Cookies()[0].Path != prefix+"/" {
		t.Errorf("signed in: %q, %+v", in.Header.Get("Location"), in.Cookies())
	}
	s.says(s.get("/trash", none, func(r *http.Request) { r.AddCookie(in.Cookies()[0]) }), http.StatusOK, "Sign out")

	s.fill(1, 2, 3)
	s.fill(2, 1, 1)
	s.fill(3, 1, 1)
	dead, grace, left := s.enqueue(1, 0), s.enqueue(2, time.Hour), s.enqueue(3, 0)
	s.end(dead.ID, queue.Dead, "e")
	s.park(left.ID, "comment", 1, "e")
	s.end(left.ID, queue.Leftovers, "")
	leads := regexp.MustCompile(`\b(?:href|src|action|formaction|data-from)="([^"]*)"`)
	seen := map[string]bool{}
	for _, path := range []string{"/", "/live", "/trash", "/search?q=project", "/delete", "/delete?resource=project&key=1", "/nowhere",
		fmt.Sprintf("/jobs/%d", dead.ID), fmt.Sprintf("/jobs/%d/live", left.ID), fmt.Sprintf("/jobs/%d/undo", grace.ID), fmt.Sprintf("/jobs/%d/cancel", dead.ID)} {
		for _, found := range leads.FindAllStringSubmatch(s.get(path, asHTML).body, -1) {
			if seen[found[1]] = true; !strings.HasPrefix(found[1], prefix+"/") && found[1] != "#main" {
				t.Errorf("%s leads to %q", path, found[1])
			}
		}
	}
	for lead := range seen {
		if _, path, _ := strings.Cut(lead, prefix); strings.HasPrefix(path, "/static/") {
			s.says(s.get(path), http.StatusOK)
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d leads were found: %q", len(seen), slices.Sorted(maps.Keys(seen)))
	}
	for path, to := range map[string]string{"/pause": "", fmt.Sprintf("/jobs/%d/retry", dead.ID): fmt.Sprintf("/jobs/%d", dead.ID)} {
		got := s.do(http.MethodPost, path, url.Values{"reason": {"x"}, "to": {to}})
		want := prefix + to
		if to == "" {
			want += "/"
		}
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want {
			t.Errorf("%s: %s, to %q, want %q", path, got.Status, got.Header.Get("Location"), want)
		}
	}
}

// TestPageRequests: addresses, methods, bodies and headers.
func TestPageRequests(t *testing.T) {
	s := ready(t).serve("", true)
	post := http.MethodPost
	s.says(s.do(post, "/jobs/99/retry", url.Values{}), http.StatusNotFound, "There is no job 99")
	s.says(s.do(post, "/parked/99/skip", url.Values{}), http.StatusNotFound, "There is no parked row 99")
	s.says(s.do(post, "/parked/99/retry", url.Values{}), http.StatusNotFound)
	s.says(s.do(post, "/jobs/99/undo", url.Values{}), http.StatusNotFound)
	s.says(s.get("/jobs/99/undo"), http.StatusNotFound)
	for _, id := range []string{"0", "-1", "x", "99999999999999999999", "1%20or%201"} {
		s.says(s.do(post, "/jobs/"+id+"/retry", url.Values{}), http.StatusNotFound)
	}
	s.says(s.get("/nowhere", asHTML), http.StatusNotFound, "There is nothing at this address", "Back to the jobs")
	s.says(s.get("/static/layout.html"), http.StatusNotFound)
	s.says(s.do(post, "/pause", url.Values{"reason": {strings.Repeat("x", 8<<10)}}), http.StatusRequestEntityTooLarge)
	s.says(s.do(post, "/pause", url.Values{}, func(r *http.Request) { r.URL.RawQuery = "a=%zz" }), http.StatusBadRequest)
	for path, method := range map[string]string{"/pause": http.MethodGet, "/jobs/1/retry": http.MethodGet, "/": http.MethodPost, "/live": http.MethodDelete, "/healthz": http.MethodPut} {
		got := s.do(method, path, nil)
		if got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") == "" {
			t.Errorf("%s %s: %s, Allow %q", method, path, got.Status, got.Header.Get("Allow"))
		}
	}
	if n := s.number("SELECT COUNT(*) FROM onerow_switch"); n != 0 {
		t.Error("something was done")
	}
	got := s.get("/")
	for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if !strings.Contains(got.Header.Get(name), want) {
			t.Errorf("%s is %q", name, got.Header.Get(name))
		}
	}
	if strings.Contains(got.body, "//") && strings.Contains(strings.ReplaceAll(got.body, "<!doctype", ""), "http") {
		t.Errorf("something is from elsewhere: %s", got.body)
	}
	// Nothing has changed since: nothing is sent again.
	live := s.get("/live")
	s.says(live, http.StatusOK, "No job yet")
	if again := s.get("/live", header("If-None-Match", live.Header.Get("ETag"))); again.StatusCode != http.StatusNotModified && again.Header.Get("ETag") == live.Header.Get("ETag") {
		t.Errorf("the same board is sent again: %s", again.Status)
	}
}

// TestPageActs: every button, its message, and what it says the second time.
func TestPageActs(t *testing.T) {
	s := ready(t).serve("", true)
	post := func(path string, id int64) reply { return s.do(http.MethodPost, fmt.Sprintf(path, id), url.Values{}) }
	hostile := "<script>alert(1)</script>\u202e"

	s.message(s.do(http.MethodPost, "/pause", url.Values{"reason": {hostile}}), "&lt;script&gt;")
	s.message(s.do(http.MethodPost, "/resume", url.Values{}), "Resumed")

	s.fill(1, 2, 3)
	dead := s.enqueue(1, 0)
	s.end(dead.ID, queue.Dead, hostile)
	page := s.get("/")
	s.says(page, http.StatusOK, "&lt;script&gt;alert(1)", "Needs somebody")
	if strings.Contains(page.body, "<script>") || strings.Contains(page.body, "\u202e") {
		t.Error("an error was put into the page as it is")
	}
	s.message(post("/jobs/%d/retry", dead.ID), "is tried again")
	s.message(post("/jobs/%d/retry", dead.ID), "nothing to retry")

	s.fill(2, 1, 1)
	left := s.enqueue(2, 0)
	first, second := s.park(left.ID, "comment", 1, hostile), s.park(left.ID, "comment", hostile, "e")
	s.end(left.ID, queue.Leftovers, "")
	s.says(s.get("/"), http.StatusOK, "comment &lt;script&gt;")
	s.message(post("/parked/%d/skip", first), "is leftovers")
	s.message(post("/parked/%d/skip", second), "is done")
	third := s.park(dead.ID, "comment", 7, "e")
	s.message(post("/parked/%d/retry", third), "is tried again")

	// Undo asks first; asking changes nothing.
	s.fill(3, 1, 1)
	grace := s.enqueue(3, time.Hour)
	s.says(s.get(fmt.Sprintf("/jobs/%d/undo", grace.ID)), http.StatusOK, "Bring project 3 back?", "Yes, bring it back")
	if n := s.number("SELECT COUNT(*) FROM onerow_job WHERE id = ?", grace.ID); n != 1 {
		t.Error("the question has undone it")
	}
	s.message(post("/jobs/%d/undo", grace.ID), "is taken back")
	s.message(post("/jobs/%d/undo", grace.ID), "cannot be taken back any more")
	s.says(s.get(fmt.Sprintf("/jobs/%d/undo", grace.ID), asHTML), http.StatusConflict, "cannot be taken back any more")
}

// TestPageWithoutDatabase: probes say why, the page says since when and shows what it
// knew, and all recover.
func TestPageWithoutDatabase(t *testing.T) {
	t.Parallel()
	s := ready(t).serve("", true)
	s.fill(1, 1, 1)
	s.enqueue(1, time.Hour)
	s.says(s.get("/readyz"), http.StatusOK, "ready")
	s.says(s.get("/"), http.StatusOK, "project 1")
	s.says(s.get("/metrics"), http.StatusOK, `onerow_cascade_jobs{state="scheduled"} 1`)

	// To the page it is the same whether the server or its tables are away.
	s.exec("RENAME TABLE onerow_job TO away")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		body := s.get("/").body
		return strings.Contains(body, "The database cannot be read since") && strings.Contains(body, "project 1"), body
	})
	s.says(s.get("/live"), http.StatusOK, "cannot be read since")
	s.says(s.get("/metrics"), http.StatusOK, "onerow_cascade_jobs", "go_goroutines")
	s.says(s.get("/healthz"), http.StatusOK, "ok")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		got := s.get("/readyz")
		return got.StatusCode == http.StatusServiceUnavailable, got.Status + got.body
	})
	s.exec("RENAME TABLE away TO onerow_job")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		got, page := s.get("/readyz"), s.get("/")
		return got.StatusCode == http.StatusOK && !strings.Contains(page.body, "cannot be read"), got.body + page.body
	})
}

// TestRunServes: the daemon's own page, a client that takes nothing and keeps nobody, and
// what is wrong with an address.
func TestRunServes(t *testing.T) {
	w := ready(t)
	w.want(2, "16 characters", "run", "--http", ":0", "--http-token", "short")
	w.want(2, "it should be like", "run", "--http", "a:b:c")
	w.want(2, "needs --http", "run", "--http-token", testToken)

	w.write(w.plan, testPlan+"tables: [{name: visit, key: [id], retention: {column: seen_at, keep: 90d}}]\n")
	w.exec("CREATE TABLE visit (id BIGINT PRIMARY KEY, seen_at DATETIME, KEY (seen_at))")
	w.exec("INSERT INTO visit VALUES (1, '2020-01-01'), (2, '2020-01-02')")
	s, cmd, scanner := w.running()
	s.says(s.get("/healthz"), http.StatusOK, "ok")
	s.says(s.get("/readyz"), http.StatusOK, "ready")
	total := w.fill(1, 2, 3)
	w.ok("enqueue", "project", "1")
	dbtest.Eventually(t, 60*time.Second, func() (bool, string) {
		body := s.get("/metrics").body
		for _, line := range []string{`onerow_cascade_jobs_ended_total{state="done"} 3`, `onerow_cascade_deleted_rows_total{table="comment"} 6`,
			`onerow_cascade_retention_queued_rows_total{resource="visit"} 2`, `onerow_cascade_retention_done_timestamp_seconds{resource="visit"} 1`} {
			if !strings.Contains(body, line) {
				return false, line + " is not in " + body
			}
		}
		return true, ""
	})
	s.says(s.get("/live"), http.StatusOK, "project 1", output.Plural(total, "row"))

	// A connection that sends half a request does not keep the daemon.
	slow, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := fmt.Fprint(slow, "GET / HTTP/1.1\r\nHost: "); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for scanner.Scan() {
		t.Log(scanner.Text())
	}
	if code := exitCode(t, cmd.Wait()); code != 0 || time.Since(begin) > soon {
		t.Errorf("exit code %d after %s", code, time.Since(begin))
	}
}

// TestCountsWhatIsLeft: while somebody looks, what is left of a job under way is counted, and told by table;
// what was counted until the time was over is told as "at least".
func TestCountsWhatIsLeft(t *testing.T) {
	s := ready(t).serveWith("", func(o *page.Options) { o.Local, o.CountBudget = true, 3*time.Second })
	s.fill(1, 2, 3)
	job := s.enqueue(1, 0)
	live := func(text string) {
		t.Helper()
		dbtest.Eventually(t, 60*time.Second, func() (bool, string) {
			body := s.get("/live").body
			return strings.Contains(body, text), fmt.Sprintf("%q is not in %s", text, body)
		})
	}
	s.exec("UPDATE onerow_job SET state = 'running', started_at = UTC_TIMESTAMP(6), due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, worker = 'tester:1', token = token + 1 WHERE id = ?", job.ID)
	live("~0 % · 0 of about 8 rows")
	live("0 of 6")

	s.fill(2, 2, 3)
	second := s.enqueue(2, 0)
	held, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(t.Context(), "LOCK TABLES comment WRITE"); err != nil {
		t.Fatal(err)
	}
	s.exec("UPDATE onerow_job SET state = 'running', started_at = UTC_TIMESTAMP(6), due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, worker = 'tester:1', token = token + 1 WHERE id = ?", second.ID)
	live("0 of at least 2 rows")
	if _, err := held.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Error(err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}

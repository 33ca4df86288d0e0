package page

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// TestReadTokenPressesNothing walks every post that there is: who may only look is refused, nothing changes,
// and no page has a button for him.
func TestReadTokenPressesNothing(t *testing.T) {
	d := atDesk(t, testPlan, nil)
	grace, dead := d.shelf(1, 2, time.Hour), d.shelf(2, 1, 0)
	open := d.shelf(3, 1, 0)
	d.exec("INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, 'book', '7', 'e', 'parked', UTC_TIMESTAMP(6))", open.ID)
	d.dead(dead.ID, "e")
	row := d.number("SELECT MAX(id) FROM onerow_parked")
	jobs := []int64{grace.ID, dead.ID, open.ID}

	failed, err := queue.Get(t.Context(), d.db, dead.ID)
	if err != nil {
		t.Fatal(err)
	}
	digestOfDead := jobDigest(failed)
	before := d.everything()
	form := url.Values{"reason": {"x"}, "resource": {"shelf"}, "key": {"1"}, "load": {"30"}, "worker": {"tester:1"}}
	posts := slices.Sorted(maps.Keys(d.posts()))
	if len(posts) < 15 {
		t.Fatalf("only %d posts: %q", len(posts), posts)
	}
	at := func(path string, id int64) string {
		if strings.HasPrefix(path, "/parked/") {
			id = row
		}
		return strings.NewReplacer("{id}", fmt.Sprint(id), "{digest}", digestOfDead).Replace(path)
	}
	for _, path := range append(posts, "/nowhere") {
		for _, id := range jobs {
			for name, eve := range map[string]change{"bearer": by(evesToken), "with its name": by("eve:" + evesToken), "password": password("eve", evesToken)} {
				if got := d.do(http.MethodPost, at(path, id), form, eve); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), "looking only") {
					t.Errorf("%s by the %s: %d %s", path, name, got.Code, got.Body)
				}
			}
		}
	}
	in := d.do(http.MethodPost, "/login", url.Values{"token": {evesToken}})
	d.says(in, http.StatusSeeOther)
	cookie := func(r *http.Request) { r.AddCookie(in.Result().Cookies()[0]) }
	d.says(d.do(http.MethodPost, "/pause", form, cookie), http.StatusForbidden, "looking only")
	if after := d.everything(); after != before {
		t.Errorf("a read token has changed something:\n%s\nwas\n%s", after, before)
	}

	paths := []string{"/", "/live", "/trash", "/search?q=shelf", "/jobs/" + fmt.Sprint(grace.ID), "/jobs/" + fmt.Sprint(dead.ID), "/jobs/" + fmt.Sprint(dead.ID) + "/live"}
	forms := regexp.MustCompile(`method="post" action="([^"]*)"|formaction="([^"]*)"`)
	for _, path := range paths {
		for name, who := range map[string]change{"bearer": by(evesToken), "cookie": cookie} {
			body := d.says(d.get(path, who), http.StatusOK)
			for _, found := range forms.FindAllStringSubmatch(body, -1) {
				if found[1] != "/logout" {
					t.Errorf("%s has a button for %s, by the %s", path, found[0], name)
				}
			}
			if strings.Contains(body, `href="/delete"`) || strings.Contains(body, "/undo") || strings.Contains(body, "/cancel") {
				t.Errorf("%s leads to questions: %s", path, body)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.questions())) {
		d.says(d.get(at(path, grace.ID), by(evesToken)), http.StatusForbidden, "looking only")
	}

	// The same with ann's: each route is there, and she may.
	for _, path := range posts {
		if got := d.do(http.MethodPost, at(path, grace.ID), form, by(annsToken)); got.Code != http.StatusSeeOther && got.Code != http.StatusNotFound {
			t.Errorf("%s by ann: %d %s", path, got.Code, got.Body)
		}
	}
	if d.everything() == before {
		t.Error("ann has changed nothing, so this test shows nothing")
	}
	d.says(d.get("/", by(annsToken)), http.StatusOK, `action="/pause"`, "<bdi>ann</bdi>")
	d.says(d.get("/", by(evesToken)), http.StatusOK, "<bdi>eve</bdi>, looking only")
}

// TestBasicAuth: the user is the token's name. Browsers send it by themselves, so a post has to say where it
// comes from as with a cookie.
func TestBasicAuth(t *testing.T) {
	const program = "0123456789abcdef-nobody"
	d := atDesk(t, testPlan, func(o *Options) { o.Tokens[program] = "" })
	ann := password("ann", annsToken)
	d.says(d.get("/", ann), http.StatusOK, `action="/pause"`)
	d.says(d.get("/basic", ann), http.StatusSeeOther)
	d.says(d.get("/", password("", program)), http.StatusOK, `action="/pause"`)
	if body := d.get("/", ann).Body.String(); strings.Contains(body, "/logout") {
		t.Error("nobody can sign out of basic authentication, and there is a button for it")
	}
	if got := d.get("/basic"); got.Code != http.StatusUnauthorized || !strings.HasPrefix(got.Header().Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("a browser is not asked: %d %v", got.Code, got.Header())
	}
	if got := d.get("/live"); strings.Contains(got.Header().Get("WWW-Authenticate"), "Basic") {
		t.Error("what the page itself reads would open a dialog")
	}
	begin := time.Now()
	wrong := map[string]change{"the token of another": password("ann", evesToken), "another's name": password("eve", annsToken), "no name": password("", annsToken),
		"no password": password("ann", ""), "nobody": password("", ""), "a name that none has": password("bob", program)}
	for name, c := range wrong {
		got := d.get("/", c)
		if got.Code != http.StatusUnauthorized || !strings.HasPrefix(got.Header().Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: %d %v", name, got.Code, got.Header())
		}
		d.says(d.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, c), http.StatusUnauthorized)
	}
	if took := time.Since(begin); took < 5*time.Second {
		t.Errorf("%d wrong ones were answered in %s", 2*len(wrong), took)
	}
	silent := func(r *http.Request) { r.Header.Del("Origin") }
	for name, c := range map[string]change{"silent": silent, "another site": header("Origin", "https://evil.example"), "a site that hides": header("Origin", "null"),
		"a browser's word": header("Sec-Fetch-Site", "cross-site")} {
		if got := d.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, ann, c); got.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	if n := d.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on = 1"); n != 0 {
		t.Error("paused by another site")
	}
	d.told(d.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, ann))
	if n := d.number("SELECT COUNT(*) FROM onerow_action WHERE actor = 'ann (page)'"); n != 1 {
		t.Errorf("%d actions are ann's", n)
	}
}

// TestProxies: a proxy's header counts from a listed address, once and not empty, and from nowhere else.
func TestProxies(t *testing.T) {
	d := atDesk(t, testPlan, func(o *Options) {
		o.ProxyUser = "X-Remote-User"
		for _, text := range []string{"10.1.0.0/16", "192.0.2.7/32", "2001:db8::/32", "::ffff:198.51.100.0/120"} {
			o.Proxies = append(o.Proxies, netip.MustParsePrefix(text))
		}
	})
	user := header("X-Remote-User", "carol@example.com")
	for _, peer := range []string{"10.1.2.3:1", "192.0.2.7:65535", "[2001:db8::5]:443", "[::ffff:10.1.2.3]:1", "198.51.100.9:1", "[::ffff:198.51.100.9]:1", "[2001:db8::5%eth0]:443"} {
		d.says(d.get("/", from(peer), user), http.StatusOK, "<bdi>carol@example.com</bdi>", `action="/pause"`)
	}
	for _, peer := range []string{"10.2.0.1:1", "192.0.2.8:1", "[2001:db9::5]:443", "[::ffff:10.2.0.1]:1", "198.51.101.9:1", "127.0.0.1:1", "[::1]:1", "", "@", "10.1.2.3", "[fe80::1]:80"} {
		d.says(d.get("/live", from(peer), user), http.StatusUnauthorized)
		d.says(d.get("/live", from(peer), user, header("X-Forwarded-For", "10.1.2.3"), header("Forwarded", "for=10.1.2.3"), header("X-Real-Ip", "10.1.2.3")), http.StatusUnauthorized)
	}
	for name, c := range map[string]change{"none": header("X-Other", "carol"), "empty": header("X-Remote-User", ""), "blank": header("X-Remote-User", " \t "), "unprintable": header("X-Remote-User", "\u202e\u200b"),
		"twice": header("X-Remote-User", "carol", "mallory"), "twice the same": header("X-Remote-User", "carol", "carol"), "once empty": header("X-Remote-User", "", "carol"),
		"the default's": header("X-Forwarded-User", "carol")} {
		if got := d.get("/live", from("10.1.2.3:1"), c); name != "unprintable" && got.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	post := func(c ...change) int {
		return d.do(http.MethodPost, "/pause", url.Values{"reason": {"x"}}, c...).Code
	}
	for name, c := range map[string][]change{"no address of a proxy": {user, from("10.2.0.1:1")}, "another site": {user, from("10.1.2.3:1"), header("Origin", "https://evil.example")},
		"silent": {user, from("10.1.2.3:1"), header("Origin")}, "silent, with the proxy's own bearer": {user, from("10.1.2.3:1"), header("Origin"), by("of-the-proxy")},
		"a read token": {user, from("10.1.2.3:1"), by(evesToken)}} {
		if code := post(c...); code != http.StatusForbidden && code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, code)
		}
	}
	if n := d.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on = 1"); n != 0 {
		t.Error("somebody has paused who may not")
	}
	// A token of one's own still counts from everywhere; from elsewhere the header does not change its name.
	d.says(d.get("/", from("10.2.0.1:1"), user, by(annsToken)), http.StatusOK, "<bdi>ann</bdi>")
	d.says(d.get("/", from("10.1.2.3:1"), user, by(evesToken)), http.StatusOK, "<bdi>carol@example.com</bdi>, looking only")
	if code := post(from("10.1.2.3:1"), user); code != http.StatusSeeOther {
		t.Errorf("carol may not pause: %d", code)
	}
	if code := post(from("10.1.2.3:1"), header("X-Remote-User", strings.Repeat("long", 1000)+"\x1b[2J")); code != http.StatusSeeOther {
		t.Errorf("a long name: %d", code)
	}
	if n := d.number("SELECT COUNT(*) FROM onerow_action WHERE actor = 'carol@example.com (page)'"); n != 1 {
		t.Errorf("%d actions are carol's", n)
	}
}

// TestAccessOptions: what would let in others than one thinks is refused.
func TestAccessOptions(t *testing.T) {
	one := netip.MustParsePrefix("10.0.0.7/32")
	for name, o := range map[string]Options{
		"a read token without secret": {ReadTokens: map[string]string{"": "eve"}},
		"one token for both":          {Tokens: map[string]string{"a": "ann"}, ReadTokens: map[string]string{"a": "eve"}},
		"a header and no proxy":       {ProxyUser: "X-User"},
		"no address":                  {Proxies: []netip.Prefix{{}}},
		"no header":                   {Proxies: []netip.Prefix{one}, ProxyUser: "X User"},
		"a header that says more":     {Proxies: []netip.Prefix{one}, ProxyUser: "authorization"},
	} {
		o.DB, o.Plan = new(sql.DB), schema.Plan{Resources: []schema.Resource{{Name: "shelf"}}}
		if p, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "page: ") || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package command

import (
	"bufio"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/internal/output"
)

// running starts a worker with a page, and returns what it logs from then on.
func (w *world) running(flags ...string) (*site, *exec.Cmd, *bufio.Scanner) {
	w.t.Helper()
	cmd := w.command(w.t.Context(), append([]string{"run", "--http", ":0", "--poll", "20ms", "--log-format", "text"}, flags...)...)
	cmd.Env = append(cmd.Env, output.EnvToken+"="+testToken)
	lines, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill() })
	var base string
	scanner := bufio.NewScanner(lines)
	for base == "" && scanner.Scan() {
		if _, after, found := strings.Cut(scanner.Text(), "url="); found {
			base, _, _ = strings.Cut(after, " ")
		}
		if strings.Contains(scanner.Text(), testToken) {
			w.t.Error("the log has the token")
		}
	}
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		w.t.Fatalf("the page is at %q: an address without a host should be this machine's", base)
	}
	return &site{world: w, base: strings.TrimSuffix(base, "/"), token: testToken,
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, cmd, scanner
}

// TestRunPageFlags: a worker's page below a path, for who may only look, and for whom a proxy names.
func TestRunPageFlags(t *testing.T) {
	w := ready(t)
	w.want(2, "it should be a path like", "run", "--http", ":0", "--http-prefix", "a b")
	w.want(2, "it should be an address like", "run", "--http", ":0", "--http-proxy", "10.0.0.0/99")
	w.want(2, "needs --http", "run", "--http-prefix", "/admin")
	w.want(2, "16 characters", "run", "--http", ":0", "--http-read-token", "eve:short")

	const reads = "token-of-one-who-reads"
	s, cmd, scanner := w.running("--http-read-token", "eve:"+reads, "--http-proxy", "127.0.0.1", "--http-prefix", "/admin")
	if !strings.HasSuffix(s.base, "/admin") {
		t.Errorf("the log says that the page is at %q", s.base)
	}
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	eve := func(r *http.Request) { none(r); r.SetBasicAuth("eve", reads) }
	ann := func(r *http.Request) {
		none(r)
		r.Header.Set("X-Forwarded-User", "ann")
		r.Header.Set("Origin", "http://"+r.Host)
	}
	pause := url.Values{"reason": {"a test"}}
	s.says(s.get("/"), http.StatusOK, `href="/admin/trash"`, "Pause all workers")
	s.says(s.get("/", none), http.StatusUnauthorized)
	s.says(s.get("/healthz", none), http.StatusOK)
	if body := s.get("/", eve).body; !strings.Contains(body, "No job yet") || strings.Contains(body, "Pause all workers") {
		t.Errorf("who reads sees\n%s", body)
	}
	s.says(s.do(http.MethodPost, "/pause", pause, eve), http.StatusForbidden)
	if n := w.number("SELECT COUNT(*) FROM onerow_switch WHERE is_on"); n != 0 {
		t.Error("who reads has paused")
	}
	s.says(s.do(http.MethodPost, "/pause", pause, ann), http.StatusSeeOther)
	if n := w.number("SELECT COUNT(*) FROM onerow_action WHERE action = 'pause' AND actor = 'ann (page)'"); n != 1 {
		t.Error("whom the proxy has named has not paused")
	}
	root := *s
	root.base = strings.TrimSuffix(s.base, "/admin")
	root.says(root.get("/healthz", none), http.StatusOK)
	root.says(root.get("/metrics"), http.StatusOK, "onerow_cascade_jobs")

	_ = cmd.Process.Kill()
	for scanner.Scan() {
		if strings.Contains(scanner.Text(), reads) {
			t.Error("the log has the token of who reads")
		}
	}
	_ = cmd.Wait()
}

package command

import (
	"strings"
	"syscall"
	"testing"
)

const retentionPlan = testPlan + `
tables:
  - name: visit
    key: [id]
    retention: {column: seen_at, keep: 90d, rate: 2000}
  - name: ping
    key: [id]
    retention: {column: at, keep: 36h, windows: ["DAY 02:00-02:01"], zone: Europe/Berlin}
`

// TestRetention: the commands show what is due and queue it once; the daemon does so by itself, and not
// outside of the windows.
func TestRetention(t *testing.T) {
	w := ready(t)
	w.want(2, "the plan has no retention", "retention", "list")
	today := w.number("SELECT WEEKDAY(UTC_TIMESTAMP())") // Monday is 0
	day := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}[(today+3)%7]
	w.write(w.plan, strings.Replace(retentionPlan, "DAY", day, 1))
	w.exec("CREATE TABLE visit (id BIGINT PRIMARY KEY AUTO_INCREMENT, seen_at DATETIME NULL)")
	w.exec("CREATE TABLE ping (id BIGINT PRIMARY KEY AUTO_INCREMENT, at TIMESTAMP NULL, KEY (at))")
	w.want(1, "no index begins with (seen_at)", "verify")
	w.want(1, "cascade-worker: retention of visit", "retention", "run")
	w.exec("ALTER TABLE visit ADD KEY (seen_at)")
	w.ok("verify")
	w.exec("INSERT INTO visit (seen_at) VALUES ('2020-01-01'), ('2020-01-02'), (UTC_TIMESTAMP()), (NULL)")
	w.exec("INSERT INTO ping (at) VALUES ('2020-01-01'), (CURRENT_TIMESTAMP)")
	list := w.ok("retention", "list")
	for _, says := range []string{"visit", "2020-01-01 00:00:00", "open", "{column: seen_at, keep: 90d, rate: 2000}", "2020-01-01 00:00:00 UTC", `windows: ["` + day + ` 02:00-02:01"], zone: Europe/Berlin}`, "from 20"} {
		if !strings.Contains(list, says) {
			t.Errorf("%q is not in %s", says, list)
		}
	}
	if list := w.ok("retention", "list", "--json"); !strings.Contains(list, `"due": 2`) || !strings.Contains(list, `"policy": "{column: seen_at`) {
		t.Error(list)
	}
	w.want(0, "visit: 2 rows would be queued\n", "retention", "run", "--dry-run")
	if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Errorf("a dry run has queued %d jobs", n)
	}
	w.want(1, "no retention for it", "retention", "run", "screen")
	w.want(0, "visit: 2 rows queued\n", "retention", "run", "visit")
	w.want(0, "visit: 0 rows queued; 2 more stay", "retention", "run", "visit")
	w.want(0, "2 jobs done", "drain")
	w.want(0, "ping: 1 row queued", "retention", "run") // also outside of its window
	w.want(0, "1 job done", "drain")
	if n := w.number("SELECT COUNT(*) FROM visit")*10 + w.number("SELECT COUNT(*) FROM ping"); n != 21 {
		t.Errorf("left are %d", n)
	}
	w.exec("INSERT INTO ping (at) VALUES ('2020-01-01')")
	w.exec("INSERT INTO visit (seen_at) SELECT '2020-01-01' FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS three")
	d := w.start("run", "--poll", "50ms")
	w.eventually("visits", "SELECT COUNT(*) FROM visit", func(n int64) bool { return n == 2 })
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 0 || !strings.Contains(d.stderr.String(), "retention: queued") {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	if n := w.number("SELECT COUNT(*) FROM ping"); n != 2 {
		t.Errorf("outside of its window %d pings are left", n)
	}
}

package deploy

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
)

// TestExpressions: each expression of an alert, a panel or a variable has a value over what a worker and an
// application export that have something of everything. The worker runs as the Deployment has it, and its
// probes are asked.
func TestExpressions(t *testing.T) {
	files := readTree(t)
	p, complaints := readProvision(files)
	job := p.job("worker:9090")
	if job == "" {
		t.Fatal("no job scrapes the worker", complaints)
	}
	w := newWorld(t)
	defer http.DefaultClient.CloseIdleConnections()
	w.probe()
	s := w.collect(job)
	const jobs, worker, keys, limits = "deploy/grafana/queue.json", "deploy/grafana/worker.json", "deploy/grafana/keys.json", "deploy/grafana/limits.json"
	wantFound(t, files, func(files tree) []string { return judgeAll(t.Context(), s, files) },
		planted{alertsPath, "max(onerow_cascade_paused) == 1", "max(onerow_cascade_pause) == 1", "nobody exports onerow_cascade_pause "},
		planted{alertsPath, `jobs{state="dead"}) > 0`, `jobs{state="died"}) > 0`, `nobody exports onerow_cascade_jobs{state="died"}`},
		planted{alertsPath, `"paused|load"`, `"pause|load"`, `nobody exports onerow_cascade_throttled{reason="pause"}`},
		planted{alertsPath, "max by (reason)", "max by (kind)", "has no label kind"},
		planted{alertsPath, "$labels.reason", "$labels.kind", "has no label kind"},
		planted{alertsPath, "sum by (le) (rate(", "sum by (le) rate(", "parse error"},
		planted{alertsPath, "for: 2h", "form: 2h", "form"},
		planted{alertsPath, "{{ $value }} deletions", "{{ $valeu }} deletions", "valeu"},
		planted{jobs, "max(onerow_cascade_workers)", "max(onerow_cascade_worker)", "nobody exports onerow_cascade_worker "},
		planted{jobs, "scheduled|ready|running", "scheduled|due|running", `state="due"`},
		planted{jobs, "sum by (state) (rate(", "sum by (status) (rate(", "has no label status"},
		planted{jobs, `"legendFormat": "{{state}}"`, `"legendFormat": "{{status}}"`, "has no label status"},
		planted{worker, `job=\"cascade-worker\"`, `job=\"worker\"`, `nobody exports up{`},
		planted{worker, `db_name=\"worker\"`, `db_name=\"main\"`, "nobody exports go_sql_in_use_connections"},
		planted{worker, "label_values(onerow_cascade_workers, instance)\", \"query\": {\"query\": \"label_values(onerow_cascade_workers, instance)",
			"label_values(onerow_cascade_workers, pod)\", \"query\": {\"query\": \"label_values(onerow_cascade_workers, pod)", "has no label pod"},
		planted{"deploy/grafana/trash.json", `what=~\"stuck|expired\"`, `what=~\"stuck|old\"`, `what="old"`},
		planted{limits, `what=\"recount\"`, `what=\"again\"`, `what="again"`},
		planted{limits, "max by (limit) (onerow_limit_reservations_expired)", "max by (name) (onerow_limit_reservations_expired)", "has no label name"},
		planted{alertsPath, "max(onerow_quota_oldest_mark_seconds)", "max(onerow_quota_oldest_seconds)", "nobody exports onerow_quota_oldest_seconds"},
		planted{keys, "completion_lost|lost", "completion_lost|gone", `event="gone"`},
		planted{keys, `state=\"overdue\"`, `state=\"late\"`, `state="late"`},
	)
	w.fire(s)
}

// probe asks what the kubelet would, without a token.
func (w *world) probe() {
	w.t.Helper()
	one := w.pod.Containers[0]
	for _, probe := range []string{one.LivenessProbe.HTTPGet.Path, one.ReadinessProbe.HTTPGet.Path} {
		if status, body := w.worker.get(w.t, probe); status != http.StatusOK {
			w.t.Errorf("%s: %d %s", probe, status, body)
		}
	}
	if status, _ := w.worker.get(w.t, "/ready"); status == http.StatusOK {
		w.t.Error("the worker answers to any path")
	}
	if status, _ := w.worker.get(w.t, "/metrics"); status == http.StatusOK {
		w.t.Error("/metrics needs no token")
	}
}

// fire makes the state that an alert is about, and wants the alert to fire as it stands.
func (w *world) fire(s *samples) {
	w.t.Helper()
	queries, _ := alerts(readTree(w.t))
	firing := func(alert string, at time.Duration) bool {
		for _, q := range queries {
			if strings.HasSuffix(q.where, ": "+alert) {
				got, err := s.askAt(w.t.Context(), q.expr, s.last.Add(at))
				if err != nil {
					w.t.Fatal(err)
				}
				return len(got) > 0
			}
		}
		w.t.Fatalf("there is no alert %s", alert)
		return false
	}
	want := func(expect bool, at time.Duration, names ...string) {
		w.t.Helper()
		for _, name := range names {
			if firing(name, at) != expect {
				w.t.Errorf("%s: firing is not %v", name, expect)
			}
		}
	}
	at := w.target("cascade-worker")
	want(true, 0, "CascadeParkedRows", "QuotasNotSwept")
	for _, q := range queries {
		if !strings.HasSuffix(q.where, ": LimitsNotSwept") {
			continue
		}
		got, err := s.askAt(w.t.Context(), q.expr, s.last)
		var names []string
		for _, one := range got {
			names = append(names, one.labels.Get("limit"))
		}
		if slices.Sort(names); err != nil || !slices.Equal(names, []string{"held", "old"}) {
			w.t.Errorf("LimitsNotSwept: %q, %v", names, err)
		}
	}
	want(false, 0, "CascadeNoWorker", "CascadeDatabaseUnread", "CascadeQueueStands", "CascadePaused", "CascadeThrottled",
		"CascadeDeadJobs", "CascadeOrphans", "CascadeJobsRepeated")
	want(true, 150*time.Second, "CascadeDatabaseUnread")
	want(true, time.Hour, "CascadeNoWorker")
	w.exec("UPDATE onerow_job_archive SET state = 'dead' LIMIT 1", "INSERT INTO line VALUES (1000, 999)")
	s.until(w.t, at, `onerow_cascade_jobs{state="dead"} > 0 and ignoring(state) onerow_cascade_orphans > 0`)
	want(true, 0, "CascadeDeadJobs", "CascadeOrphans")
	if _, err := queue.Enqueue(w.t.Context(), w.db, queue.Deletion{Resource: "unheard of", ResourceID: "1"}); err != nil {
		w.t.Fatal(err)
	}
	w.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR WHERE resource = 'unheard of'")
	s.until(w.t, at, "onerow_cascade_oldest_due_seconds > 900")
	want(true, 0, "CascadeQueueStands")
	once(w.t, w.env, w.program, "pause", "proof")
	s.until(w.t, at, `onerow_cascade_paused == 1 and on() onerow_cascade_throttled{reason="paused"} == 1`)
	want(true, 0, "CascadePaused")
	want(false, 0, "CascadeQueueStands", "CascadeThrottled") // a pause is no reason
}

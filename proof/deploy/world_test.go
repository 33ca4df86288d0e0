package deploy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/idempotency/prommetrics"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/recount"
)

// plan has something for each metric: what is kept, cut, parked and old.
const plan = `
trash: 30d
resources:
  - name: project
    archive: project_archive
    owner: user_id
    label: {column: name}
tables:
  - name: line
    key: [id]
    parents: [{table: project, columns: [project_id]}]
    triggers: [line_stays]
  - name: bookmark
    key: [id]
    parents: [{table: project, columns: [project_id], on_delete: detach}]
  - name: visit
    key: [id]
    retention: {column: seen_at, keep: 90d, rate: 2000}
`

// tables are those of the plan that the program does not print, and a trigger that has rows parked.
var tables = []string{
	"CREATE TABLE line (id BIGINT PRIMARY KEY, project_id BIGINT NOT NULL, KEY (project_id)) ENGINE=InnoDB",
	"CREATE TABLE bookmark (id BIGINT PRIMARY KEY, project_id BIGINT NULL, KEY (project_id)) ENGINE=InnoDB",
	"CREATE TABLE visit (id BIGINT PRIMARY KEY AUTO_INCREMENT, seen_at DATETIME NULL, KEY (seen_at)) ENGINE=InnoDB",
	`CREATE TRIGGER line_stays BEFORE DELETE ON line FOR EACH ROW
IF OLD.id % 2 = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an even line stays'; END IF`,
}

// token is the worker's, behind the name that the secret of worker.yaml gives it.
const token = "0123456789abcdef0123456789abcdef"

// world is a database with a worker that runs as worker.yaml has it.
type world struct {
	t       *testing.T
	db      *sql.DB
	program string
	env     []string
	worker  *process
	pod     corev1.PodSpec
	next    int
}

// plainDSN is a data source without this project's settings for tests.
func plainDSN(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", cfg.User, cfg.Passwd, cfg.Addr, cfg.DBName)
}

// newWorld migrates as the Job does, makes the plan's tables, and starts the worker as the Deployment does,
// with another port and a search for orphans.
func newWorld(t *testing.T) *world {
	t.Helper()
	files := readTree(t)
	c, built := readCluster(files), parseImage(files, "deploy/Dockerfile")
	if complaints := slices.Concat(c.complaints, built.complaints); len(complaints) > 0 {
		t.Fatal(complaints)
	}
	dsn := dbtest.DSN(t)
	w := &world{t: t, db: dbtest.OpenDSN(t, dsn), program: buildProgram(t, built), pod: c.worker.Spec.Template.Spec}
	planFile := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(planFile, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"ONEROW_DSN": plainDSN(t, dsn), "ONEROW_PLAN": planFile, "ONEROW_HTTP_TOKEN": "prometheus:" + token}
	env := func(one corev1.Container) (all []string) {
		for _, e := range one.Env {
			all = append(all, e.Name+"="+values[e.Name])
		}
		return all
	}
	job := c.migrate.Spec.Template.Spec.Containers[0]
	once(t, env(job), w.program, job.Args...)
	once(t, env(job), w.program, job.Args...) // a Job may run twice
	w.env = env(w.pod.Containers[0])
	for _, what := range [][]string{{"ddl"}, {"ddl", "--trash"}} {
		if what[len(what)-1] == "--trash" {
			w.exec(tables...)
		}
		printed := once(t, w.env, w.program, what...)
		for statement := range strings.SplitSeq(strings.TrimPrefix(printed, "-- +goose Up\n"), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				w.exec(statement)
			}
		}
	}
	once(t, w.env, w.program, "verify")
	if err := errors.Join(recount.Limit(t.Context(), w.db, "project", "1"), recount.Quota(t.Context(), w.db, "project", "1")); err != nil {
		t.Fatal(err)
	}
	w.exec("UPDATE onerow_quota_mark SET created_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR",
		"INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('old', '1', 0, 0, 5, 1, UTC_TIMESTAMP(6) - INTERVAL 3 DAY), ('new', '1', 0, 0, 5, 1, UTC_TIMESTAMP(6))",
		"INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at) VALUES ('held', '1', 'a', 1, UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)")
	args := withPort(w.pod.Containers[0].Args, "--http")
	w.worker = begin(t, w.env, w.program, append(args, "--orphans-every", "1s", "--poll", "100ms")...)
	return w
}

// withPort has a program take a free port in place of the file's: another process may have that here.
func withPort(args []string, flag string) []string {
	args = slices.Clone(args)
	for i := range args {
		if i > 0 && args[i-1] == flag {
			host, _, _ := strings.Cut(args[i], ":")
			args[i] = host + ":0"
		}
	}
	return args
}

func (w *world) exec(statements ...string) {
	w.t.Helper()
	for _, statement := range statements {
		dbtest.Exec(w.t, w.db, statement)
	}
}

// work deletes a project with a line, one that cannot go, and a bookmark, and lets a visit be old; the
// toolkit's own tables get something to purge.
func (w *world) work() {
	w.t.Helper()
	w.next++
	n := w.next
	w.exec(
		fmt.Sprintf(`INSERT INTO project (id, user_id, name, name_key, stem_key, created_at, updated_at)
VALUES (%d, 1, 'p%[1]d', 'p%[1]d', 'p%[1]d', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, n),
		fmt.Sprintf("INSERT INTO line VALUES (%d, %d), (%d, %[2]d)", 2*n, n, 2*n+1),
		fmt.Sprintf("INSERT INTO bookmark VALUES (%d, %[1]d)", n),
		"INSERT INTO visit (seen_at) VALUES ('2020-01-01')",
		fmt.Sprintf(`INSERT INTO onerow_admission (tenant, operation, idem_key, call_token, admitted_at, until_at)
VALUES ('', 'proof', '%d', REPEAT('x', 16), '2020-01-01', '2020-01-02')`, n),
	)
	once(w.t, w.env, w.program, "enqueue", "project", fmt.Sprint(n))
}

func (w *world) target(job string) target {
	return target{job: job, instance: "worker:9090", url: w.worker.base + "/metrics", token: token}
}

// collect lets everything happen at least twice, with scrapes before, between and after.
func (w *world) collect(job string) *samples {
	w.t.Helper()
	s := newSamples(w.t)
	at := w.target(job)
	s.scrape(w.t, at)
	for i := range 2 {
		w.work()
		for _, happened := range []string{
			fmt.Sprintf(`onerow_cascade_jobs_ended_total{state="leftovers"} > %d`, i),
			fmt.Sprintf(`onerow_cascade_detached_rows_total{table="bookmark"} > %d`, i),
			fmt.Sprintf(`onerow_cascade_deleted_rows_total{table="line"} > %d`, i),
			fmt.Sprintf(`onerow_cascade_parked_rows == %d`, i+1),
			`sum(onerow_purged_rows_total) > 0`, // it rests after it found little
			fmt.Sprintf(`onerow_cascade_retention_queued_rows_total{resource="visit"} > %d`, i),
			`onerow_cascade_retention_done_timestamp_seconds > 0`, `onerow_cascade_orphans_searched_timestamp_seconds > 0`,
		} {
			s.until(w.t, at, happened)
		}
	}
	w.collectKeys(s)
	s.scrape(w.t, at)
	return s
}

// collectKeys scrapes an application that counts its keys, twice.
func (w *world) collectKeys(s *samples) {
	w.t.Helper()
	reg := prometheus.NewPedanticRegistry()
	metrics, err := prommetrics.New(reg)
	if err != nil {
		w.t.Fatal(err)
	}
	keys, err := idempotency.New(idempotency.Config{Metrics: metrics})
	if err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	ctx := w.t.Context()
	for i := range 2 {
		key := idempotency.Key{Operation: "charge", ID: fmt.Sprint(i)}
		for range 2 {
			if _, err := idempotency.Do(ctx, w.db, keys, key, func(context.Context, *onerow.Tx) (int, error) { return 42, nil }); err != nil {
				w.t.Fatal(err)
			}
		}
		claim, _, err := idempotency.Begin[int](ctx, w.db, keys, idempotency.Key{Operation: "charge", ID: fmt.Sprint("open", i)})
		if err != nil {
			w.t.Fatal(err)
		}
		closed, err := sql.Open("mysql", "root@tcp(127.0.0.1:1)/")
		if err := errors.Join(err, closed.Close()); err != nil {
			w.t.Fatal(err)
		}
		if err := keys.Complete(ctx, closed, claim, 1); err == nil {
			w.t.Error("completed without a database")
		}
		claim.Token++
		if err := keys.Complete(ctx, w.db, claim, 1); err == nil {
			w.t.Error("completed a claim of somebody else's")
		}
		if _, err := keyadmin.Measure(ctx, w.db, keys); err != nil {
			w.t.Fatal(err)
		}
		s.scrape(w.t, target{job: "application", instance: "application:80", url: server.URL})
		time.Sleep(2 * time.Millisecond) // Prometheus's clock has milliseconds
	}
}

// judgeAll parses and evaluates each expression of the files.
func judgeAll(ctx context.Context, s *samples, files tree) []string {
	queries, complaints := alerts(files)
	drawn, more := dashboards(files)
	complaints = append(complaints, more...)
	judged := map[string]bool{}
	for _, q := range slices.Concat(queries, drawn) {
		if id := q.where + q.expr; !judged[id] {
			judged[id] = true
			complaints = append(complaints, s.judge(ctx, q)...)
		}
	}
	return slices.Sorted(maps.Keys(toSet(complaints)))
}

func toSet(all []string) map[string]bool {
	set := map[string]bool{}
	for _, one := range all {
		set[one] = true
	}
	return set
}

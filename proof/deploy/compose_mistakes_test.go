package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// composeMistakes are planted in compose.yaml and what belongs to it.
var composeMistakes = []planted{
	{composePath, "healthcheck:", "healtcheck:", "healtcheck"},
	{composePath, "dockerfile: deploy/Dockerfile}", "dockerfile: deploy/Worker}", "deploy/Worker, which is not there"},
	{composePath, "image: mariadb:", "image: mariadb:latest # ", "names no version"},
	{composePath, "cap_drop: [ALL]", "cap_drop: [CHOWN]", "may do more than it needs"},
	{composePath, "database: {condition: service_healthy}", "db: {condition: service_healthy}", `"db"`},
	{composePath, "restart: 'no'", "restart: always", "which is restarted"},
	{composePath, "ONEROW_ASSETS", "ONEROW_ASSET", "gets ONEROW_ASSET, which it does not read"},
	{composePath, "MARIADB_PASSWORD: ${ONEROW_DEMO_PASSWORD:-demo-only}", "MARIADB_PASSWORD: demo-only", "MARIADB_PASSWORD cannot be another one"},
	{composePath, "${GRAFANA_DEMO_PASSWORD:-demo-only}", "hunter2", "GF_SECURITY_ADMIN_PASSWORD cannot be another one"},
	{composePath, "examples/projects/plan.yaml", "examples/projects/plans.yaml", "plans.yaml, which is not there"},
	{composePath, "'127.0.0.1:9091:9090'", "'127.0.0.1:9090:9090'", "publishes 127.0.0.1:9090"},
	{composePath, "'127.0.0.1:8080:8080'", "'8080:8080'", "web publishes :8080"},
	{composePath, "--http, '0.0.0.0:9090'", "--http, '127.0.0.1:9090'", "worker publishes 9090, and listens on []"},
	{composePath, "127.0.0.1:9090/readyz", "127.0.0.1:9091/readyz", "asks worker:9091, where nobody listens"},
	{composePath, "./alerts.yml:/etc/prometheus/alerts.yml", "./alerts.yml:/etc/alerts.yml", "and the alerts beside it"},
	{composePath, "./grafana:/etc/onerow/dashboards", "./grafana:/etc/dashboards", "no dashboards in"},
	{composePath, "prom/prometheus:v", "prom/prometheus:v1", "whose parser reads the expressions"},
	{scrapePath, "worker:9090", "worker:9091", "asks worker:9091, where nobody listens"},
	{scrapePath, "rule_files: [alerts.yml]", "rule_files: [alert.yml]", "it loads alert.yml, which is not there"},
	{scrapePath, "job_name:", "jobname:", "jobname"},
	{sourcePath, "http://prometheus:9090", "http://prometheus:9091", "asks prometheus:9091, where nobody listens"},
	{sourcePath, "timeInterval: 15s", "timeInterval: 30s", "Prometheus scrapes every 15s"},
	{providerPath, "path: /etc/onerow/dashboards", "path: /etc/onerow", "no dashboards in /etc/onerow"},
	{providerPath, "type: file", "kind: file", "kind"},
}

// composeReads are the variables that the two programs read.
func composeReads(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all, complaints := images(readTree(t))
	if len(complaints) > 0 {
		t.Fatal(complaints)
	}
	reads := map[string]map[string]bool{}
	for file, i := range all {
		module, pkg := root, "./"+i.pkg
		if sub, err := filepath.Rel("examples", i.pkg); err == nil && filepath.IsLocal(sub) {
			module, pkg = filepath.Join(root, "examples"), "./"+sub
		}
		reads[file] = readNames(t, module, pkg)
	}
	return reads
}

// prometheusVersion is the release whose packages are linked here: v0.316.0 of the module is 3.16.0.
func prometheusVersion() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return err.Error()
	}
	v := regexp.MustCompile(`prometheus/prometheus v0\.(\d)(\d\d)\.(\d+)`).FindStringSubmatch(string(text))
	if v == nil {
		return "in go.mod"
	}
	return "v" + v[1] + "." + regexp.MustCompile(`^0`).ReplaceAllString(v[2], "") + "." + v[3]
}

package deploy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestStack: the programs of compose.yaml do their work in its order, with its commands and variables, on a
// server of this machine: what is written through the web application goes by the worker, file and all.
func TestStack(t *testing.T) {
	files := readTree(t)
	project, err := loadCompose(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, complaints := images(files)
	if len(complaints) > 0 {
		t.Fatal(complaints)
	}
	defer http.DefaultClient.CloseIdleConnections()
	c := &composition{files: files, project: project, images: all}
	data, dsn := t.TempDir(), plainDSN(t, dbtest.DSN(t))
	env := func(s types.ServiceConfig) (env []string) {
		for name, value := range s.Environment {
			given := *value
			switch name {
			case "ONEROW_DSN":
				given = dsn
			case "ONEROW_PLAN":
				given = filepath.Join(root, mounted(s, given))
			default:
				given = strings.Replace(given, "/data", data, 1)
			}
			env = append(env, name+"="+given)
		}
		return env
	}
	start := func(name, flag string) *process {
		s := project.Services[name]
		args := withPort(s.Command, flag)
		for i := range args {
			if args[i] == "/data" {
				args[i] = data
			}
		}
		return begin(t, env(s), buildProgram(t, all[c.dockerfile(s)]), args...)
	}
	healthy := func(p *process, name string) {
		dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
			status, body := p.get(t, asked(project.Services[name]).Path)
			return status == http.StatusOK, body
		})
	}
	migrate := project.Services["migrate"]
	once(t, env(migrate), buildProgram(t, all[c.dockerfile(migrate)]), migrate.Command...)
	web := start("web", "-addr")
	healthy(web, "web")
	worker := start("worker", "--http")
	healthy(worker, "worker-probe")

	send := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, web.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if status, text := do(t, req); status >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
	}
	send(http.MethodPost, "/api/users", `{"name":"Ann","plan":"free"}`)
	send(http.MethodPost, "/api/users/1/projects", `{"name":"Email Campaign"}`)
	send(http.MethodPut, "/api/projects/1/screens/home.txt", "hello")
	stored := func() (names []string) {
		entries, err := os.ReadDir(filepath.Join(data, "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	if len(stored()) == 0 {
		t.Error("the screen has no file where the worker looks for it")
	}
	send(http.MethodDelete, "/api/projects/1", "")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		_, body := web.get(t, "/api/jobs/1")
		return strings.Contains(body, `"state":"done"`) && len(stored()) == 0, body
	})
	if _, body := worker.get(t, "/metrics"); !strings.Contains(body, "\nonerow_cascade_workers 2\n") {
		t.Error("not two workers: the application's own and this one")
	}
}

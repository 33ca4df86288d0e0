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

// stack runs services of compose.yaml on this machine, with another database, folder and ports.
type stack struct {
	*composition
	t         *testing.T
	data, dsn string
}

func newStack(t *testing.T) *stack {
	t.Helper()
	files := readTree(t)
	project, err := loadCompose(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, complaints := images(files)
	if len(complaints) > 0 {
		t.Fatal(complaints)
	}
	return &stack{&composition{files: files, project: project, images: all}, t, t.TempDir(), plainDSN(t, dbtest.DSN(t))}
}

// service is the program of a service, its environment and its command, with a free port for that of the flag.
func (s *stack) service(name, flag string) (env []string, program string, args []string) {
	s.t.Helper()
	service := s.project.Services[name]
	for name, value := range service.Environment {
		given := strings.Replace(*value, "/data", s.data, 1)
		switch name {
		case "ONEROW_DSN":
			given = s.dsn
		case "ONEROW_PLAN":
			given = filepath.Join(root, mounted(service, *value))
		}
		env = append(env, name+"="+given)
	}
	args = withPort(service.Command, flag)
	for i := range args {
		if args[i] == "/data" {
			args[i] = s.data
		}
	}
	return env, buildProgram(s.t, s.images[s.dockerfile(service)]), args
}

// start starts a server and waits until the health check of a service, which may be its neighbour, is content.
func (s *stack) start(name, flag string, check types.ServiceConfig) *process {
	s.t.Helper()
	env, program, args := s.service(name, flag)
	p := begin(s.t, env, program, args...)
	dbtest.Eventually(s.t, 30*time.Second, func() (bool, string) {
		status, body := p.get(s.t, asked(check).Path)
		return status == http.StatusOK, body
	})
	return p
}

// stored are the files that the application has.
func (s *stack) stored() int {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.data, "blobs"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}

// TestStack: the programs of compose.yaml do their work in its order, with its commands and variables, on a
// server of this machine: what is written through the web application goes by a worker, file and all.
func TestStack(t *testing.T) {
	s := newStack(t)
	defer http.DefaultClient.CloseIdleConnections()
	env, program, args := s.service("migrate", "")
	once(t, env, program, args...)
	web := s.start("web", "-addr", s.project.Services["web"])
	worker := s.start("worker", "--http", s.project.Services["worker-probe"])

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
	if s.stored() == 0 {
		t.Error("the screen has no file where the worker looks for it")
	}
	send(http.MethodDelete, "/api/projects/1", "")
	dbtest.Eventually(t, 30*time.Second, func() (bool, string) {
		_, body := web.get(t, "/api/jobs/1")
		return strings.Contains(body, `"state":"done"`) && s.stored() == 0, body
	})
	if _, body := worker.get(t, "/metrics"); !strings.Contains(body, "\nonerow_cascade_workers 2\n") {
		t.Error("not two workers: the application's own and this one")
	}
}

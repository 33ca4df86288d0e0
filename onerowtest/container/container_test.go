package container_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/onerowtest/container"
	"github.com/onerow/onerow/schema"
)

// TestMain is that of a user, where ONEROW_DSN names a server, and in the process that has neither that nor Docker.
// Elsewhere the server that is installed does.
func TestMain(m *testing.M) {
	if os.Getenv("ONEROW_DSN") == "" && os.Getenv(alone) == "" {
		onerowtest.Main(m)
	}
	container.Main(m, "mariadb:11")
}

// alone says that this is that process.
const alone = "ONEROW_TEST_NO_ENGINE"

func TestDSN(t *testing.T) {
	if err := onerowtest.DB(t, schema.Plan{}).PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoEngine runs these tests on a machine without a server and without Docker, and reads what they say.
func TestNoEngine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "TestDSN")
	cmd.Env = append(os.Environ(), "ONEROW_DSN=", alone+"=1", "DOCKER_HOST=unix:///nonexistent/docker.sock")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"mariadb:11", "start Docker", "ONEROW_DSN"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, it does not say %q: %s", err, want, out)
		}
	}
}

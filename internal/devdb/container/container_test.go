package container_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/container"
)

// TestWall keeps testcontainers-go out of what every change of a test compiles and links.
func TestWall(t *testing.T) {
	const module = "github.com/onerow/onerow/"
	allowed := []string{module + "internal/devdb/cmd/withcontainer", module + "internal/devdb/container", module + "onerowtest/container"}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-test", "-e", "-f", `{{.ImportPath}} {{join .Deps ","}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for line := range strings.Lines(string(out)) {
		name, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name, _, _ = strings.Cut(strings.TrimSuffix(name, ".test"), " "); !strings.Contains(deps, "testcontainers") {
			continue
		}
		linked++
		if name = strings.TrimSuffix(name, "_test"); !slices.Contains(allowed, name) {
			t.Errorf("%s links testcontainers-go; only %s may", name, strings.Join(allowed, " and "))
		}
	}
	if linked == 0 {
		t.Error("nothing links testcontainers-go: the test looks at the wrong list")
	}
}

// TestNoEngine is what make test-docker says on a machine without a container engine.
func TestNoEngine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, _, err := container.Start(ctx, "mariadb:11")
	if err == nil || server != nil {
		t.Fatalf("a server without an engine: %v, %v", server, err)
	}
	if !strings.Contains(err.Error(), "mariadb:11") {
		t.Errorf("the error does not name the image: %v", err)
	}
}

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestFirst runs the program on an empty schema, and holds the README to it.
func TestFirst(t *testing.T) {
	bin := t.TempDir() + "/first"
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin, dbtest.DSN(t)).CombinedOutput()
	if want := "1 false <nil>\n1 true <nil>\ntrue\n"; err != nil || string(out) != want {
		t.Errorf("%v, printed %q, want %q", err, out, want)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(source), "type project")
	program, _, _ = strings.Cut("type project"+program, "\nfunc check")
	program = strings.TrimSpace(program)
	if !strings.Contains(string(readme), program) {
		t.Error("the README's first program is not examples/first")
	}
	if n := strings.Count(program, "\n") + 1; n >= 30 {
		t.Errorf("the first program has %d lines", n)
	}
}

// Package examples has a test alone: each example can be copied out.
package examples

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const here = "github.com/onerow/onerow/examples"

// TestCopied: the examples build in a module of their own, so they need nothing of onerow but what it exports.
func TestCopied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, path), 0o700)
		case strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // a file of this project
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), []byte(strings.ReplaceAll(string(text), here+"/", "example.com/copied/")), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "\nmodule "+here+"\n", "\nmodule example.com/copied\n", 1)
	text = strings.Replace(text, "=> ../\n", "=> "+root+"\n", 1)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "./...") // without linking
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// TestDemoNames: a name that is no demo is answered with those there are, before anything is fetched or built.
func TestDemoNames(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{"demo", "DEMO=nope"}, {"demo"}, {"demo", "DEMO=layers"}} {
		cmd := exec.CommandContext(t.Context(), "make", way...)
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "DEMO=nope")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "there is no demo ") || !strings.Contains(string(out), "DEMO is one of: helpdesk orders postcards projects runners") {
			t.Errorf("%q: %v: %s", way, err, out)
		}
	}
}

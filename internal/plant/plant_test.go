package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBugsCanBePlanted: what a bug changes is there, once. That it is found is what the
// command shows, in minutes.
func TestBugsCanBePlanted(t *testing.T) {
	names := map[string]bool{}
	for _, b := range bugs {
		if names[b.name] {
			t.Errorf("%q is there twice", b.name)
		}
		names[b.name] = true
		for _, c := range b.changes {
			text, err := os.ReadFile(filepath.Join("..", "..", c.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), c.old); n != 1 {
				t.Errorf("%s: %d times in %s: %s", b.name, n, c.file, c.old)
			}
			if c.old == c.new {
				t.Errorf("%s: changes nothing in %s", b.name, c.file)
			}
		}
	}
}

package main

import (
	"path/filepath"
	"testing"
)

// TestVerdicts: a mutant is tried once, whether it was found or not, and again if a test did not end.
func TestVerdicts(t *testing.T) {
	v := verdicts{filepath.Join(t.TempDir(), "kept")}
	for name, again := range map[string]int{"": 1, "TestA": 1, "TestA" + neverEnds: 2} {
		m, asked := mutant{rule: "planted by hand, found by " + name}, 0
		for range 2 {
			by, err := v.or(m, func() (string, error) { asked++; return name, nil })
			if by != name || err != nil {
				t.Errorf("%q: %q, %v", name, by, err)
			}
		}
		if asked != again {
			t.Errorf("%q was tried %d times, want %d", name, asked, again)
		}
	}
}

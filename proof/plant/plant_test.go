package main

import (
	"fmt"
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
		if b.pkg != "." && !strings.HasPrefix(b.pkg, "./") {
			t.Errorf("%s: %s is a package of the standard library", b.name, b.pkg)
		}
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

// TestRules: what the rules make of a file, and of a migration.
func TestRules(t *testing.T) {
	source := "package p\n\nconst sqlFind = `SELECT id FROM job WHERE id > ? AND state IN ('a', 'b')\n" +
		"AND due_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND n BETWEEN ? AND ? ORDER BY id DESC FOR UPDATE SKIP LOCKED`\n\n" +
		"func f() error { return errors.Join(err, rows.Close(), other) }\n\nvar message = `the row AND whatever WHERE id < 5`\n"
	found, err := inGo("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	table := "CREATE TABLE t (\n  PRIMARY KEY (a, b),\n  UNIQUE KEY u (c)\n)"
	found = append(found, apply(indexRules, "t.sql", table, 0, 1)...)
	var got []string
	for _, m := range found {
		got = append(got, fmt.Sprintf("%d %s: %s → %s", m.line, m.rule, m.old, m.new))
		if text := source + table; !strings.HasPrefix(text[m.at:], m.old) && !strings.HasPrefix(table[m.at:], m.old) {
			t.Errorf("%+v is not there", m)
		}
	}
	want := []string{
		"3 a term is dropped: WHERE id > ? → WHERE (id > ? OR TRUE)",
		"3 a term is dropped: AND state IN ('a', 'b') → AND (state IN ('a', 'b') OR TRUE)",
		"4 a term is dropped: AND due_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND → AND (due_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND OR TRUE)",
		"3 a bound moves by one:  >  →  >= ",
		"4 the clock is the session's: UTC_TIMESTAMP(6) → NOW(6)",
		"4 it locks nothing:  FOR UPDATE SKIP LOCKED → ",
		"4 it waits:  SKIP LOCKED → ",
		"4 it goes the other way:  DESC → ",
		"6 a joined call is left out: , rows.Close() → ",
		"2 an index loses its last column: KEY (a, b) → KEY (a)",
		"2 an index is missing: ,\n  UNIQUE KEY u (c) → ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSurvivorsAreMutants: each line of the list is a mutant that there is, with a reason.
func TestSurvivorsAreMutants(t *testing.T) {
	all, err := mutants(filepath.Join("..", ".."), libraries)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Errorf("%d mutants", len(all))
	}
	names := map[string]bool{}
	for _, m := range all {
		if names[m.name()] {
			t.Errorf("there are two: %s", m.name())
		}
		names[m.name()] = true
	}
	for name, reason := range reasons() {
		if !names[name] || len(reason) < 10 {
			t.Errorf("no such mutant, or no reason: %s: %s", name, reason)
		}
	}
}

// TestFinder: a test that failed, one that never ended, or none.
func TestFinder(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.10s)\n    a_test.go:1: x\nFAIL\n":                                                                "TestA",
		"panic: test timed out after 5m0s\n\trunning tests:\n\t\tTestB/part (4m59s)\n\ngoroutine 1 [running]:\n\t\tx.go:1\n": "TestB/part, which does not end",
		"dbtest: 2 sessions stay on the server after the tests\nFAIL\n":                                                      "",
		"goroutine 1 [running]:\n\t\tx.go:1\n":                                                                               "",
	} {
		if got := finder(out); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}

package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// libraries are the packages whose mutants are made.
var libraries = []string{".", "pool", "internal/guard", "internal/hosts", "internal/settings", "internal/node", "internal/recount",
	"repo", "quota", "idempotency", "idempotency/keyadmin", "flow", "ordering", "serial", "serial/gaps", "cascade", "cascade/queue", "cascade/recover", "cascade/inspect", "cascade/admin",
	"cascade/internal/graph", "cascade/internal/work", "migrations", "migrations/ddl"}

// explorations take the longest, so they come last.
const explorations = "Crash|Survives|Interleave|RandomSchemas"

// survivors has a line for each mutant that no test finds: its name, a tab, and why that is right.
//
//go:embed survivors.txt
var survivors string

// reasons are those of survivors.txt.
func reasons() map[string]string {
	why := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(survivors)); lines.Scan(); {
		if name, reason, ok := strings.Cut(lines.Text(), "\t"); ok {
			why[name] = reason
		}
	}
	return why
}

// choose makes the mutants of a part whose names contain one of some texts.
func choose(some part, names []string) (chosen []mutant, err error) {
	all, err := mutants(".", libraries)
	if err != nil {
		return nil, err
	}
	for at, m := range all {
		if some.has(at) && matches(m.name(), names) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant has a name like %q", names)
	}
	return chosen, nil
}

func plantMutants(ctx context.Context, n nursery, first string, covered bool, chosen []mutant) error {
	why, known := reasons(), map[string][]finding{}
	found, expected, missed, invalid := 0, 0, 0, 0
	var kept verdicts
	if covered {
		var err error
		if kept, err = n.verdicts(); err != nil {
			return err
		}
	}
	for at, m := range chosen {
		begin := time.Now()
		by, err := kept.or(m, func() (string, error) { return m.plant(ctx, n, first, covered, known) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var verdict string
		switch reason := why[m.name()]; {
		case errors.Is(err, errInvalid):
			invalid++
			verdict = err.Error()
		case err != nil:
			return err
		case by != "":
			found++
			verdict = "found by " + by
		case reason != "":
			expected++
			verdict = "survives: " + reason
		default:
			missed++
			verdict = "SURVIVES"
		}
		fmt.Printf("%d/%d %s:%d %5.1fs %s\t%s\n", at+1, len(chosen), m.file, m.line, time.Since(begin).Seconds(), m.name(), verdict)
	}
	fmt.Printf("%d mutants: %d found, %d survive as survivors.txt says, %d survive, %d do not compile\n", len(chosen), found, expected, missed, invalid)
	if missed > 0 {
		return fmt.Errorf("%d mutants survive without a reason", missed)
	}
	return nil
}

// errInvalid is a mutant that is no program.
var errInvalid = errors.New("does not compile")

// tests are the packages that are to find the mutant: the rooms of cascade are tested with each other, its
// own first, those of schema by live, pool and guard those who open sessions, and migrations by the second
// saying of their tables.
func (m mutant) tests() string {
	switch {
	case strings.HasSuffix(m.file, ".sql"):
		return "./migrations/ddl"
	case strings.HasPrefix(m.file, "schema/internal/"):
		return "./schema/live"
	case strings.HasPrefix(m.file, "internal/hosts/"), strings.HasPrefix(m.file, "internal/node/"), strings.HasPrefix(m.file, "internal/settings/"):
		return "./pool ./internal/guard"
	case strings.HasPrefix(m.file, "internal/recount/"):
		return "./quota ./limit"
	case strings.HasPrefix(m.file, "cascade/"):
		rooms := []string{"./cascade", "./cascade/queue", "./cascade/recover", "./cascade/inspect", "./cascade/admin", "./cascade/command"}
		own := "./" + filepath.Dir(m.file)
		if tests, err := filepath.Glob(filepath.Join(own, "*_test.go")); err == nil && len(tests) > 0 && !slices.Contains(rooms, own) {
			rooms = append(rooms, own)
		}
		slices.SortStableFunc(rooms, func(a, b string) int { return cmp.Compare(strings.Count(b, own), strings.Count(a, own)) })
		return strings.Join(rooms, " ")
	}
	pkg, _, _ := strings.Cut(filepath.Dir(m.file), "/internal/")
	return "./" + pkg
}

// finding is a test that has found a mutant.
type finding struct{ pkg, test string }

// attempt is tests of one package that are run on a mutant, and how long they may take.
type attempt struct {
	pkg, which, pattern string
	limit               time.Duration
}

// attempts begin with the tests that first, a pattern, names, go on with those that have found others, the
// last finder before all. Then come those that run the mutant, the quickest first, or, where that is not
// known, all, and explorations last, which take the longest.
func attempts(pkgs, first string, running []timed, known []finding) (list []attempt) {
	all := strings.Fields(pkgs)
	if first != "" {
		for _, pkg := range all {
			list = append(list, attempt{pkg, "run", first, longest})
		}
	}
	took := map[finding]time.Duration{}
	for _, t := range running {
		took[finding{t.Pkg, t.Name}] = t.Took
	}
	tests := map[string][]timed{}
	for i, f := range known[:min(len(known), 8)] {
		if _, runs := took[f]; running != nil && !runs {
			continue
		}
		t := timed{f.pkg, f.test, cmp.Or(took[f], longest)}
		if i == 0 {
			list = append(list, together(f.pkg, t))
			continue
		}
		tests[f.pkg] = append(tests[f.pkg], t)
	}
	for _, pkg := range all {
		if len(tests[pkg]) > 0 {
			list = append(list, together(pkg, tests[pkg]...))
		}
	}
	if running != nil {
		return append(list, inParts(all[0], running)...)
	}
	for _, which := range []string{"skip", "run"} {
		for _, pkg := range all {
			list = append(list, attempt{pkg, which, explorations, longest})
		}
	}
	return list
}

// attempts are those of the packages, behind the one of the root that knows all clocks.
func (m mutant) attempts(pkgs, first string, running []timed, known []finding) []attempt {
	list := attempts(pkgs, first, running, known)
	if m.rule == sessionClock {
		list = append([]attempt{{".", "run", "^TestOneClock$", longest}}, list...)
	}
	return list
}

// together tries some tests of a package. They may take five times as long as without a mutant: who waits for
// what never comes waits no longer.
func together(pkg string, tests ...timed) attempt {
	names, limit := make([]string, 0, len(tests)), 30*time.Second
	for _, t := range tests {
		names, limit = append(names, t.Name), limit+5*t.Took
	}
	return attempt{pkg, "run", "^(" + strings.Join(names, "|") + ")$", min(limit, longest)}
}

// inParts are tests in the order in which they are to be tried, some at a time: those of its own package
// that take less than a second, for then no other one is compiled, and all others, the quickest first.
func inParts(own string, running []timed) (list []attempt) {
	var near, rest []timed
	for _, t := range running {
		if t.Pkg == own && t.Took < time.Second {
			near = append(near, t)
		} else {
			rest = append(rest, t)
		}
	}
	if len(near) > 0 {
		list = append(list, together(own, near...))
	}
	for size := 6; len(rest) > 0; size *= 3 {
		some := rest[:min(size, len(rest))]
		rest = rest[len(some):]
		tests := map[string][]timed{}
		for _, t := range some {
			tests[t.Pkg] = append(tests[t.Pkg], t)
		}
		for _, pkg := range slices.Sorted(maps.Keys(tests)) {
			list = append(list, together(pkg, tests[pkg]...))
		}
	}
	return list
}

// plant returns the test that finds the mutant; none: "". The tests of a package are compiled when their turn
// comes.
func (m mutant) plant(ctx context.Context, n nursery, first string, covered bool, known map[string][]finding) (by string, err error) {
	pkgs := m.tests()
	all := strings.Join(slices.Sorted(strings.FieldsSeq(pkgs)), " ") // in whichever order they are to be asked
	if _, sound := known[all]; !sound && !covered {
		if err := n.passes(ctx, all); err != nil {
			return "", err
		}
		known[all] = nil
	}
	var running []timed
	if covered {
		if n.covers[all] == nil {
			if n.covers[all], err = n.measured(ctx, strings.Fields(all)); err != nil {
				return "", err
			}
		}
		if running, err = n.covers[all].running(n.garden, m); err != nil || len(running) == 0 && m.rule != sessionClock {
			return "", err // no test runs it
		}
	}
	path := filepath.Join(n.garden, m.file)
	text, err := os.ReadFile(path) //nolint:gosec // a file of this project
	if err != nil {
		return "", err
	}
	changed := string(text[:m.at]) + m.new + string(text[m.at+len(m.old):])
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil { //nolint:gosec // in the copy
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o600)) }() //nolint:gosec // in the copy
	suites := map[string]suite{}
	for _, a := range m.attempts(pkgs, first, running, known[pkgs]) {
		s, compiled := suites[a.pkg]
		if !compiled {
			s, err = compileTests(ctx, n.garden, a.pkg, fmt.Sprintf("mutant%d-", len(suites)))
			switch {
			case errors.Is(err, errCompile):
				return "", errInvalid
			case err != nil:
				return "", err
			}
			suites[a.pkg] = s
		}
		test, err := n.finds(ctx, s, a)
		if err != nil {
			return "", err
		}
		if test == "" {
			continue
		}
		if f := (finding{a.pkg, test}); strings.HasPrefix(test, "Test") && !strings.Contains(test, ",") {
			known[pkgs] = slices.Insert(slices.DeleteFunc(known[pkgs], func(k finding) bool { return k == f }), 0, f)
		}
		return test, nil
	}
	return "", nil
}

// passes runs the tests of packages in which nothing is planted.
func (n nursery) passes(ctx context.Context, pkgs string) error {
	tree, err := n.sound(ctx, pkgs)
	if err != nil {
		return err
	}
	for _, end := range tree.run(ctx, n.servers, "skip", explorations, longest) {
		if end.err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant on %s: %s", pkgs, end.server, tail(end.out))
		}
	}
	return nil
}

// finds returns the test of an attempt that fails on one of the servers; none: "".
func (n nursery) finds(ctx context.Context, s suite, a attempt) (string, error) {
	for _, end := range s.run(ctx, n.servers, a.which, a.pattern, a.limit) {
		var failed *exec.ExitError
		switch {
		case end.err == nil:
			continue
		case !errors.As(end.err, &failed):
			return "", end.err
		}
		return cmp.Or(finder(end.out), "the end of the tests: "+tail(end.out)), nil
	}
	return "", nil
}

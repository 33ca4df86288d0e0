package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
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

func plantMutants(ctx context.Context, n nursery, first string, chosen []mutant) error {
	why, known := reasons(), map[string][]string{}
	found, expected, missed, invalid := 0, 0, 0, 0
	for at, m := range chosen {
		begin := time.Now()
		by, err := m.plant(ctx, n, first, known)
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

// tests are the packages that are to find the mutant: the rooms of cascade are tested with each other, those
// of schema by live, pool and guard those who open sessions, and migrations by the second saying of their
// tables.
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
		return "./cascade ./cascade/queue ./cascade/recover ./cascade/inspect ./cascade/admin"
	}
	pkg, _, _ := strings.Cut(filepath.Dir(m.file), "/internal/")
	return "./" + pkg
}

// plant returns the test that finds the mutant; none: "". Tests that first, a pattern, names are tried first,
// then those that have found others of the package, the last finder before all.
func (m mutant) plant(ctx context.Context, n nursery, first string, known map[string][]string) (by string, err error) {
	b := bug{pkg: m.tests()}
	if _, sound := known[b.pkg]; !sound {
		tree, err := n.sound(ctx, b.pkg)
		if err != nil {
			return "", err
		}
		for _, end := range tree.run(ctx, n.servers, "skip", explorations) {
			if end.err != nil {
				return "", fmt.Errorf("the tests of %s fail without a mutant on %s: %s", b.pkg, end.server, tail(end.out))
			}
		}
		known[b.pkg] = nil
	}
	defer func() {
		if strings.HasPrefix(by, "Test") && !strings.Contains(by, ",") {
			list := slices.DeleteFunc(known[b.pkg], func(name string) bool { return name == by })
			known[b.pkg] = slices.Insert(list, 0, by)
		}
	}()
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
	changedTree, err := compileTests(ctx, n.garden, b.pkg, "mutant")
	if errors.Is(err, errCompile) {
		return "", errInvalid
	}
	if err != nil {
		return "", err
	}
	runs := [][2]string{{"skip", explorations}, {"run", explorations}}
	if finders := known[b.pkg]; len(finders) > 0 {
		last := [2]string{"run", "^(" + finders[0] + ")$"}
		others := [2]string{"run", "^(" + strings.Join(finders[1:min(len(finders), 8)], "|") + ")$"}
		runs = append([][2]string{last, others}, runs...)
	}
	if first != "" {
		runs = append([][2]string{{"run", first}}, runs...)
	}
	for _, which := range runs {
		for _, end := range changedTree.run(ctx, n.servers, which[0], which[1]) {
			var failed *exec.ExitError
			switch {
			case end.err == nil:
				continue
			case !errors.As(end.err, &failed):
				return "", end.err
			}
			if by := finder(end.out); by != "" {
				return by, nil
			}
			return "the end of the tests: " + tail(end.out), nil
		}
	}
	return "", nil
}

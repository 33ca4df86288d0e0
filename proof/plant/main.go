// Command plant plants bugs, one at a time, in a copy of the code, and shows that the tests find each:
//
//	go run -C proof ./plant                     all of them, on the server that package devdb finds
//	go run -C proof ./plant token               those whose name contains "token"
//	go run -C proof ./plant -part 2/6           the second sixth
//	go run -C proof ./plant -server mariadbd -server "$PWD/.cache/mysql/mysqld"
//	                                            on two servers side by side; each must find each bug
//	go run -C proof ./plant -rules -part 1/8    an eighth of what rules change in each statement and index
//
// A suite that cannot fail proves nothing. Each bug is a change of a few words that a tired person could
// make, in the code of one rule; the tests named beside it must pass without it and fail with it, and it must
// still compile. It exits with 1 if a bug is not found. The working tree is not touched.
//
// With -rules there is a mutant for each condition, bound, clock, lock and index of the libraries' SQL, and
// for each call whose error is joined; the tests of its package must find it. Those that none can find are in
// survivors.txt, each with the reason. -list names what would be planted, and needs no server.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/onerow/onerow/proof/internal/checkout"
)

// bug is a change that must be found.
type bug struct {
	name    string
	pkg     string // the package whose tests find it
	run     string // those that must, a pattern
	changes []change
}

// change replaces a text that occurs in the file exactly once.
type change struct{ file, old, new string }

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancelled just before
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("plant", flag.ContinueOnError)
	byRules := flags.Bool("rules", false, "plant what rules change in each statement and index")
	list := flags.Bool("list", false, "only name them")
	some := part{1, 1}
	flags.Var(&some, "part", "i/n: the i-th of n parts")
	var programs []string
	flags.Func("server", "a server program to run the tests on; once for each, side by side", func(path string) error {
		programs = append(programs, path)
		return nil
	})
	first := flags.String("first", "", "with -rules: a pattern of tests to try first")
	covered := flags.Bool("covered", false, "with -rules: measure first, for minutes, which tests run what, and try only those; for many mutants")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := checkout.Enter(); err != nil {
		return err
	}
	names := flags.Args()
	var chosen []mutant
	if *byRules {
		if chosen, err = choose(some, names); err != nil {
			return err
		}
	}
	if *list {
		for _, m := range chosen {
			fmt.Printf("%s:%d\t%s\n", m.file, m.line, m.name())
		}
		if *byRules {
			return nil
		}
		for at, b := range bugs {
			if some.has(at) && matches(b.name, names) {
				fmt.Printf("%s\t%s\t%s\n", b.pkg, b.run, b.name)
			}
		}
		return nil
	}
	servers, err := startServers(ctx, programs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServers(servers)) }()
	garden, err := os.MkdirTemp("", "onerow-plant-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(garden)) }()
	if err := copyTree(ctx, garden); err != nil {
		return err
	}
	if *byRules {
		return plantMutants(ctx, nursery{garden, servers, map[string]suite{}, map[string]*coverage{}}, *first, *covered, chosen)
	}
	return plantBugs(ctx, nursery{garden, servers, map[string]suite{}, map[string]*coverage{}}, some, names)
}

// part is the i-th of n.
type part struct{ i, n int }

func (p *part) String() string { return fmt.Sprintf("%d/%d", p.i, p.n) }

// Set reads it.
func (p *part) Set(text string) error {
	var i, n int
	if _, err := fmt.Sscanf(text, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		return errors.New("want i/n, for example 1/8")
	}
	*p = part{i, n}
	return nil
}

func (p part) has(at int) bool { return at%p.n == p.i-1 }

func plantBugs(ctx context.Context, n nursery, some part, names []string) error {
	chosen := 0
	missed := 0
	sound := map[string]bool{}
	for at, b := range bugs {
		if !some.has(at) || !matches(b.name, names) {
			continue
		}
		chosen++
		begin := time.Now()
		verdict, err := b.plant(ctx, n, sound)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			missed++
			verdict = "NOT FOUND: " + err.Error()
		}
		fmt.Printf("%-62s %-16s %5.1fs  %s\n", b.name, b.pkg, time.Since(begin).Seconds(), verdict)
	}
	switch {
	case chosen == 0:
		return fmt.Errorf("no bug has a name like %q", names)
	case missed > 0:
		return fmt.Errorf("%d of %d planted bugs were not found", missed, chosen)
	}
	fmt.Printf("all %d planted bugs were found\n", chosen)
	return nil
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		if strings.Contains(name, p) {
			return true
		}
	}
	return len(patterns) == 0
}

// copyTree copies what git knows and what it would, as it is in the working tree.
func copyTree(ctx context.Context, to string) error {
	out, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(name) //nolint:gosec // a file of this project
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o600); err != nil { //nolint:gosec // a copy of this project, in a folder of its own
			return err
		}
	}
	return nil
}

// nursery is a copy of the code, and the servers on which its tests run.
type nursery struct {
	garden  string
	servers []*server
	suites  map[string]suite // of packages without a bug
	covers  map[string]*coverage
}

// sound compiles the tests of packages in which no bug is planted, once.
func (n nursery) sound(ctx context.Context, pkgs string) (s suite, err error) {
	if s, known := n.suites[pkgs]; known {
		return s, nil
	}
	s, err = compileTests(ctx, n.garden, pkgs, fmt.Sprintf("sound%d-", len(n.suites)))
	if err == nil {
		n.suites[pkgs] = s
	}
	return s, err
}

// plant shows that the tests pass, plants the bug, shows that they fail, and restores. Tests
// that have passed on the restored tree are in sound and need not be run again.
func (b bug) plant(ctx context.Context, n nursery, sound map[string]bool) (verdict string, err error) {
	if n.servers = b.on(n.servers); len(n.servers) == 0 {
		return "is a bug of " + onlyOn[b.name] + " alone", nil
	}
	if tests := b.pkg + " " + b.run; !sound[tests] {
		tree, err := n.sound(ctx, b.pkg)
		if err != nil {
			return "", err
		}
		for _, end := range tree.run(ctx, n.servers, "run", b.run, longest) {
			if end.err != nil {
				return "", fmt.Errorf("the tests fail without the bug on %s: %s", end.server, tail(end.out))
			}
			if strings.Contains(end.out, "no tests to run") {
				return "", fmt.Errorf("no test is called %s", b.run)
			}
		}
		sound[tests] = true
	}
	for _, c := range b.changes {
		restore, err := c.apply(n.garden)
		if err != nil {
			return "", err
		}
		defer func() {
			if back := restore(); back != nil {
				verdict, err = "", errors.Join(err, back)
			}
		}()
	}
	planted, err := compileTests(ctx, n.garden, b.pkg, "planted")
	if err != nil {
		return "", err
	}
	var finders []string
	for _, end := range planted.run(ctx, n.servers, "run", b.run, longest) {
		var failed *exec.ExitError
		switch {
		case end.err == nil:
			return "", fmt.Errorf("%s passes on %s", b.run, end.server)
		case !errors.As(end.err, &failed):
			return "", end.err
		}
		by := finder(end.out)
		if by == "" {
			return "", fmt.Errorf("the tests end without a test that fails on %s: %s", end.server, tail(end.out))
		}
		if !slices.Contains(finders, by) {
			finders = append(finders, by)
		}
	}
	return "found by " + strings.Join(finders, " and "), nil
}

func (c change) apply(garden string) (restore func() error, err error) {
	path := filepath.Join(garden, c.file)
	sound, err := os.ReadFile(path) //nolint:gosec // the list names it
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(sound, []byte(c.old)); n != 1 {
		return nil, fmt.Errorf("the text to change is %d times in %s, and should be there once", n, c.file)
	}
	err = os.WriteFile(path, bytes.Replace(sound, []byte(c.old), []byte(c.new), 1), 0o600) //nolint:gosec // in the copy
	return func() error { return os.WriteFile(path, sound, 0o600) }, err                   //nolint:gosec // in the copy
}

// neverEnds is said of a finder that was ended.
const neverEnds = ", which does not end"

// finder is the first test that failed, or that never ended. Empty: none, and what ended the tests, a lost
// server for example, may not be the bug.
func finder(out string) string {
	never := false
	for line := range strings.Lines(out) {
		if name, found := strings.CutPrefix(line, "--- FAIL: "); found {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		never = never || strings.HasPrefix(line, "panic: test timed out")
		if name, found := strings.CutPrefix(line, "\t\t"); found && never { // the list of those that were running
			name, _, _ = strings.Cut(name, " ")
			return name + neverEnds
		}
	}
	return ""
}

func tail(out string) string {
	out = strings.TrimSpace(out)
	return strings.ReplaceAll(out[max(0, len(out)-400):], "\n", " | ")
}

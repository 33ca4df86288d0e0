package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A mutant can only be found by a test that runs what was changed. So each test is run once by itself, with
// the coverage of the code written down; a statement in a constant is run where the constant is used.

// span is some lines of a file.
type span struct{ From, To int }

// coverage says which tests run which lines.
type coverage struct {
	Tests []timed
	Lines map[string]map[span][]int // of tests, by file
}

type timed struct {
	Pkg, Name string
	Took      time.Duration
}

const modulePath = "github.com/onerow/onerow/"

// measured is what measure says of this code, kept in .cache for each package: a run that goes on, in parts
// or beside another one, need not measure again.
func (n nursery) measured(ctx context.Context, pkgs []string) (*coverage, error) {
	sum, err := sumOf(n.garden)
	if err != nil {
		return nil, err
	}
	all := &coverage{Lines: map[string]map[span][]int{}}
	for _, pkg := range pkgs {
		path := filepath.Join(".cache", "covered", fmt.Sprintf("%x", sha256.Sum256([]byte(sum+pkg)))[:16])
		c := &coverage{}
		file, err := os.Open(path) //nolint:gosec // named above
		if err == nil {
			err = errors.Join(gob.NewDecoder(file).Decode(c), file.Close())
		} else {
			fmt.Println("measuring which tests run what:", pkg)
			c, err = n.measure(ctx, pkg, path)
		}
		if err != nil {
			return nil, err
		}
		all.add(c)
	}
	return all, nil
}

// add adds the tests of another package.
func (c *coverage) add(other *coverage) {
	for name, spans := range other.Lines {
		if c.Lines[name] == nil {
			c.Lines[name] = map[span][]int{}
		}
		for s, tests := range spans {
			for _, i := range tests {
				c.Lines[name][s] = append(c.Lines[name][s], len(c.Tests)+i)
			}
		}
	}
	c.Tests = append(c.Tests, other.Tests...)
}

// sumOf is the sum of all code of a module: what its nested modules have changes no test of its own.
func sumOf(root string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if err != nil || d.IsDir() || !slices.Contains([]string{".go", ".sql", ".mod"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // in the copy
		if err == nil {
			_, err = fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(path, root), len(text), text)
		}
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// measure runs each test of the package by itself, and keeps what it says.
func (n nursery) measure(ctx context.Context, pkg, path string) (*coverage, error) {
	var paths []string
	for _, dir := range libraries {
		paths = append(paths, "./"+dir)
	}
	program := filepath.Join(n.garden, "covered.test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-cover", "-coverpkg="+strings.Join(paths, ","), "-o", program, pkg) //nolint:gosec // the list says what
	cmd.Dir = n.garden
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", errCompile, tail(string(out)))
	}
	b := binary{program, filepath.Join(n.garden, pkg)}
	list := exec.CommandContext(ctx, program, "-test.list", "^Test") //nolint:gosec // built above
	list.Dir, list.Env = b.dir, append(os.Environ(), n.servers[0].env...)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("the tests of %s: %w", pkg, err)
	}
	c := &coverage{Lines: map[string]map[span][]int{}}
	if err := errors.Join(n.measureEach(ctx, c, pkg, b, strings.Fields(string(out))), ctx.Err()); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = errors.Join(gob.NewEncoder(&text).Encode(c), os.MkdirAll(filepath.Dir(path), 0o750))
	return c, errors.Join(err, os.WriteFile(path, text.Bytes(), 0o600))
}

// measureEach runs some tests at a time: each waits for the server most of its time.
func (n nursery) measureEach(ctx context.Context, c *coverage, pkg string, b binary, names []string) error {
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	todo := make(chan string)
	for worker := range 3 {
		all.Go(func() {
			profile := filepath.Join(n.garden, fmt.Sprintf("covered%d.out", worker))
			for name := range todo {
				begin := time.Now()
				cmd := exec.CommandContext(ctx, b.path, "-test.timeout=5m", "-test.run=^"+name+"$", "-test.coverprofile="+profile) //nolint:gosec // built above
				cmd.Dir = b.dir
				cmd.Env = append(append(os.Environ(), n.servers[0].env...), "PWD="+b.dir)
				if err := cmd.Run(); err != nil {
					continue // it needs the others, or is skipped here: then it is one of those that come last
				}
				mu.Lock()
				err := c.read(profile, timed{pkg, name, time.Since(begin)})
				failed = cmp.Or(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		if name != "TestMain" && ctx.Err() == nil {
			todo <- name
		}
	}
	close(todo)
	all.Wait()
	return failed
}

// blockLine is a line of a profile: the file, from which line to which, and how often it ran.
var blockLine = regexp.MustCompile(`^(.+\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

func (c *coverage) read(profile string, t timed) error {
	file, err := os.Open(profile) //nolint:gosec // in the copy
	if err != nil {
		return err
	}
	c.Tests = append(c.Tests, t)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		m := blockLine.FindStringSubmatch(lines.Text())
		if m == nil || m[4] == "0" {
			continue
		}
		name := strings.TrimPrefix(m[1], modulePath)
		var s span
		if _, err := fmt.Sscan(m[2], &s.From); err != nil {
			return err
		}
		if _, err := fmt.Sscan(m[3], &s.To); err != nil {
			return err
		}
		if c.Lines[name] == nil {
			c.Lines[name] = map[span][]int{}
		}
		c.Lines[name][s] = append(c.Lines[name][s], len(c.Tests)-1)
	}
	return file.Close()
}

// running are the tests that run the mutant, the quickest first.
func (c *coverage) running(root string, m mutant) (list []timed, err error) {
	found := map[int]bool{}
	at, err := uses(root, m)
	if err != nil {
		return nil, err
	}
	for _, place := range at {
		for s, tests := range c.Lines[place.file] {
			if s.From <= place.line && place.line <= s.To {
				for _, t := range tests {
					found[t] = true
				}
			}
		}
	}
	for i := range c.Tests {
		if found[i] {
			list = append(list, c.Tests[i])
		}
	}
	slices.SortFunc(list, func(a, b timed) int { return cmp.Compare(a.Took, b.Took) })
	return list, nil
}

type place struct {
	file string
	line int
}

// uses are the places where the mutant is run: its own line, or, of what stands outside of functions, each
// line that names it, wherever in its package that is, through other constants too.
func uses(root string, m mutant) (list []place, err error) {
	dir := filepath.Dir(m.file)
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	inside := map[string][]string{} // the names in its declaration
	named := map[string][]place{}   // where functions name something
	var own string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(dir, filepath.Base(path))
		for _, d := range parsed.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok {
				ast.Inspect(d, func(x ast.Node) bool {
					if id, ok := x.(*ast.Ident); ok {
						named[id.Name] = append(named[id.Name], place{name, set.Position(id.Pos()).Line})
					}
					return true
				})
				continue
			}
			for _, spec := range general.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, id := range value.Names {
					part := ast.Node(value)
					if i < len(value.Values) {
						part = value.Values[i]
					}
					if from, to := set.Position(part.Pos()), set.Position(part.End()); name == m.file && from.Offset <= m.at && m.at < to.Offset {
						own = id.Name
					}
					ast.Inspect(part, func(x ast.Node) bool {
						if other, ok := x.(*ast.Ident); ok {
							inside[id.Name] = append(inside[id.Name], other.Name)
						}
						return true
					})
				}
			}
		}
	}
	if own == "" {
		return []place{{m.file, m.line}}, nil
	}
	for seen, todo := map[string]bool{own: true}, []string{own}; len(todo) > 0; todo = todo[1:] {
		list = append(list, named[todo[0]]...)
		for other, names := range inside {
			if !seen[other] && slices.Contains(names, todo[0]) {
				seen[other] = true
				todo = append(todo, other)
			}
		}
	}
	return list, nil
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// verdicts are what runs with -covered have found of the mutants of this code, kept in .cache: a run that is
// begun again, or beside another one, goes on. Each is a line of the file: the test that has found the
// mutant, or nothing, a tab, and the mutant's name. Without a path nothing is kept.
type verdicts struct{ path string }

// verdicts opens those of this code on these servers.
func (n nursery) verdicts() (v verdicts, err error) {
	sum, err := sumOf(n.garden)
	if err != nil {
		return v, err
	}
	name := sum[:16]
	for _, s := range n.servers {
		name += "-" + strings.Map(func(r rune) rune {
			if strings.ContainsRune(" /:", r) {
				return '_'
			}
			return r
		}, s.String())
	}
	v.path = filepath.Join(".cache", "mutants", name)
	return v, os.MkdirAll(filepath.Dir(v.path), 0o750)
}

// or returns what is known of the mutant, or else asks and keeps the answer. That a test did not end is not
// kept: the machine may have been slow.
func (v verdicts) or(m mutant, ask func() (by string, err error)) (by string, err error) {
	if v.path == "" {
		return ask()
	}
	text, err := os.ReadFile(v.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if test, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); name == m.name() {
			return test, nil
		}
	}
	if by, err = ask(); err != nil || strings.HasSuffix(by, neverEnds) {
		return by, err
	}
	file, err := os.OpenFile(v.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, "%s\t%s\n", by, m.name())
	return by, errors.Join(err, file.Close())
}

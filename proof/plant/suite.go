package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onerow/onerow/proof/internal/checkout"
)

// suite is the compiled tests of one or more packages. They are linked once, however often they run.
type suite []binary

// binary is one package's tests, and the folder that they expect to run in.
type binary struct{ path, dir string }

// errCompile says that the tests could not be built.
var errCompile = errors.New("it does not compile")

// compileTests builds the tests of the packages that pkgs names, apart by spaces and all in one module.
func compileTests(ctx context.Context, garden, pkgs string) (suite, error) {
	var s suite
	for name := range strings.FieldsSeq(pkgs) {
		module, pkg, err := checkout.Module(garden, name)
		if err != nil {
			return nil, err
		}
		b := binary{filepath.Join(garden, fmt.Sprintf("suite%d.test", len(s))), filepath.Join(garden, module, pkg)}
		if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a package without tests makes none
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.path, "./"+pkg) //nolint:gosec // the list says what
		cmd.Dir = filepath.Join(garden, module)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", errCompile, tail(string(out)))
		}
		s = append(s, b)
	}
	return s, nil
}

// run runs those tests that a pattern chooses, with run or skip, until one fails, and returns what they
// print. An *exec.ExitError says that one failed.
func (s suite) run(ctx context.Context, which, pattern string) (string, error) {
	var all strings.Builder
	for _, b := range s {
		cmd := exec.CommandContext(ctx, b.path, "-test.count=1", "-test.timeout=5m", "-test.failfast", "-test."+which, pattern) //nolint:gosec // built above
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "PWD="+b.dir)
		out, err := cmd.CombinedOutput()
		all.Write(out)
		if err != nil {
			return all.String(), err
		}
	}
	return all.String(), nil
}

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
	"sync"
	"time"

	"github.com/onerow/onerow/proof/internal/checkout"
)

// suite is the compiled tests of one or more packages. They are linked once, however often they run.
type suite []binary

// ending is how tests end on a server: err is nil where all pass, an *exec.ExitError where one fails.
type ending struct {
	server *server
	out    string
	err    error
}

// binary is one package's tests, and the folder that they expect to run in.
type binary struct{ path, dir string }

// errCompile says that the tests could not be built.
var errCompile = errors.New("it does not compile")

// compileTests builds the tests of the packages that pkgs names, apart by spaces and all in one module. name
// tells its programs from those of other suites.
func compileTests(ctx context.Context, garden, pkgs, name string) (suite, error) {
	var s suite
	for path := range strings.FieldsSeq(pkgs) {
		module, pkg, err := checkout.Module(garden, path)
		if err != nil {
			return nil, err
		}
		b := binary{filepath.Join(garden, fmt.Sprintf("%s%d.test", name, len(s))), filepath.Join(garden, module, pkg)}
		if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a package without tests makes none
			return nil, err
		}
		// Without the path of the copy in it what is not changed is in the build cache of every run.
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", b.path, "./"+pkg) //nolint:gosec // the list says what
		cmd.Dir = filepath.Join(garden, module)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", errCompile, tail(string(out)))
		}
		s = append(s, b)
	}
	return s, nil
}

// longest is how long tests may run.
const longest = 5 * time.Minute

// run runs those tests that a pattern chooses, with run or skip, until one fails or the limit is over, on all
// servers side by side.
func (s suite) run(ctx context.Context, servers []*server, which, pattern string, limit time.Duration) []ending {
	ends := make([]ending, len(servers))
	var all sync.WaitGroup
	for i, on := range servers {
		all.Go(func() {
			var out strings.Builder
			err := s.runOn(ctx, on, which, pattern, limit, &out)
			ends[i] = ending{on, out.String(), err}
		})
	}
	all.Wait()
	return ends
}

func (s suite) runOn(ctx context.Context, on *server, which, pattern string, limit time.Duration, out *strings.Builder) error {
	for _, b := range s {
		cmd := exec.CommandContext(ctx, b.path, "-test.count=1", "-test.timeout="+limit.String(), "-test.failfast", "-test."+which, pattern) //nolint:gosec // built above
		cmd.Dir = b.dir
		cmd.Env = append(append(os.Environ(), on.env...), "PWD="+b.dir)
		said, err := cmd.CombinedOutput()
		out.Write(said)
		if err != nil {
			return err
		}
	}
	return nil
}

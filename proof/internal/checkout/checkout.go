// Package checkout finds the repository that a proof was started in.
package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Enter makes the repository's root the working directory, whose scripts and packages the proofs call: go run
// -C proof starts them one folder below.
func Enter() error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("checkout: %w", err)
	}
	for from := dir; ; dir = filepath.Dir(dir) {
		switch _, err := os.Stat(filepath.Join(dir, "proof", "go.mod")); {
		case err == nil:
			return os.Chdir(dir)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("checkout: %w", err)
		case dir == filepath.Dir(dir):
			return fmt.Errorf("checkout: %s is not within the repository of onerow: run this there", from)
		}
	}
}

// Module finds the folder of the module that has the package in dir, a path below the root: proof, examples,
// or the root.
func Module(root, dir string) (module, rest string, err error) {
	for module = filepath.Clean(dir); ; module = filepath.Dir(module) {
		_, err := os.Stat(filepath.Join(root, module, "go.mod"))
		if err == nil || module == "." {
			rest, err := filepath.Rel(module, dir)
			return module, rest, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBugsCompile: each package is still one with the bug in it. The packages that it imports are as they
// were.
func TestBugsCompile(t *testing.T) {
	set := token.NewFileSet()
	imports := imported(t, set)
	for _, b := range bugs {
		changed := map[string]string{} // file → text
		for _, c := range b.changes {
			text := changed[c.file]
			if text == "" {
				raw, err := os.ReadFile(filepath.Join("..", "..", c.file))
				if err != nil {
					t.Fatal(err)
				}
				text = string(raw)
			}
			changed[c.file] = strings.Replace(text, c.old, c.new, 1)
		}
		for file := range changed {
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			if err := compile(filepath.Dir(file), changed, set, imports); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		}
	}
}

// imported reads the types of each package here and of those that they import, each once.
func imported(t *testing.T, set *token.FileSet) types.Importer {
	t.Helper()
	files := map[string]string{}
	for _, module := range []string{"examples", "."} { // what both list, as the libraries' own module builds it
		list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
		list.Dir = filepath.Join("..", "..", module)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p struct{ ImportPath, Export string }
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			files[p.ImportPath] = p.Export
		}
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no types of %s", path)
		}
		return os.Open(files[path])
	})
}

// compile checks the types of the package in dir, with changed texts of its files.
func compile(dir string, changed map[string]string, set *token.FileSet, imports types.Importer) error {
	pkg, err := build.ImportDir(filepath.Join("..", "..", dir), 0)
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		var text any // nil: as the file is
		if now, ok := changed[filepath.Join(dir, name)]; ok {
			text = now
		}
		file, err := parser.ParseFile(set, filepath.Join(pkg.Dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	_, err = (&types.Config{Importer: imports}).Check(dir, set, files, nil)
	return err
}

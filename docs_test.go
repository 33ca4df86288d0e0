package onerow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestErrorsPage: docs/ERRORS.md names each sentinel error that a user can import, and no other.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile("docs/ERRORS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z]+\\.Err[A-Z][A-Za-z]*)`").FindAllStringSubmatch(string(page), -1) {
		named[name[1]] = true
	}
	sentinel := regexp.MustCompile(`^Err[A-Z]`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch _, modErr := os.Stat(filepath.Join(path, "go.mod")); {
			case path == ".":
			case modErr == nil, strings.HasPrefix(d.Name(), "."), d.Name() == "internal", d.Name() == "testdata":
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					full := file.Name.Name + "." + name.Name
					if sentinel.MatchString(name.Name) && !named[full] {
						t.Errorf("docs/ERRORS.md lacks %s (%s)", full, path)
					}
					delete(named, full)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range named {
		t.Errorf("docs/ERRORS.md names %s, which does not exist", name)
	}
}

// TestTutorialIsCompiled: each block of Go in the tutorial is a part of examples/tutorial, as it is compiled and tested.
func TestTutorialIsCompiled(t *testing.T) {
	files, err := filepath.Glob("examples/tutorial/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // of this project
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	page, err := os.ReadFile("docs/TUTORIAL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "\n```go\n")[1:]
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "\n```")
		if !strings.Contains(source.String(), code) {
			t.Errorf("this block is not in examples/tutorial:\n%s", code)
		}
	}
	if len(blocks) < 8 {
		t.Errorf("%d blocks of Go", len(blocks))
	}
}

// TestNamedTests: each test that a document names is there.
func TestNamedTests(t *testing.T) {
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // of this project
		for _, name := range function.FindAllSubmatch(text, -1) {
			there[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bTest[A-Z]\w+`)
	for _, document := range append(documents, "README.md") {
		text, err := os.ReadFile(document) //nolint:gosec // of this project
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is no test", document, name)
			}
		}
	}
}

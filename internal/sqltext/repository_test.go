package sqltext

import (
	"go/ast"
	"go/constant"
	goparser "go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRepository: the statements of data that the module's own packages send may travel, so that their packets
// do not fall apart. As there is no session, they do in any mode.
func TestRepository(t *testing.T) {
	verb := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\s`)
	format := regexp.MustCompile(`%(\[\d+\])?[sqvd]`)
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "dbtest") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := gotoken.NewFileSet()
		file, err := goparser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, v := range spec.Values {
				text, ok := stringOf(v)
				if !ok || !verb.MatchString(text) {
					continue
				}
				n++
				text = format.ReplaceAllString(text, "1")
				if open := strings.Count(text, "(") - strings.Count(text, ")"); open > 0 { // the head of one
					text += "1" + strings.Repeat(")", open)
				}
				if strings.Contains(text, "/*!") { // sent alone
					continue
				}
				if _, ok := single(text, OtherCharset); !ok {
					t.Errorf("%s: %s: %s", files.Position(v.Pos()), spec.Names[i], text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d statements", n); n < 50 {
		t.Error("the sources were not found")
	}
}

// stringOf is the value of literals that may be joined. A constant among them is a word.
func stringOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != gotoken.STRING {
			return "", false
		}
		return constant.StringVal(constant.MakeFromLiteral(e.Value, gotoken.STRING, 0)), true
	case *ast.BinaryExpr:
		x, xok := stringOf(e.X)
		y, yok := stringOf(e.Y)
		return x + y, e.Op == gotoken.ADD && (xok || yok)
	case *ast.Ident, *ast.SelectorExpr:
		return " x ", true
	}
	return "", false
}

package cost

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// verbs begin a statement. A read for a condition begins with a parenthesis.
var verbs = regexp.MustCompile(`^\(*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|TABLE)\s`)

// hints are comments that a server reads, as those with which a statement is run in UTC. The source writes
// them around a statement, and into it.
var hints = regexp.MustCompile(`/\*.*?\*/`)

// Source fails the test for each statement in the source of the package in dir that none of the calls has
// sent. A statement is an expression that begins with an SQL verb: what it is made of besides literals and
// constants, and the verbs of a format, stands for any text. It may be a part of what was sent, as a subquery
// is. known names statements that are left out, by a part of their text, and why.
func (c *Costs) Source(dir string, known map[string]string) {
	t := c.t
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // some of the calls were left out
	}
	var texts []string
	for _, s := range c.sent {
		texts = append(texts, flat(s.SQL), flat(hints.ReplaceAllString(s.SQL, "")))
	}
	used := map[string]bool{}
	for _, s := range statements(t, dir) {
		if slices.ContainsFunc(texts, s.pattern.MatchString) {
			continue
		}
		because := ""
		for part, reason := range known {
			if strings.Contains(s.text, part) {
				because, used[part] = reason, true
			}
		}
		if because == "" {
			t.Errorf("%s: nothing measures this statement: %.200s", s.at, s.text)
		}
	}
	for part := range known {
		if !used[part] {
			t.Errorf("there is no statement, or it is measured now, with %q", part)
		}
	}
}

// source is a statement in the source.
type source struct {
	at      token.Position
	text    string
	pattern *regexp.Regexp
}

// unknown stands for what the source does not say.
const unknown = "\x00"

// statements reads a package's files, without its tests.
func statements(t testing.TB, dir string) (found []source) {
	t.Helper()
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // it needs no types
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		c := constants{}
		for _, f := range p.Files {
			c.read(f)
		}
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text := flat(c.text(e))
				if !verbs.MatchString(text) {
					return true
				}
				if slices.ContainsFunc(found, func(s source) bool { return s.text == shown(text) }) {
					return false
				}
				parts := strings.Split(text, unknown)
				for i, part := range parts {
					parts[i] = regexp.QuoteMeta(part)
				}
				found = append(found, source{files.Position(e.Pos()), shown(text), regexp.MustCompile(strings.Join(parts, ".*"))})
				return false
			})
		}
	}
	return found
}

func shown(text string) string { return strings.ReplaceAll(text, unknown, "…") }

// flat is a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// constants are the expressions of a package's constants of one string each.
type constants map[string]ast.Expr

func (c constants) read(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i < len(v.Values) {
					c[name.Name] = v.Values[i]
				}
			}
		}
	}
}

// formatVerb is one of fmt, or a {name} that is replaced.
var formatVerb = regexp.MustCompile(`%(\[\d+\])?[a-z]|\{\w+\}`)

func (c constants) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if s, err := strconv.Unquote(e.Value); err == nil {
				return formatVerb.ReplaceAllString(s, unknown)
			}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return c.text(e.X) + c.text(e.Y)
		}
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.Ident:
		if value, ok := c[e.Name]; ok {
			return c.text(value)
		}
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && fmt.Sprint(f.X) == "fmt" && f.Sel.Name == "Sprintf" {
			return c.text(e.Args[0])
		}
	}
	return unknown
}

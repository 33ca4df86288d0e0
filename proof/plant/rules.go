package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is a change that a rule has made somewhere.
type mutant struct {
	rule string
	file string
	line int
	at   int // offset in the file
	old  string
	new  string
	nth  int // of those that are called the same
}

// name is how a list knows the mutant: without its line, which moves.
func (m mutant) name() string {
	short := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	name := m.file + ": " + m.rule + ": " + short(m.old) + " → " + short(m.new)
	if m.nth > 1 {
		name += fmt.Sprintf(" (%d)", m.nth)
	}
	return name
}

// rule changes what its expression finds in a statement, each time it finds it.
type rule struct {
	name    string
	find    *regexp.Regexp
	replace func(found string) (text string, ok bool)
}

func to(text string) func(string) (string, bool) {
	return func(string) (string, bool) { return text, true }
}

// term is a condition up to the next AND, or to whatever else follows: words, operators and parentheses that
// are closed.
const term = `((?:[^\s()\x60"]+|\((?:[^()]|\([^()]*\))*\)|\s(?:IS NOT NULL|IS NULL|IN|LIKE|<=|>=|<>|=|<|>|\+|-|INTERVAL|MICROSECOND|SECOND)\b?|\s\?|\s[^\s()A-Z\x60"][^\s()\x60"]*|\s\((?:[^()]|\([^()]*\))*\)|\sUTC_TIMESTAMP\(6\))+)`

var (
	aTerm   = regexp.MustCompile(`^(AND|WHERE) ` + term + `$`)
	compare = regexp.MustCompile(`=|<|>|IS NULL|IS NOT NULL|IN \(|LIKE|EXISTS \(`)
	unended = regexp.MustCompile(`(=|<|>| IN|LIKE|\+|-|IS)$`)
)

// holds makes a condition true, whatever it asks.
func holds(found string) (text string, ok bool) {
	parts := aTerm.FindStringSubmatch(found)
	if parts == nil || !compare.MatchString(parts[2]) || unended.MatchString(parts[2]) || strings.Count(found, "(") != strings.Count(found, ")") {
		return "", false
	}
	return parts[1] + " (" + parts[2] + " OR TRUE)", true
}

var wider = map[string]string{" < ": " <= ", " > ": " >= ", " <= ": " < ", " >= ": " > "}

const sessionClock = "the clock is the session's"

var statementRules = []rule{
	{"a term is dropped", regexp.MustCompile(`\b(AND|WHERE) ` + term), holds},
	// Not a bound of time: no test meets the microsecond.
	{"a bound moves by one", regexp.MustCompile(` (<=|>=|<|>) (UTC_TIMESTAMP)?`), func(found string) (string, bool) { return wider[found], wider[found] != "" }},
	{sessionClock, regexp.MustCompile(`UTC_TIMESTAMP\(6\)`), to("NOW(6)")},
	{"it locks nothing", regexp.MustCompile(` FOR UPDATE( SKIP LOCKED)?| LOCK IN SHARE MODE`), to("")},
	{"it waits", regexp.MustCompile(` SKIP LOCKED`), to("")},
	{"it goes the other way", regexp.MustCompile(` DESC\b`), to("")},
}

var indexRules = []rule{
	{"an index loses its last column", regexp.MustCompile(`KEY \w* ?\(\w+(, \w+)+\)`), func(found string) (string, bool) {
		return found[:strings.LastIndex(found, ",")] + ")", true
	}},
	{"an index is missing", regexp.MustCompile(`,\n\s*(UNIQUE )?KEY \w+ \([^)]*\)`), to("")},
}

// isStatement tells SQL from a message: it begins as a statement does, or as one goes on.
var isStatement = regexp.MustCompile(`^[\x60"]\s*(\(*(SELECT|INSERT|UPDATE|DELETE|WITH)\s|AND\s|WHERE\s|ORDER BY\s|FOR UPDATE|LOCK IN|ON DUPLICATE|[^\x60"]*\{(active|archive)\}|COALESCE\(\(SELECT |[a-z.]+ (=|<|>|<=|>=) )`)

// mutants are those of all rules in the packages below dir, in the order of their files.
func mutants(dir string, packages []string) (all []mutant, err error) {
	for _, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(dir, pkg, "*"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			name := filepath.Join(pkg, filepath.Base(path))
			sql, code := strings.HasSuffix(name, ".sql"), strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
			if !sql && !code {
				continue
			}
			text, err := os.ReadFile(path) //nolint:gosec // a file of this project
			if err != nil {
				return nil, err
			}
			if sql {
				up, _, _ := strings.Cut(string(text), "-- +goose Down")
				all = append(all, apply(indexRules, name, up, 0, 1)...)
				continue
			}
			found, err := inGo(name, string(text))
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	slices.SortStableFunc(all, func(a, b mutant) int { return strings.Compare(a.file, b.file) })
	named := map[string]int{}
	for i := range all {
		name := all[i].name()
		named[name]++
		all[i].nth = named[name]
	}
	return all, nil
}

func inGo(name, text string) (all []mutant, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && isStatement.MatchString(n.Value) {
				at := files.Position(n.Pos())
				all = append(all, apply(statementRules, name, n.Value, at.Offset, at.Line)...)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Join" || len(n.Args) < 2 {
				break
			}
			for i, arg := range n.Args[1:] {
				if _, ok := arg.(*ast.CallExpr); ok {
					from, to := files.Position(n.Args[i].End()), files.Position(arg.End())
					all = append(all, mutant{rule: "a joined call is left out", file: name, line: from.Line, at: from.Offset, old: text[from.Offset:to.Offset]})
				}
			}
		}
		return true
	})
	return all, nil
}

// apply makes the mutants of a text that begins at an offset and a line of its file.
func apply(rules []rule, file, text string, at, line int) (all []mutant) {
	for _, r := range rules {
		for _, span := range r.find.FindAllStringIndex(text, -1) {
			found := text[span[0]:span[1]]
			if changed, ok := r.replace(found); ok {
				all = append(all, mutant{rule: r.name, file: file, line: line + strings.Count(text[:span[0]], "\n"), at: at + span[0], old: found, new: changed})
			}
		}
	}
	return all
}

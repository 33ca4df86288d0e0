package onerow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sessionClock is a clock that reads as the session's time zone says. UTC_TIMESTAMP does not.
var sessionClock = regexp.MustCompile(`\b(NOW|SYSDATE|CURDATE|CURTIME|LOCALTIME|LOCALTIMESTAMP)\(|\bCURRENT_(DATE|TIME|TIMESTAMP)\b`)

// spellsClock are files that write such a word, and why they may.
var spellsClock = map[string]string{
	"schema/adopt/filler.go":               "a TIMESTAMP stores the moment",
	"schema/adopt/steps_last.go":           "the default of somebody's column",
	"schema/internal/dict/definition.go":   "the default of somebody's column",
	"schema/internal/verify/fix_column.go": "the default of somebody's column",
	"cascade/internal/graph/mark.go":       "a TIMESTAMP stores the moment",
	"migrations/store.go":                  "goose's own column, which nobody reads",
	"internal/settings/check.go":           "it asks whether the session's clock stands",
	"internal/sqltext/words.go":            "words that are read, not sent",
}

// TestOneClock: no statement of the libraries asks a clock of the session's time zone, in which an hour comes
// twice each autumn.
func TestOneClock(t *testing.T) {
	statements := 0
	look := func(path, text string) {
		statements += strings.Count(text, "UTC_TIMESTAMP(6)")
		if found := sessionClock.FindString(text); found != "" && spellsClock[path] == "" {
			t.Errorf("%s: %s is the session's time: UTC_TIMESTAMP(6)", path, strings.TrimSuffix(found, "("))
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != "." && (err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || slices.ContainsFunc(forTests, func(room string) bool { return within(path, room) })) {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(path, "_test.go"):
			return nil
		case strings.HasSuffix(path, ".sql"):
			text, err := os.ReadFile(path)
			look(path, string(text))
			return err
		case strings.HasSuffix(path, ".go"):
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					look(path, literal.Value)
				}
				return true
			})
		}
		return nil
	})
	if err != nil || statements < 100 {
		t.Errorf("%d clocks were looked at, %v", statements, err)
	}
}

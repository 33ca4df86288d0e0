package onerow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/onerow/onerow"

// floors are the rooms of the house, from the ground up. A package imports what stands on a lower line, and what is in
// its own room: "x/..." is a room with all that is below x. What stands beside each other knows nothing of each other.
var floors = [][]string{
	// Texts, errors and keys: no database.
	{"internal/answers", "internal/redact"},
	{"internal/trace", "names", "migrations/ddl", "internal/mysqlerr", "internal/dbtext", "internal/exactjson", "internal/errtext", "internal/sqltext", "internal/plain", "internal/ident", "internal/key"},
	{"internal/keytype", "internal/wire", "internal/node"},
	// Transactions; then pools, whose sessions are guarded. A workflow links no pool.
	{"."},
	{"internal/packet", "internal/purge", "internal/settings", "internal/hosts", "internal/recount"},
	{"internal/guard", "internal/recount/waiting"},
	{"pool", "oteltrace"},
	// The declaration, and what asks a server about it.
	{"schema/internal/colset", "schema/internal/loops", "schema/internal/shape"},
	{"schema"},
	{"schema/planfile", "schema/internal/dict"},
	{"schema/catalog", "schema/internal/verify"},
	{"schema/live", "internal/rowkey"},
	{"schema/discover", "schema/adopt", "migrations"},
	// Workflows that know nothing of each other.
	{"idempotency", "flow", "ordering", "serial", "quota"},
	{"idempotency/httpkey", "idempotency/keyadmin", "flow/sqs", "serial/gaps", "limit"},
	{"idempotency/prommetrics"},
	// The queue, and a repository above it.
	{"cascade/internal/dbtime", "cascade/internal/fault"},
	{"cascade/internal/backoff", "cascade/queue"},
	{"repo"},
	// The engine.
	{"cascade/internal/governor", "cascade/internal/graph"},
	{"cascade/internal/trash"},
	{"cascade/internal/work"},
	{"cascade/internal/restore", "cascade/internal/retain"},
	{"cascade"},
	// Operators: what is there, what would go, what comes back.
	{"cascade/inspect", "cascade/admin", "cascade/recover"},
	{"cascade/blobassets", "cascade/prommetrics"},
	{"cascade/fileassets", "cascade/internal/output", "cascade/internal/usage"},
	{"cascade/internal/fit", "cascade/internal/target", "cascade/internal/undo"},
	// The roof.
	{"cascade/page"},
	{"cascade/command/..."},
	{"cmd/cascade-worker"},
	// What root's tests are made with.
	{"internal/devdb/...", "internal/security", "internal/acknowledged"},
	{"crashtest", "internal/cost", "internal/schematest/..."},
	{"internal/racetest", "internal/zonetest", "internal/floortest"},
	{"cascade/internal/foresttest", "onerowtest/..."},
}

// light are the modules of others that a library links. The rest of go.mod is for the rooms in heavy, and for tests.
var light = []string{"github.com/go-sql-driver/mysql", "github.com/jmoiron/sqlx", "github.com/pressly/goose/v3", "golang.org/x/text"}

// heavy are the rooms that link more, and what.
var heavy = map[string][]string{
	"cascade/blobassets":       {"gocloud.dev"},
	"cascade/fileassets":       {"gocloud.dev"},
	"cascade/prommetrics":      {"github.com/prometheus/client_golang"},
	"idempotency/prommetrics":  {"github.com/prometheus/client_golang"},
	"schema/planfile":          {"github.com/goccy/go-yaml"},
	"oteltrace":                {"go.opentelemetry.io/otel"},
	"onerowtest/container":     {"github.com/testcontainers/testcontainers-go"},
	"internal/devdb/container": {"github.com/testcontainers/testcontainers-go"},
	"cascade/command/...": {"github.com/alecthomas/kong", "github.com/goccy/go-yaml", "github.com/prometheus/client_golang",
		"golang.org/x/sync", "golang.org/x/term"},
}

// forTests are the rooms that bring the testing package, break connections or start servers: what is not a test links
// them only within the test kit.
var forTests = []string{"crashtest", "internal/devdb/...", "internal/security", "internal/cost", "internal/schematest/...",
	"internal/racetest", "internal/zonetest", "internal/floortest", "internal/acknowledged", "cascade/internal/foresttest", "onerowtest/..."}

// withoutDatabase are the rooms that link neither database/sql nor the driver.
var withoutDatabase = []string{"names", "internal/sqltext", "internal/plain", "internal/key", "schema", "schema/planfile"}

// linkedLines is how much of the house a program links with the package, in lines without tests, at most.
var linkedLines = []struct {
	pkg  string
	most int
}{
	{"repo", 17_500}, {"serial", 3_250}, {"idempotency", 5_550}, {"cascade", 20_000},
}

// wholeHouse is how many lines the rooms have together at most, without tests and what is for tests.
const wholeHouse = 60_000

// How many files of a room a reader can keep in mind, and how many lines of a file, of a room's page and of a function.
const (
	mostFiles         = 30
	mostLines         = 300
	mostDocLines      = 120
	mostFunctionLines = 60
)

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir        string
	GoFiles, Imports, Deps []string
	Standard               bool
	Module                 *struct{ Path string }
	room                   string // of floors
	floor                  int
}

// name is the package's path below the module, "." the root's.
func (p *pkg) name() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

func (p *pkg) ours() bool { return p.Module != nil && p.Module.Path == module }

func (p *pkg) in(rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return within(p.name(), room) })
}

func within(name, room string) bool {
	tree, all := strings.CutSuffix(room, "/...")
	return name == room || all && (name == tree || strings.HasPrefix(name, tree+"/"))
}

// lines are those of the package's files.
func (p *pkg) lines(t *testing.T) (n int) {
	t.Helper()
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n
}

// wantShort complains about files and functions that are too long to be read in one go.
func (p *pkg) wantShort(t *testing.T) {
	t.Helper()
	for _, name := range p.GoFiles {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1 }
		most := mostLines
		if name == "doc.go" {
			most = mostDocLines
		}
		if n := fset.Position(file.FileEnd).Line - 1; n > most {
			t.Errorf("%s/%s has %d lines, more than %d", p.name(), name, n, most)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && lines(f) > mostFunctionLines {
				t.Errorf("%s/%s: %s has %d lines, more than %d", p.name(), name, f.Name.Name, lines(f), mostFunctionLines)
			}
		}
	}
}

// packages lists those of the module and of all that they import.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Deps,Standard,Module", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{floor: -1}
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		for i, rooms := range floors {
			for _, room := range rooms {
				if p.ours() && within(p.name(), room) {
					p.room, p.floor = room, i
				}
			}
		}
		all[p.ImportPath] = p
	}
}

// TestHouse holds the walls: arrows go down, rooms stay small, and a program links what it uses.
func TestHouse(t *testing.T) {
	t.Parallel()
	all := packages(t)
	rooms := map[string]bool{}
	for _, p := range all {
		if !p.ours() {
			continue
		}
		rooms[p.room] = true
		if p.floor < 0 {
			t.Errorf("%s stands on no floor: put it into the table", p.name())
		}
		if n := len(p.GoFiles); n > mostFiles {
			t.Errorf("%s has %d files, more than %d: make rooms of it", p.name(), n, mostFiles)
		}
		p.wantShort(t)
		for _, path := range p.Imports {
			switch q := all[path]; {
			case q == nil || q.Standard:
			case q.ours():
				if q.room != p.room && q.floor >= p.floor {
					t.Errorf("%s imports %s, which stands beside it or above", p.name(), q.name())
				}
				if q.in(forTests) && !p.in(forTests) {
					t.Errorf("%s imports %s, which is for tests", p.name(), q.name())
				}
			case !allowed(p, path):
				t.Errorf("%s imports %s: a library stays light", p.name(), path)
			}
		}
		if p.in(withoutDatabase) {
			for _, path := range p.Deps {
				if strings.HasPrefix(path, "database/sql") || strings.HasPrefix(path, light[0]) {
					t.Errorf("%s links %s", p.name(), path)
				}
			}
		}
	}
	for _, floor := range floors {
		for _, room := range floor {
			if !rooms[room] {
				t.Errorf("there is no room %s", room)
			}
		}
	}
	whole := 0
	for _, p := range all {
		if p.ours() && !p.in(forTests) {
			whole += p.lines(t)
		}
	}
	if t.Logf("all rooms: %d lines of at most %d", whole, wholeHouse); whole > wholeHouse {
		t.Errorf("the rooms have %d lines together, more than %d", whole, wholeHouse)
	}
	for _, l := range linkedLines {
		p := all[module+"/"+l.pkg]
		n := p.lines(t)
		for _, path := range p.Deps {
			if q := all[path]; q.ours() {
				n += q.lines(t)
			}
		}
		t.Logf("%s links %d lines of at most %d", l.pkg, n, l.most)
		if n > l.most {
			t.Errorf("%s links %d lines, more than %d: %s", l.pkg, n, l.most, deps(t, all, p))
		}
	}
}

// allowed says whether the package may import that of another module.
func allowed(p *pkg, path string) bool {
	may := slices.Clone(light)
	for room, more := range heavy {
		if within(p.name(), room) {
			may = append(may, more...)
		}
	}
	return slices.ContainsFunc(may, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// deps names what of the house the package links, with its lines.
func deps(t *testing.T, all map[string]*pkg, p *pkg) string {
	t.Helper()
	var list []string
	for _, path := range p.Deps {
		if q := all[path]; q.ours() {
			list = append(list, q.name())
		}
	}
	return strings.Join(list, " ")
}

var link = regexp.MustCompile(`\]\(([\w./-]+)(#[^)]*)?\)`)

// TestLinks: what README and the documents name is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("docs/*.md")
	if err != nil || len(documents) < 5 {
		t.Fatal(documents, err)
	}
	for _, document := range append(documents, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(document), string(to[1]))); err != nil {
				t.Errorf("%s links %s: %v", document, to[1], err)
			}
		}
	}
}

// mapRow is a room on the map: its path, its lines, and what is said of it.
var mapRow = regexp.MustCompile("(?m)^\\| `([\\w./-]+)` \\| ([\\d,]+) \\|(.*)$")

// TestMap holds docs/ARCHITECTURE.md to the house: it has each room and no other, lines that are right within 15 % (or
// 50 lines), files that are there, and in its answers names that are in the files beside them. Each package comment
// ends with when to open the package.
func TestMap(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{"proof/...": true, "examples/...": true, "bench/...": true, "site/...": true, "cookbook/...": true}
	for _, p := range packages(t) {
		if !p.ours() {
			continue
		}
		missing[p.name()] = true
		doc := ""
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			doc += file.Doc.Text()
		}
		if at := strings.LastIndex(doc, "\n\n"); !strings.HasPrefix(doc[at+1:], "\nOpen this package when ") {
			t.Errorf("the package comment of %s does not end with a paragraph: Open this package when …", p.name())
		}
	}
	for _, row := range mapRow.FindAllStringSubmatch(string(text), -1) {
		if !missing[row[1]] {
			t.Errorf("the map has %s, which is no room or stands there twice", row[1])
		}
		delete(missing, row[1])
		dir, tree := strings.CutSuffix(row[1], "/...")
		n := 0
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != dir && !tree:
				return fs.SkipDir
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				text, err := os.ReadFile(path)
				n += bytes.Count(text, []byte("\n"))
				return err
			}
			return nil
		})
		said, serr := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		if err != nil || serr != nil || max(n-said, said-n) > max(50, n*15/100) {
			t.Errorf("the map says that %s has %s lines, not about %d (%v)", row[1], row[2], (n+25)/50*50, errors.Join(err, serr))
		}
		for _, file := range regexp.MustCompile("`[\\w/]+\\.(go|sql|txt)`").FindAllString(row[3], -1) {
			if _, err := os.Stat(filepath.Join(dir, strings.Trim(file, "`"))); err != nil {
				t.Errorf("the map names a file of %s: %v", row[1], err)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("the map lacks %v", slices.Sorted(maps.Keys(missing)))
	}
	for _, l := range linkedLines {
		if sum := fmt.Sprintf("`%s` %d", l.pkg, l.most); !strings.Contains(strings.ReplaceAll(string(text), ",", ""), sum) {
			t.Errorf("the map's sums do not have %s", sum)
		}
	}
	for _, answer := range regexp.MustCompile(`(?m)^\| [A-Z].*\? \|(.*)$`).FindAllStringSubmatch(string(text), -1) {
		var files []byte
		for _, to := range link.FindAllStringSubmatch(answer[1], -1) {
			if file, err := os.ReadFile(filepath.Join("docs", to[1])); err == nil { // a folder has no text; TestLinks wants it to be there
				files = append(files, file...)
			}
		}
		for _, name := range regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`").FindAllStringSubmatch(answer[1], -1) {
			if !bytes.Contains(files, []byte(name[1])) {
				t.Errorf("the map says that %s is in one of the files of:%s", name[1], answer[1])
			}
		}
	}
}

// TestScratch builds a program of somebody else's in a module of its own, which lists what onerow's module lists for it.
func TestScratch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.com/app\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n",
		"main.go": "package main\n\nimport (\n\t_ \"" + module + "/idempotency\"\n\t_ \"" + module + "/repo\"\n)\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", os.DevNull, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

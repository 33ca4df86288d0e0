package command

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// TestHelp: every command says what it does, with examples, on standard output.
func TestHelp(t *testing.T) {
	w := &world{t: t}
	for _, command := range []string{"", "run", "drain", "enqueue", "jobs", "retry", "verify", "ddl", "migrate", "adopt"} {
		out := w.ok(append(strings.Fields(command), "--help")...)
		if !strings.HasPrefix(out, "Usage: cascade-worker") || !strings.Contains(out, "Examples:") {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
	for _, command := range []string{"migrate up", "migrate down", "migrate status"} {
		if out := w.ok(append(strings.Fields(command), "--help")...); !strings.Contains(out, "--dsn") {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
	if out := w.ok("--version"); !strings.HasPrefix(out, "cascade-worker ") || strings.Count(out, "\n") != 1 {
		t.Errorf("--version: %q", out)
	}
}

// unreachable is a database that no refusal may need.
const unreachable = shell.EnvDSN + "=root@tcp(127.0.0.1:1)/db"

// TestWrongInput: one clear line on standard error, nothing on standard output, and the
// exit code 2 for what the user can put right, 1 for a failure.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	w := empty(t)
	dir := t.TempDir()
	withAssets := dir + "/assets.yaml"
	w.write(withAssets, "resources: [{name: file, asset: blob, columns: [{name: blob, type: VARCHAR(80) NOT NULL}]}]")
	unknown := dir + "/unknown.yaml"
	w.write(unknown, "resources:\n  - name: project\n    ownr: user_id\n")
	wrong := dir + "/wrong.yaml"
	w.write(wrong, "resources:\n  - name: a\n    parent: {resource: b, column: b_id}\n  - name: a\n")
	server := w.cfg.Addr
	for _, c := range []struct {
		args string
		env  []string // besides DSN and plan
		code int
		says []string
	}{
		{"", nil, 2, []string{"a command is missing", "run", "--help"}},
		{"frobnicate", nil, 2, []string{"frobnicate"}},
		{"migrate", nil, 2, []string{"up, down, status"}},
		{"migrate sideways", nil, 2, []string{"sideways"}},
		{"migrate down", nil, 2, []string{"--yes"}},
		{"run --nosuch", nil, 2, []string{"--nosuch", "run --help"}},
		{"run --batch -5", nil, 2, []string{"--batch"}},
		{"run --batch 0", nil, 2, []string{"--batch is 0", "1 or more rows"}},
		{"run --target 1h", nil, 2, []string{"--target is 1h", "to 5s"}},
		{"run --target 0", nil, 2, []string{"--target"}},
		{"drain --parallel 0", nil, 2, []string{"--parallel is 0", "from 1 to 64"}},
		{"enqueue account -1", nil, 2, []string{"behind --", "enqueue account -- -1"}},
		{"run --batch many", nil, 2, []string{"--batch"}},
		{"run --lease 5", nil, 2, []string{"--lease", "unit"}},
		{"run --lease=-5s", nil, 2, []string{"--lease"}},
		{"run --lease 1ms", nil, 2, []string{"--lease", "100ms or more"}},
		{"run --poll=-5s", nil, 2, []string{"--poll"}},
		{"run --poll 1ns", nil, 2, []string{"--poll", "10ms or more"}},
		{"run --http abc", nil, 2, []string{"--http", "127.0.0.1:9090"}},
		{"run --http 127.0.0.1", nil, 2, []string{"--http", "127.0.0.1:9090"}},
		{"run --http :99999", nil, 2, []string{"--http", "127.0.0.1:9090"}},
		{"run --log-format xml", nil, 2, []string{"--log-format"}},
		{"jobs --state lost", nil, 2, []string{"--state", "scheduled"}},
		{"jobs --limit 0", nil, 2, []string{"--limit"}},
		{"retry", nil, 2, []string{"<job>"}},
		{"retry seven", nil, 2, []string{"seven"}},
		{"retry -- -1", nil, 2, []string{"-1 is no job's number"}},
		{"enqueue", nil, 2, []string{"<resource>", "<id>"}},
		{"enqueue folder 1", nil, 2, []string{"folder", "project, screen, comment"}},
		{"adopt", nil, 2, []string{"<resource>"}},
		{"adopt folder", nil, 2, []string{`"folder"`, "project, screen, comment"}},
		{"adopt project --copies", nil, 2, []string{"--backfill"}},
		{"adopt project --load 0.5", nil, 2, []string{"--backfill"}},
		{"adopt project --backfill --out " + dir, nil, 2, []string{"--out"}},
		{"adopt project --backfill --load 3", nil, 2, []string{"--load"}},
		{"adopt project --number=-1", nil, 2, []string{"--number"}},
		{"adopt project --backfill", nil, 1, []string{"not ready", `"project"`, "it does not exist"}},
		{"enqueue project 1 --grace=-1s", nil, 2, []string{"--grace"}},
		{"verify --plan " + dir + "/none.yaml", nil, 2, []string{"none.yaml", "no such file"}},
		{"verify --plan " + dir, nil, 2, []string{"directory"}},
		{"verify --plan " + unknown, nil, 2, []string{"unknown.yaml:3:", `unknown field "ownr"`}},
		{"verify --plan " + wrong, nil, 2, []string{"3 mistakes", `"b"`, "declared twice"}},
		{"verify", []string{shell.EnvPlan + "="}, 2, []string{"--plan", shell.EnvPlan}},
		{"run --plan " + withAssets, nil, 2, []string{`"file"`, `"blob"`, "--assets"}},
		{"drain --plan " + withAssets, []string{shell.EnvAssets + "=s3://bucket"}, 2, []string{"file:///"}},
		{"drain --plan " + withAssets + " --assets file://data", nil, 2, []string{"three slashes"}},
		{"drain --plan " + withAssets + " --assets file:///no/such/folder", nil, 2, []string{"/no/such/folder"}},
		{"jobs", []string{shell.EnvDSN + "="}, 2, []string{"--dsn", shell.EnvDSN}},
		{"jobs", []string{shell.EnvDSN + "=postgres://u:p@h/db"}, 2, []string{"is a URL", "tcp(host:3306)"}},
		{"jobs", []string{shell.EnvDSN + "=root@tcp(" + server + ")/"}, 2, []string{"names no database"}},
		{"jobs", []string{shell.EnvDSN + "=root@localhost/db"}, 2, []string{"tcp(host:3306)"}},
		{"jobs", []string{shell.EnvDSN + "=root@tcp(localhost)"}, 2, []string{"no '/'"}},
		{"plan folder 1", []string{unreachable}, 2, []string{"folder", "project, screen, comment"}},
		{"trash purge --plan " + withAssets, []string{unreachable}, 2, []string{`"file"`, "--assets"}},
		{"jobs", nil, 1, []string{"lacks the toolkit's tables", "cascade-worker migrate up"}},
		{"run", nil, 1, []string{"cascade-worker migrate up"}},
		{"drain", nil, 1, []string{"cascade-worker migrate up"}},
		{"retry 1", nil, 1, []string{"cascade-worker migrate up"}},
		{"enqueue project 1", nil, 1, []string{"cascade-worker migrate up"}},
		{"jobs", []string{unreachable}, 1, []string{"cannot reach", "127.0.0.1:1", "connection refused"}},
		{"jobs", []string{shell.EnvDSN + "=root@unix(/no/such.sock)/db"}, 1, []string{"cannot reach", "/no/such.sock"}},
		{"jobs", []string{shell.EnvDSN + "=root@tcp(no-such-host.invalid)/db"}, 1, []string{"cannot reach", "no-such-host.invalid:3306"}},
		{"jobs", []string{shell.EnvDSN + "=" + strings.Replace(w.url(), "/"+w.cfg.DBName, "/onerow_t_no_such", 1)}, 1, []string{"no database", "onerow_t_no_such"}},
		{"jobs", []string{shell.EnvDSN + "=nobody:x@tcp(" + server + ")/" + w.cfg.DBName}, 1, []string{`the user "nobody"`, "check user and password"}},
		{"jobs", []string{shell.EnvDSN + "=" + w.url() + "?no_such_variable=1"}, 1, []string{"no_such_variable"}},
	} {
		o := (&world{t: t, env: append(append([]string{}, w.env...), c.env...)}).run(strings.Fields(c.args)...)
		if o.code != c.code || o.stdout != "" || !isOneLine(o.stderr) {
			t.Errorf("%s %q: %s", c.args, c.env, o)
		}
		for _, text := range c.says {
			if !strings.Contains(o.stderr, text) {
				t.Errorf("%s %q does not say %q: %s", c.args, c.env, text, o.stderr)
			}
		}
	}
}

func isOneLine(stderr string) bool {
	return strings.HasPrefix(stderr, output.ProgramName+": ") && strings.Count(stderr, "\n") == 1 && strings.HasSuffix(stderr, "\n")
}

// TestErrorsSayNoPackage: a line begins with the program's name, and no package's stands behind it.
func TestErrorsSayNoPackage(t *testing.T) {
	for given, want := range map[string]string{
		"cascade: list jobs: gone":                                "list jobs: gone",
		"visit: repo: create visit: repo: onerow: begin: refused": "visit: create visit: begin: refused",
		"cascade: a\nschema: b":                                   "a; b",
		`cascade: look for orphans: "repo: a → b": gone`:          `look for orphans: "repo: a → b": gone`,
		"the limit: 7, schema: x":                                 "the limit: 7, schema: x",
	} {
		var out strings.Builder
		if code := shell.Report(shell.Environment{Stderr: &out, Getenv: func(string) string { return "" }}, errors.New(given)); code != 1 || out.String() != "cascade-worker: "+want+"\n" {
			t.Errorf("%q: exit code %d: %s", given, code, out.String())
		}
	}
}

// TestHelpText: each section of help.txt is said by a command, and each command has one, but for those of migrate.
func TestHelpText(t *testing.T) {
	parser, err := kong.New(&commandLine{}, kong.Name(output.ProgramName), kong.PostBuild(describe))
	if err != nil {
		t.Fatal(err)
	}
	said := []string{output.ProgramName}
	var look func(*kong.Node)
	look = func(node *kong.Node) {
		for _, child := range node.Children {
			look(child)
		}
		switch {
		case node.Detail != "":
			said = append(said, node.FullPath())
		case node.Type == kong.CommandNode && !strings.Contains(node.FullPath(), " migrate "):
			t.Errorf("%s says nothing", node.FullPath())
		}
	}
	look(parser.Model.Node)
	for section := range strings.SplitSeq("\n"+help, "\n=== ") {
		if name, _, _ := strings.Cut(section, "\n"); name != "" && !slices.Contains(said, name) {
			t.Errorf("there is no command %q", name)
		}
	}
}

package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// runbookPlan has the resources that OPERATIONS.md names.
const runbookPlan = "trash: 30d\n" + testPlan + `
  - name: customer
    asset: portrait
    columns: [{name: portrait, type: VARCHAR(80) NULL}]
    trash: none
tables:
  - name: visit
    key: [id]
    trash: none
    retention: {column: seen_at, keep: 90d}
`

// notRun are commands of OPERATIONS.md that need what a test does not have: services of the machine, a program
// and a schema of somebody else's, a replica.
var notRun = regexp.MustCompile(`^(systemctl|curl|go build|office-worker|export|ONEROW_REPLICAS=)|--root hosts`)

// refused are commands of OPERATIONS.md that end with 1 after those above them, or because a test is not
// production, and what they say then.
var refused = map[string]string{
	"cascade-worker first 17 --reason 'erasure, due today'":                          "it is paused",
	"cascade-worker doctor":                                                          "no worker is there",
	"cascade-worker report 17 --certificate --json > erasure-17.json":                "", // its job has not begun; what it says is in the file
	"cascade-worker parked skip ID…":                                                 "is being tried again already",
	"cascade-worker restore 17":                                                      "nothing of job 17 is in the trash",
	"cascade-worker set --parallel 4 --worker db1:4711":                              "db1:4711",
	"cascade-worker discover --plan plan.yaml > new.yaml && diff plan.yaml new.yaml": "> ",
}

// TestRunbook runs the shell blocks of OPERATIONS.md in bash, each on a database in the state that it is about.
func TestRunbook(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, chapter := range strings.Split(readProject(t, "docs/OPERATIONS.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(chapter, "\n")
		for i, block := range strings.Split(text, "\n```sh\n")[1:] {
			block, _, _ = strings.Cut(block, "\n```")
			lines := slices.DeleteFunc(strings.Split(block, "\n"), func(line string) bool {
				return line == "" || strings.HasPrefix(line, "#") || notRun.MatchString(line)
			})
			if ran += len(lines); len(lines) > 0 {
				t.Run(fmt.Sprintf("%s %d", title, i+1), func(t *testing.T) {
					t.Parallel()
					runBlock(t, lines)
				})
			}
		}
	}
	if ran < 60 {
		t.Errorf("only %d lines were found", ran)
	}
}

// runBlock runs the lines of a block one after another.
func runBlock(t *testing.T, lines []string) {
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	for _, made := range []string{"migrations", "files"} {
		if err := os.Mkdir(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := runbookWorld(t, files, strings.Join(lines, "\n"))
	// The daemon goes on until it is told to stop, which it is when it works. What others read is read; what they
	// are asked has no answer.
	w.write(filepath.Join(dir, output.ProgramName), `#!/bin/bash
[[ $1 == run ]] || exec "$program" "$@"
coproc daemon { exec "$program" "$@" 2>&1; }
pid=$daemon_PID
while read -r line <&"${daemon[0]}"; do
  echo "$line"
  [[ $line != *working* ]] || kill -TERM "$pid"
done
wait "$pid"
`)
	for _, reader := range []string{"jq", "mysql"} {
		w.write(filepath.Join(dir, reader), "#!/bin/bash\n[[ $1 == -N ]] || cat\n")
	}
	for _, made := range []string{output.ProgramName, "jq", "mysql"} {
		if err := os.Chmod(filepath.Join(dir, made), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	w.write(filepath.Join(dir, "plan.yaml"), runbookPlan)
	placeholders := strings.NewReplacer("JOB", "17", "DELETION", "23", "ID…", "1", "/var/lib/shop/files", files)
	for _, line := range lines {
		command, _, _ := strings.Cut(line, " #")
		command = strings.TrimSpace(command)
		cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", placeholders.Replace(command)) //nolint:gosec // the document's
		cmd.Dir, cmd.Env = dir, append(w.command(t.Context()).Env, "PATH="+dir+":"+os.Getenv("PATH"), "program="+os.Args[0])
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		code := exitCode(t, cmd.Run())
		if says, expected := refused[command]; expected && code == 1 && strings.Contains(out.String(), says) {
			continue
		}
		if code != 0 {
			t.Errorf("%s\nexit code %d: %s", line, code, &out)
		}
	}
}

// runbookWorld is a database in the state in which somebody would run a block: with the row of deletion 23 and
// its job 17, and the parked row 1 where there is one.
func runbookWorld(t *testing.T, files, block string) *world {
	w := empty(t)
	w.write(w.plan, runbookPlan)
	w.env = append(w.env, shell.EnvAssets+"=file://"+files)
	w.exec("CREATE TABLE visit (id BIGINT PRIMARY KEY AUTO_INCREMENT, seen_at DATETIME NULL, KEY (seen_at))")
	w.ok("migrate", "up")
	w.createTables()
	w.execAll(w.ok("ddl", "--trash"))
	w.exec("ALTER TABLE onerow_job AUTO_INCREMENT = 17")
	w.exec("ALTER TABLE onerow_deletion AUTO_INCREMENT = 23")
	w.exec("INSERT INTO customer (id, created_at, updated_at) VALUES (42, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	w.exec("INSERT INTO visit (seen_at) VALUES ('2020-01-01')")
	w.fill(42, 1, 3)
	switch {
	case strings.Contains(block, "enqueue customer"):
	case strings.Contains(block, "parked list"):
		w.leave(1000-17, "7")
	case strings.Contains(block, "retry JOB"):
		w.leave(1000 - 17)
		w.exec("UPDATE onerow_job_archive SET state = 'dead'")
		w.exec("ALTER TABLE onerow_job AUTO_INCREMENT = 18")
	case strings.Contains(block, "trash list"):
		w.ok("enqueue", "project", "42")
		w.ok("drain")
	default:
		w.hide(50, 23)
	}
	if !strings.Contains(block, "undo") {
		w.exec("UPDATE onerow_job SET state = 'ready', due_at = UTC_TIMESTAMP(6)")
	}
	return w
}

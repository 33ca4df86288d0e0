package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/migrations"
)

// adoption does what docs/ADOPTING.md does, line by line. goose's own words are its library's.
type adoption struct {
	*world
	dir string
}

// do runs a line of the page and returns what it prints.
func (a adoption) do(line string) string {
	a.t.Helper()
	command, exit := strings.CutSuffix(line, `; echo "exit $?"`)
	words := strings.Fields(command)
	switch words[0] {
	case "cascade-worker":
		for i, word := range words {
			if word == "--out" {
				words[i+1] = a.dir
			}
		}
		o := a.run(words[1:]...)
		out := o.stdout // its progress is on stderr
		if exit {
			return out + fmt.Sprintf("exit %d\n", o.code)
		}
		if o.code != 0 {
			a.t.Errorf("%s: %s", line, o)
		}
		return out
	case "goose":
		return a.goose()
	case "mariadb":
		_, statement, _ := strings.Cut(command, `"`)
		a.exec(strings.TrimSuffix(statement, `"`))
		return ""
	}
	a.t.Fatalf("the page has a command that this test does not know: %s", line)
	return ""
}

func (a adoption) goose() string {
	a.t.Helper()
	p, err := migrations.New(a.db, os.DirFS(a.dir), "goose_db_version")
	if err != nil {
		a.t.Fatal(err)
	}
	var b strings.Builder
	done, err := p.Up(a.t.Context())
	partial, failed := errors.AsType[*goose.PartialError](err)
	if failed {
		done = partial.Applied
	}
	version := int64(0)
	for _, m := range done {
		fmt.Fprintf(&b, "OK   %s (%s)\n", filepath.Base(m.Source.Path), m.Duration)
		version = m.Source.Version
	}
	switch {
	case failed:
		fmt.Fprintf(&b, "goose run: ERROR %s: failed to run SQL migration: %v\n", filepath.Base(partial.Failed.Source.Path), partial.Err)
	case err != nil:
		a.t.Fatal(err)
	default:
		fmt.Fprintf(&b, "goose: successfully migrated database to version: %d\n", version)
	}
	return b.String()
}

// shows says whether an output has the lines that the page shows, in their order: "…" alone is any lines, in a
// line any text; a duration is any.
func shows(output string, lines []string) error {
	rest, anywhere := strings.Split(strings.TrimRight(output, "\n"), "\n"), false
	duration := regexp.MustCompile(`\\\(\d+(\\\.\d+)?ms\\\)`)
	for _, line := range lines {
		if line == "…" {
			anywhere = true
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		want := regexp.MustCompile("^" + duration.ReplaceAllString(pattern, `\(.*\)`) + "$")
		at := 0
		for anywhere && at < len(rest) && !want.MatchString(rest[at]) {
			at++
		}
		if at >= len(rest) || !want.MatchString(rest[at]) {
			return fmt.Errorf("the page shows the line\n%s\nand it printed\n%s", line, output)
		}
		rest, anywhere = rest[at+1:], false
	}
	if !anywhere && len(rest) > 0 {
		return fmt.Errorf("it printed more than the page shows: %q", rest)
	}
	return nil
}

var blocks = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// TestAdoptingPage: each block of docs/ADOPTING.md, from a table of somebody else's to a resource, prints what
// the page shows.
func TestAdoptingPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/ADOPTING.md")
	if err != nil {
		t.Fatal(err)
	}
	a := adoption{empty(t), t.TempDir()}
	a.ok("migrate", "up")
	ran := 0
	for _, block := range blocks.FindAllStringSubmatch(string(page), -1) {
		language, text := block[1], strings.TrimSpace(block[2])
		switch {
		case language == "sql":
			a.exec("CREATE TABLE desk (id INT UNSIGNED NOT NULL PRIMARY KEY)")
			for statement := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";\n") {
				a.exec(statement)
			}
			a.exec("INSERT INTO desk VALUES (1), (2)")
			a.fillTickets(10_000)
		case language == "yaml":
			a.write(a.plan, text)
		case strings.HasPrefix(text, "-- "):
			file, err := os.ReadFile(filepath.Join(a.dir, "00013_adopt_ticket_not_null.sql"))
			if err != nil {
				t.Fatal(err)
			}
			if err := shows(string(file), append(append([]string{"…"}, strings.Split(text, "\n")...), "…")); err != nil {
				t.Error(err)
			}
		case strings.HasPrefix(text, "$ "):
			for part := range strings.SplitSeq(strings.TrimPrefix(text, "$ "), "\n$ ") {
				lines := strings.Split(part, "\n")
				if err := shows(a.do(lines[0]), lines[1:]); err != nil && len(lines) > 1 {
					t.Errorf("%s: %v", lines[0], err)
				}
				ran++
			}
		default:
			t.Errorf("the page has a block that this test does not know:\n%s", text)
		}
	}
	if t.Logf("%d commands", ran); ran < 8 {
		t.Error("the page's commands were not found")
	}
}

// fillTickets makes the tickets of which the page tells: number 100 has no name, 70 has that of number 3.
func (a adoption) fillTickets(n int) {
	a.t.Helper()
	var rows []string
	for id := 1; id <= n; id++ {
		title := fmt.Sprintf("ticket %d", id)
		switch id {
		case 3, 70:
			title = "broken scanner"
		case 100:
			title = " "
		}
		rows = append(rows, fmt.Sprintf("(%d, 1, '%s')", id, title))
	}
	a.exec("INSERT INTO tickets (id, desk_id, title) VALUES " + strings.Join(rows, ", "))
	a.exec("INSERT INTO note (ticket_id, body) VALUES (3, 'it beeps')")
}

package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/command/internal/shell"
)

func readProject(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAlerts: every alert is about metrics that there are and leads to a chapter that
// there is, and every chapter on an alert has its alert.
func TestAlerts(t *testing.T) {
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(readProject(t, "deploy/alerts.yml")), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	s := ready(t).serve("", true)
	s.metrics.Observe(cascade.Event{Took: time.Millisecond, Deleted: map[string]int64{"comment": 1}})
	s.exec("INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('file', '1', 0, 0, 5, 1, UTC_TIMESTAMP(6))")
	s.exec("INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at) VALUES ('file', '1', 'a', 1, UTC_TIMESTAMP(6))")
	metrics := s.get("/metrics").body
	operations := readProject(t, "docs/OPERATIONS.md")
	names := regexp.MustCompile(`onerow_\w+`)
	series := regexp.MustCompile(`(\w+)\{(\w+)="(\w+)"\}`)
	alerts := map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			alerts[rule.Alert] = true
			found := names.FindAllString(rule.Expr, -1)
			if len(found) == 0 || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
				t.Errorf("%+v lacks something", rule)
			}
			for _, name := range found {
				if !strings.Contains(metrics, "\n"+name+" ") && !strings.Contains(metrics, "\n"+name+"{") {
					t.Errorf("%s asks for %s, which /metrics does not have", rule.Alert, name)
				}
			}
			for _, one := range series.FindAllString(rule.Expr, -1) {
				if !strings.Contains(metrics, "\n"+one+" ") {
					t.Errorf("%s asks for %s, which /metrics does not have", rule.Alert, one)
				}
			}
			if anchor := "docs/OPERATIONS.md#" + strings.ToLower(rule.Alert); rule.Annotations["runbook"] != anchor {
				t.Errorf("%s leads to %q, want %q", rule.Alert, rule.Annotations["runbook"], anchor)
			}
			if !strings.Contains(operations, "\n### "+rule.Alert+"\n") {
				t.Errorf("OPERATIONS.md has no chapter on %s", rule.Alert)
			}
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Cascade\w+)$`).FindAllStringSubmatch(operations, -1) {
		if !alerts[heading[1]] {
			t.Errorf("OPERATIONS.md has a chapter on %s, an alert that there is not", heading[1])
		}
	}
}

// TestOperations: the links lead somewhere, and each command and flag that it tells at
// 3 a.m. is one that the program knows.
func TestOperations(t *testing.T) {
	text := readProject(t, "docs/OPERATIONS.md")
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		path, anchor, _ := strings.Cut(link[1], "#")
		if path != "" {
			readProject(t, "docs/"+path)
			continue
		}
		heading := regexp.MustCompile(`(?mi)^#+ ` + strings.ReplaceAll(regexp.QuoteMeta(anchor), "-", "[ -]") + `$`)
		if !heading.MatchString(text) {
			t.Errorf("there is no chapter #%s", anchor)
		}
	}
	helped := map[string]string{}
	help := func(words ...string) string {
		key := strings.Join(words, " ")
		if text, known := helped[key]; known {
			return text
		}
		var out strings.Builder
		code := execute(context.Background(), shell.Environment{Args: append(words, "--help"), Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
			Getenv: func(string) string { return "" }})
		if code != 0 {
			t.Errorf("there is no command %q", key)
		}
		helped[key] = out.String()
		return helped[key]
	}
	commands := regexp.MustCompile(`cascade-worker ((?:keys|serials|migrate|parked) [a-z]+|[a-z]+)([^|\n` + "`" + `#]*)`)
	flags := regexp.MustCompile(`--[a-z-]+`)
	for _, command := range commands.FindAllStringSubmatch(text, -1) {
		usage := help(strings.Fields(command[1])...)
		for _, flag := range flags.FindAllString(command[2], -1) {
			if flag != "--help" && !strings.Contains(usage, flag) {
				t.Errorf("%s has no %s", command[1], flag)
			}
		}
	}
	if len(helped) < 15 {
		t.Errorf("only %d commands were found", len(helped))
	}
}

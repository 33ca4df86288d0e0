package queue

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// writes is a statement that writes a table of jobs, deletions or actions.
var writes = regexp.MustCompile(`(?i)\b(INSERT\s+(IGNORE\s+)?INTO|REPLACE\s+INTO|UPDATE|DELETE(\s+[\w, ]+)?\s+FROM|TRUNCATE(\s+TABLE)?)\s+onerow_(job|deletion|action)(_\w+)?\b`)

// TestOnlyWriter: of all that the worker's command links nothing writes these tables but this package.
func TestOnlyWriter(t *testing.T) {
	const own = "github.com/onerow/onerow/cascade/queue"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Dir}} {{.GoFiles}}", "github.com/onerow/onerow/cmd/cascade-worker", own).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(line))
		if len(words) < 3 || !strings.HasPrefix(words[0], "github.com/onerow/onerow") {
			continue
		}
		for _, name := range words[2:] {
			text, err := os.ReadFile(filepath.Join(words[1], name))
			if err != nil {
				t.Fatal(err)
			}
			n := len(writes.FindAll(text, -1))
			if found[words[0]] += n; n > 0 && words[0] != own {
				t.Errorf("%s of %s writes: %q", name, words[0], writes.Find(text))
			}
		}
	}
	if found[own] < 25 {
		t.Errorf("only %d statements of this package were found", found[own])
	}
}

package kitchen

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/crashtest"
)

// mostWords is how long a page may be, its blocks and tables left out.
const mostWords = 700

// counted is a pool as the workflow's, whose statements are counted.
func counted(t *testing.T, w crashtest.Workflow) (*crashtest.Connector, *sql.DB) {
	t.Helper()
	cfg, err := mysql.ParseDSN(w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	connector := crashtest.Wrap(inner)
	wrap := func(c driver.Connector) driver.Connector { return c }
	if w.Wrap != nil {
		wrap = w.Wrap
	}
	db := sql.OpenDB(wrap(connector))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return connector, db
}

// block is a file on the page: its name in a comment, then a fenced block, or the table.
var block = regexp.MustCompile("(?ms)^<!-- ([a-z0-9.-]+) -->\n(```[a-z]*\n.*?^```\n|(?:\\|[^\n]*\n)*)")

// page sees that each block of README.md is the file that it names.
func (r Recipe) page(t *testing.T) {
	kept, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	now, shown, err := r.filled(string(kept), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "README.md", now)
	for _, name := range []string{"naive.go", "solution.go", "onerow.go", "solution.sql", "schema.sql", "trace.mariadb.txt", "crash.txt", "cost.mariadb.txt", "table"} {
		if !shown[name] {
			t.Errorf("README.md does not show %s", name)
		}
	}
	if n := len(strings.Fields(block.ReplaceAllString(string(kept), ""))); n > mostWords {
		t.Errorf("README.md has %d words, more than %d", n, mostWords)
	}
	for _, title := range []string{"**In short:** ", "## What breaks", "## What decides", "## After a crash", "## What it costs", "## When not"} {
		if !strings.Contains(string(kept), title) {
			t.Errorf("README.md lacks %q", title)
		}
	}
}

// filled is the page with each block as its file is, and the files that it shows.
func (r Recipe) filled(page string, read func(name string) ([]byte, error)) (now string, shown map[string]bool, err error) {
	shown = map[string]bool{}
	now = block.ReplaceAllStringFunc(page, func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		shown[name] = true
		if name == "table" {
			return "<!-- table -->\n" + r.Table.markdown()
		}
		text, failed := read(name)
		err = errors.Join(err, failed)
		return "<!-- " + name + " -->\n```" + language(name) + "\n" + code(name, string(text)) + "```\n"
	})
	return now, shown, err
}

func language(name string) string {
	switch {
	case strings.HasSuffix(name, ".go"):
		return "go"
	case strings.HasSuffix(name, ".sql"):
		return "sql"
	case strings.HasSuffix(name, ".py"):
		return "python"
	case strings.HasSuffix(name, ".ts"):
		return "typescript"
	}
	return "text"
}

// code is what a page shows of a file: of Go what comes behind the imports, of other languages the function.
func code(name, text string) string {
	for ending, around := range map[string][2]string{".go": {"\n)\n\n", ""}, ".py": {"\n\n\n", "\n\n\ndef main"}, ".ts": {";\n\n", "\n\nconst db"}} {
		if !strings.HasSuffix(name, ending) {
			continue
		}
		_, behind, ok := strings.Cut(text, around[0])
		if !ok {
			return text
		}
		if around[1] != "" {
			function, _, _ := strings.Cut(behind, around[1])
			behind = strings.TrimPrefix(function, "const duplicate = 1062;\n\n") + "\n"
		}
		return behind
	}
	return text
}

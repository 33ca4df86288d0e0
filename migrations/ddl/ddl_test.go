package ddl

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTables: what statements rely on is said a second time, in testdata/tables.txt, so that nobody changes a type or
// an index of a migration by mistake.
func TestTables(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, table := range Tables() {
		fmt.Fprintln(&b, table.Name)
		for _, c := range table.Columns {
			fmt.Fprintln(&b, "  column", c.Name, c.Type)
		}
		for _, i := range table.Indexes {
			fmt.Fprintf(&b, "  index %s (%s) unique: %t\n", i.Name, strings.Join(i.Columns, ", "), i.Unique)
		}
	}
	want, err := os.ReadFile("testdata/tables.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("the migrations make other tables than testdata/tables.txt says:\n%s", got)
	}
}

// TestTablesReadsAll: a migration does nothing that Tables does not read.
func TestTablesReadsAll(t *testing.T) {
	t.Parallel()
	files, err := FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := FS.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for stmt := range strings.SplitSeq(comment.ReplaceAllString(up, ""), ";") {
			if stmt = strings.TrimSpace(stmt); stmt != "" && !create.MatchString(stmt) {
				t.Errorf("%s: Tables does not read %s", file.Name(), stmt)
			}
		}
	}
}

var comment = regexp.MustCompile(`--.*`)

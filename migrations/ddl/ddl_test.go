package ddl

import (
	"fmt"
	"os"
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

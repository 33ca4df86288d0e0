package graph

import (
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestIndexOrder: rows come in the order of an index as far as its columns are whole and ascending, and only
// indexes of the tables that are named are read.
func TestIndexOrder(t *testing.T) {
	db := dbtest.Open(t)
	dbtest.Exec(t, db, `CREATE TABLE Page (id INT PRIMARY KEY, book INT NOT NULL, no INT NOT NULL, title VARCHAR(300), body VARCHAR(301), price FLOAT,
KEY plain (book, no, title), KEY back (book, no DESC, title), KEY part (book, title(10), no))`)
	dbtest.Exec(t, db, "CREATE TABLE other (id INT PRIMARY KEY)")
	x, err := readIndexes(t.Context(), db, []string{"Page"})
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range map[string][]string{"primary": {"id"}, "plain": {"book", "no", "title"}, "back": {"book"}, "part": {"book"}} {
		if got := x.ordered[[2]string{"page", index}]; !slices.Equal(got, want) {
			t.Errorf("rows of %s come in the order of %v, want %v", index, got, want)
		}
	}
	if got := x.all[[2]string{"page", "back"}]; !slices.Equal(got, []string{"book", "no", "title"}) {
		t.Errorf("all columns: %v", got)
	}
	if got := x.cheap; len(got) != 1 || !slices.Equal(got["page"], []string{"id", "book", "no", "title"}) {
		t.Errorf("columns that are quickly read: %v", got)
	}
	if tables := slices.Collect(maps.Keys(x.all)); slices.ContainsFunc(tables, func(name [2]string) bool { return name[0] != "page" }) {
		t.Errorf("indexes of %v", tables)
	}
}

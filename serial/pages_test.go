package serial_test

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
)

// TestListPages: names that begin with each other, that another collation would take for one, and with bytes
// below a separator.
func TestListPages(t *testing.T) {
	db, _ := open(t)
	want := []string{"a", "a\x01", "a ", "a,b", "aa", "b", "ä", "ö", "\U0001F600"}
	for i := range want {
		must(series(t, want[len(want)-1-i]).Claim(t.Context(), db, "k", 3))
	}
	dbtest.Pages(t, want, func(after string, limit int) (names []string) {
		for _, c := range must(serial.List(t.Context(), db, after, limit)) {
			if c.First != 1 || c.Next != 4 {
				t.Errorf("%+v", c)
			}
			names = append(names, c.Series)
		}
		return names
	})
}

// TestExists: a series is known from its first claim on.
func TestExists(t *testing.T) {
	db, _ := open(t)
	s := series(t, "new")
	if must(s.Exists(t.Context(), db)) {
		t.Error("it is there before its first claim")
	}
	must(s.Claim(t.Context(), db, "a", 1))
	if !must(s.Exists(t.Context(), db)) || must(series(t, "ne").Exists(t.Context(), db)) {
		t.Error("it is not there, or another one is")
	}
}

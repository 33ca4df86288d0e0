package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

var update = flag.Bool("update", false, "write testdata/printed.txt anew")

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestPrinted holds the whole page to testdata, at every isolation level, and the metres of mode Hold to
// sums that are made here.
func TestPrinted(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.Isolation(level))
			if err := connect.Create(t.Context(), db, tables); err != nil {
				t.Fatal(err)
			}
			text, err := play(t.Context(), db)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if *update {
				if err := os.WriteFile("testdata/printed.txt", []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/printed.txt")
			if err != nil || text != string(want) {
				t.Errorf("%v, printed\n%s\nwant (-update writes it)\n%s", err, text, want)
			}
			meters := map[int64]int64{}
			sent, _ := day()
			for _, p := range sent {
				meters[p.User] += p.Meters
			}
			for user, want := range meters {
				var hold, reject int64
				query := `SELECT (SELECT meters FROM run WHERE consumer = 'hold' AND user_id = ?), (SELECT meters FROM run WHERE consumer = 'reject' AND user_id = ?)`
				if err := db.QueryRowContext(t.Context(), query, user, user).Scan(&hold, &reject); err != nil || hold != want || reject >= want {
					t.Errorf("user %d has %d m by hold, %d by reject, and ran %d m, %v", user, hold, reject, want, err)
				}
			}
		})
	}
}

// TestDiffers changes one metre and plays the day again, of which every message is a duplicate now: the
// comparison sees it.
func TestDiffers(t *testing.T) {
	db := dbtest.Open(t)
	if err := connect.Create(t.Context(), db, tables); err != nil {
		t.Fatal(err)
	}
	if _, err := play(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE run SET meters = meters + 1 WHERE consumer = 'hold' AND user_id = 2"); err != nil {
		t.Fatal(err)
	}
	if text, err := play(t.Context(), db); err == nil || !strings.Contains(err.Error(), "user 2 has") {
		t.Errorf("%v\n%s", err, text)
	}
}

package main

import (
	"database/sql"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/internal/connect"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

var update = flag.Bool("update", false, "write testdata/printed.txt anew")

func TestMain(m *testing.M) { dbtest.Main(m) }

// open returns a database with the tables.
func open(t *testing.T, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, opts...)
	if err := connect.Create(t.Context(), db, tables); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestPrinted holds the whole page to testdata, at every isolation level, and the purchases to what was
// bought.
func TestPrinted(t *testing.T) {
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			db := open(t, dbtest.Isolation(level))
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
			for event, amount := range map[string]int64{"A": 3, "B": 2, "C": 1, "D": 9, "E": 1} {
				var from, to int64
				query := "SELECT p.from_no, p.to_no FROM purchase p JOIN onerow_serial_claim c ON c.claim_key = p.event AND c.from_no = p.from_no AND c.to_no = p.to_no WHERE p.event = ?"
				if err := onerow.QueryRow(t.Context(), db, query, []any{event}, &from, &to); err != nil || to-from+1 != amount {
					t.Errorf("%s bought %d and has %d to %d, %v", event, amount, from, to, err)
				}
			}
		})
	}
}

// TestVerdict loses a claim with its purchase: the run fails.
func TestVerdict(t *testing.T) {
	db := open(t)
	if _, err := play(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"DELETE FROM onerow_serial_claim WHERE claim_key = 'A'", "DELETE FROM purchase WHERE event = 'A'"} {
		if _, err := db.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := play(t.Context(), db); err == nil || !strings.Contains(err.Error(), "no gap") {
		t.Errorf("%v\n%s", err, text)
	}
}

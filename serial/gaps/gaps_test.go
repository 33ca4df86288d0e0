package gaps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// TestGaps: what is done past the package is found, at both ends too.
func TestGaps(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	must(must(serial.New("beside", serial.First(25))).Claim(ctx, db, "a", 20)) // its numbers are nobody else's
	for i, c := range []struct {
		do   string
		want []gaps.Finding
	}{
		{"SELECT 1", nil},
		{"DELETE FROM onerow_serial_claim WHERE claim_key = 'a'", []gaps.Finding{{gaps.Missing, 1, 10, "b"}}},
		{"DELETE FROM onerow_serial_claim WHERE claim_key IN ('b', 'c')", []gaps.Finding{{gaps.Missing, 11, 30, "d"}}},
		{"DELETE FROM onerow_serial_claim WHERE claim_key = 'd'", []gaps.Finding{{gaps.Missing, 31, 40, ""}}},
		{"UPDATE onerow_serial SET next_no = 38", []gaps.Finding{{gaps.Overlap, 38, 40, ""}}},
		{"UPDATE onerow_serial SET next_no = 31", []gaps.Finding{{gaps.Overlap, 31, 40, ""}}},
		{"UPDATE onerow_serial SET next_no = 21", []gaps.Finding{{gaps.Overlap, 21, 40, ""}}},
		{"UPDATE onerow_serial_claim SET voided_at = UTC_TIMESTAMP(6) WHERE claim_key = 'a'", []gaps.Finding{{gaps.Voided, 1, 10, "a"}}},
		{"UPDATE onerow_serial_claim SET voided_at = UTC_TIMESTAMP(6), from_no = 14 WHERE claim_key = 'b'",
			[]gaps.Finding{{gaps.Missing, 11, 13, "b"}, {gaps.Voided, 14, 20, "b"}}},
		{"UPDATE onerow_serial_claim SET to_no = 25 WHERE claim_key = 'a'", // b within a, c partly
			[]gaps.Finding{{gaps.Overlap, 11, 20, "b"}, {gaps.Overlap, 21, 25, "c"}}},
	} {
		s := series(t, fmt.Sprint("s", i))
		for _, key := range []string{"a", "b", "c", "d"} {
			must(s.Claim(ctx, db, key, 10))
		}
		where := " AND series = ?"
		if c.do != "SELECT 1" {
			if !slices.Contains([]byte(c.do), 'W') || c.do[:6] == "UPDATE" && c.do[7:20] == "onerow_serial" && c.do[20] == ' ' {
				where = " WHERE series = ?"
			}
			dbtest.Exec(t, db, c.do+where, s.Name())
		}
		got := must(gaps.Find(ctx, db, s))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.do, got, c.want)
		}
		bad := slices.ContainsFunc(c.want, func(f gaps.Finding) bool { return f.Kind != gaps.Voided })
		if gaps.Complete(got) == bad {
			t.Errorf("Complete(%+v) = %v", got, !bad)
		}
	}
}

// TestGapsProperty: random ranges against a count of each number in Go. The table needs no index.
func TestGapsProperty(t *testing.T) {
	db, _ := open(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		dbtest.Exec(t, db, "DELETE FROM postcard")
		var used [64]int
		lowest, highest := 99, 0
		for i := range 1 + rnd.IntN(8) {
			from := 1 + rnd.IntN(40)
			to := from + rnd.IntN(12)
			lowest, highest = min(lowest, from), max(highest, to)
			for n := from; n <= to; n++ {
				used[n]++
			}
			dbtest.Exec(t, db, "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES (?, 'c', ?, ?)", fmt.Sprint(i), from, to)
		}
		var missing, twice [64]bool
		for _, f := range must(cards.Find(t.Context(), db, "c")) {
			for n := f.From; n <= f.To; n++ {
				if f.Kind == gaps.Missing {
					missing[n] = true
				} else {
					twice[n] = true
				}
			}
		}
		for n := lowest; n <= highest; n++ {
			if missing[n] != (used[n] == 0) || twice[n] != (used[n] > 1) {
				t.Fatalf("round %d, number %d: in %d ranges, missing %v, overlap %v", round, n, used[n], missing[n], twice[n])
			}
		}
	}
}

// TestVoided: a voided range behind another is voided, and nothing else.
func TestVoided(t *testing.T) {
	db, _ := open(t)
	s := series(t, "s")
	for _, key := range []string{"a", "b"} {
		must(s.Claim(t.Context(), db, key, 2))
	}
	must(s.Void(t.Context(), db, "b", ""))
	if found := must(gaps.Find(t.Context(), db, s)); !slices.Equal(found, []gaps.Finding{{gaps.Voided, 3, 4, "b"}}) {
		t.Error(found)
	}
}

func TestTable(t *testing.T) {
	db, _ := open(t, dbtest.Param("interpolateParams", "false"))
	dbtest.Exec(t, db, `INSERT INTO postcard VALUES ('a', 'x', 5, 6, NULL), ('b', 'y', 7, 9, UTC_TIMESTAMP(6)), ('c', 'x', 10, 10, NULL), ('d', 'x', NULL, NULL, NULL),
 ('e', 'x', 17, NULL, NULL), ('f', 'x', NULL, 30, NULL), ('g', 'x', 11, 14, NULL)`) // half a range is none
	if got := must(cards.Find(t.Context(), db, "x")); !slices.Equal(got, []gaps.Finding{{gaps.Missing, 7, 9, "c"}}) {
		t.Fatal(got)
	}
	whole := cards
	whole.Series = ""
	if got := must(whole.Find(t.Context(), db, "")); !slices.Equal(got, []gaps.Finding{{gaps.Voided, 7, 9, "b"}}) {
		t.Fatal(got)
	}
	whole.Voided = ""
	if got := must(whole.Find(t.Context(), db, "")); got != nil {
		t.Fatal(got)
	}
}

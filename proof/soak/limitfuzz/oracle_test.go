package limitfuzz

import (
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestLedger plants what is a finding, and what is none beside it.
func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   int64
		now    sight
		most   int64
		broken string // "": nothing is
	}{
		{"up to the maximum", 4, sight{used: 5, room: 5, known: true}, 5, ""},
		{"above the maximum", 4, sight{used: 6, room: 6, known: true}, 5, brokenOver},
		{"above a maximum that was lowered, going down", 8, sight{used: 7, room: 7, known: true}, 5, ""},
		{"above a maximum that was lowered, going up", 8, sight{used: 9, room: 9, known: true}, 5, brokenOver},
		{"up to a maximum that was meanwhile", 4, sight{used: 9, room: 9, known: true}, 9, ""},
		{"without a maximum", 4, sight{used: 900, room: 900, known: true}, unlimited, ""},
		{"the room has less", 4, sight{used: 4, room: 5, known: true}, 5, brokenRoom},
		{"the room has more", 4, sight{used: 4, room: 3, known: true}, 5, brokenRoom},
		{"rows have gone, and that is noted", 4, sight{used: 3, room: 4, known: true, noted: true}, 5, ""},
		{"rows have come, and that is noted", 4, sight{used: 5, room: 4, known: true, noted: true}, 5, brokenRoom},
		{"never counted", 4, sight{used: 4}, 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := fuzz.NewFindings(1)
			l := ledger{last: sight{used: c.last}}
			l.look(c.now, c.most, found)
			if found.Any() != (c.broken != "") || c.broken != "" && found.Count(c.broken) != 1 {
				t.Errorf("%q", found.Report())
			}
			if l.last != c.now {
				t.Error("the next snapshot would be compared with an old one")
			}
		})
	}
}

// TestSnapshot: what other programs write past the limit is found by a look, what the shop writes is not.
func TestSnapshot(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	if err := createTables(t.Context(), db, owners); err != nil {
		t.Fatal(err)
	}
	s, err := newShop()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{found: fuzz.NewFindings(1), shop: s, straight: db}
	for i := range w.ledgers {
		w.ledgers[i] = [limits]ledger{{last: sight{version: 1}}, {last: sight{version: 1}}}
	}
	look := func(want ...string) {
		t.Helper()
		if err := w.snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, kind := range want {
			if w.found.Count(kind) == 0 {
				t.Errorf("%q is not among %q", kind, w.found.Report())
			}
		}
		if len(want) == 0 && w.found.Any() {
			t.Errorf("%q", w.found.Report())
		}
	}
	look()
	if err := s.allow(t.Context(), db, 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.files.Create(t.Context(), db, file{UserID: 1, Name: "a", Bytes: 7}); err != nil {
		t.Fatal(err)
	}
	look()
	if l := w.ledgers[0]; l[0].last.used != 1 || !l[0].last.known || l[1].last.used != 7 || l[1].last.maximum != unlimited {
		t.Errorf("%+v", l)
	}
	if _, err := onerow.Affected(t.Context(), db, `INSERT INTO file (user_id, name, name_key, stem_key, bytes, created_at, updated_at)
 SELECT user_id, 'b', 'b', 'b', bytes, created_at, updated_at FROM file`); err != nil {
		t.Fatal(err)
	}
	look(brokenRoom, brokenOver)
}

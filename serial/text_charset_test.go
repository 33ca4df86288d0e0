package serial_test

import (
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestVoidReasonCharset: a reason with an emoji is stored, and read back as it was, on a connection whose
// character set has none.
func TestVoidReasonCharset(t *testing.T) {
	db, _ := open(t, dbtest.Param("charset", "utf8"), dbtest.Param("collation", "utf8_general_ci"))
	s := series(t, "cards")
	if err := sell(t.Context(), db, s, "k", 3); err != nil {
		t.Fatal(err)
	}
	const reason = "the 🦆 has eaten them"
	for range 2 {
		if got, err := s.Void(t.Context(), db, "k", reason); err != nil || got.Row.VoidReason != reason {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got, err := s.Find(t.Context(), db, "k"); err != nil || !got.Voided || got.VoidReason != reason {
		t.Errorf("%+v, %v", got, err)
	}
}

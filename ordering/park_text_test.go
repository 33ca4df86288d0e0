package ordering_test

import (
	"errors"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestParkTexts: a reason with an emoji is stored on a connection whose character set has none.
func TestParkTexts(t *testing.T) {
	for charset, collation := range map[string]string{"utf8": "utf8_general_ci", "latin1": "latin1_swedish_ci"} {
		db, _ := open(t, dbtest.Param("charset", charset), dbtest.Param("collation", collation))
		const reason = "card 💳 refused: 拒绝"
		if fresh, err := ordering.Park(t.Context(), db, "q", "m1", nil, errors.New(reason)); err != nil || !fresh {
			t.Fatalf("%s: %t, %v", charset, fresh, err)
		}
		if all, err := ordering.DeadLetters(t.Context(), db, "q", 0, 10); err != nil || len(all) != 1 || all[0].Reason != reason {
			t.Errorf("%s: %+v, %v", charset, all, err)
		}
	}
}

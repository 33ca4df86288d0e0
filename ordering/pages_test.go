package ordering_test

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestDeadLetterPages: one queue's letters in the order of their parking, with ids beyond 2^31 too.
func TestDeadLetterPages(t *testing.T) {
	db, _ := open(t)
	dbtest.Exec(t, db, "ALTER TABLE onerow_dead_letter AUTO_INCREMENT = 2147483645")
	var want []int64
	for i := range 9 {
		for _, queue := range []string{"q", "q2"} {
			must(ordering.Park(t.Context(), db, queue, fmt.Sprint("m", 9-i), nil, errPoison))
		}
	}
	for i := range 9 {
		want = append(want, dbtest.Scan[int64](t, db, "SELECT id FROM onerow_dead_letter WHERE queue = 'q' AND message_id = ?", fmt.Sprint("m", 9-i)))
	}
	dbtest.Pages(t, want, func(after int64, limit int) (ids []int64) {
		for _, d := range must(ordering.DeadLetters(t.Context(), db, "q", after, limit)) {
			ids = append(ids, d.ID)
		}
		return ids
	})
}

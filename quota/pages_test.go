package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
)

// TestRecheckPages: owners that changed at one time are looked at once each, in pages of any size, with ids
// beyond 2^62 too.
func TestRecheckPages(t *testing.T) {
	db, _ := open(t, order{})
	r := order{}.rule(t)
	owners := []int{1, 2, 9, 10, 11, 1<<31 - 1, 1 << 31, 1 << 40, 1<<62 + 1}
	for _, user := range owners {
		setLimit(t, db, user, 1)
		add(t, db, user, 1, 2)
		recalculate(t, db, r, user)
	}
	for _, batch := range []int{1, 2, len(owners) - 1, len(owners), len(owners) + 1} {
		// Far enough back for what a correction changes now to come behind all of them.
		dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET changed_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR")
		dbtest.Exec(t, db, "UPDATE onerow_quota_owner AS o JOIN (SELECT MIN(changed_at) AS at FROM onerow_quota_owner) AS m SET o.changed_at = m.at")
		dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 0 WHERE user_id <> 9")
		s := quota.NewSweeper(db, quota.Config{Batch: batch, Recheck: 2 * time.Hour, RecheckEvery: time.Hour}, r)
		corrected := 0
		for more := true; more; {
			res, err := s.RunOnce(t.Context())
			if err != nil || res.Failed > 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			corrected += res.Corrected
			more = res.More
		}
		if corrected != len(owners)-1 {
			t.Errorf("in pages of %d: %d of %d owners were corrected", batch, corrected, len(owners)-1)
		}
		for _, user := range owners {
			if err := flags(t.Context(), db, order{}, user); err != nil {
				t.Error(fmt.Errorf("in pages of %d: owner %d: %w", batch, user, err))
			}
		}
	}
}

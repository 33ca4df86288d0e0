package queue

import (
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestClaimsDoNotMeet: of the jobs that a claim tries another one has had none in the meantime.
func TestClaimsDoNotMeet(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) "+cost.Numbers(1000)+
			"SELECT 'project', i, 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= 400")
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 30 {
					c, err := Due(t.Context(), db, []string{"project"}, 40)
					if err != nil || len(c.Due) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					c.value = claimValue("w")
					tried, err := c.take(t.Context(), db, 10*time.Second, 20)
					if err != nil {
						t.Error(err)
						return
					}
					if won := count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE worker = ?", c.value); won != int64(len(tried)) {
						t.Errorf("%d jobs were tried, and %d won", len(tried), won)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestClaimValues: each claim has a value of its own, in which the worker's name is.
func TestClaimValues(t *testing.T) {
	name := dbtext.Fit(strings.Repeat("é#", 200), 200)
	first := claimValue(name)
	if workerName(first) != name || len(first) > 255 {
		t.Errorf("%q", first)
	}
	if second := claimValue(name); second == first {
		t.Errorf("%q twice", second)
	}
}

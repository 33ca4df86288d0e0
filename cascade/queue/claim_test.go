package queue

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
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

// TestClaimAlone: the claim decides by itself, for on a cluster another node has not seen the locks before it.
func TestClaimAlone(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, token, due_at, created_at) VALUES
(1, 'project', '1', 1, 'running', 1, UTC_TIMESTAMP(6) + INTERVAL 9 SECOND, UTC_TIMESTAMP(6)), (2, 'project', '2', 1, 'ready', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
(3, 'project', '3', 1, 'ready', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		if n, err := onerow.Affected(t.Context(), db, sqlClaim+in([]int64{1, 2}), "w", 1_000_000); n != 1 || err != nil {
			t.Errorf("%d claimed, %v", n, err)
		}
		if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(token ORDER BY id) FROM onerow_job"); got != "1,1,0" {
			t.Errorf("tokens %s", got)
		}
	})
}

// TestOneLease: a token is of one job, so another one that has the same number keeps its lease, and its claim.
func TestOneLease(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, worker, token, due_at, created_at) VALUES
(1, 'project', '1', 1, 'running', 'w', 3, '2026-01-01', UTC_TIMESTAMP(6)), (2, 'project', '2', 1, 'running', 'x', 3, '2026-01-01', UTC_TIMESTAMP(6))`)
		job := Claimed{Job: Job{ID: 1, Token: 3, Worker: "w"}, Lease: time.Hour}
		if err := job.Renew(t.Context(), db, ""); err != nil {
			t.Error(err)
		}
		const renewed = "SELECT GROUP_CONCAT(due_at > '2026-01-01', batch_seq ORDER BY id) FROM onerow_job"
		if got := dbtest.Scan[string](t, db, renewed); got != "11,00" {
			t.Errorf("renewed are %s", got)
		}
		if ours, err := job.Return(t.Context(), db, Ready, 1, errors.New("x"), 0); err != nil || !ours {
			t.Errorf("%t, %v", ours, err)
		}
		if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(state, failures ORDER BY id) FROM onerow_job"); got != "ready1,running0" {
			t.Errorf("given back are %s", got)
		}
		if err := job.Renew(t.Context(), db, ""); !errors.Is(err, fault.ErrLeaseLost) {
			t.Errorf("the lease of a job that was given back is renewed: %v", err)
		}
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running'")
		err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return job.End(ctx, tx, Done, "nothing") })
		if got := dbtest.Scan[string](t, db, "SELECT CONCAT((SELECT GROUP_CONCAT(id) FROM onerow_job WHERE last_error IS NULL), '|', (SELECT GROUP_CONCAT(id) FROM onerow_job_archive))"); got != "2|1" || err != nil {
			t.Errorf("ended are %s, %v", got, err)
		}
	})
}

package cascade

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// TestLeaseIsRenewedWhileReading: a third of a lease before it ends, whatever its length.
func TestLeaseIsRenewedWhileReading(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		for _, c := range []struct {
			lease, ago time.Duration
			renews     bool
		}{{time.Second, 400 * time.Millisecond, true}, {time.Minute, 19 * time.Second, false}, {time.Minute, 21 * time.Second, true}} {
			job := condemn(t, db, 1, 0)
			w := quiet(t, worker(t, db, Config{Lease: c.lease}))
			won, err := w.claim(t.Context(), w.cfg.ClaimJobs)
			if err != nil || len(won.Jobs) != 1 {
				t.Fatal(won, err)
			}
			l := &lease{Worker: w, job: won.Jobs[0], fenced: time.Now().Add(-c.ago)}
			if l.graph, err = w.current(t.Context()); err != nil {
				t.Fatal(err)
			}
			const seq = "SELECT batch_seq FROM onerow_job WHERE id = ?"
			before := count(t, db, seq, job.ID)
			if err := l.Keep(t.Context()); err != nil {
				t.Error(err)
			}
			if renewed := count(t, db, seq, job.ID) > before; renewed != c.renews {
				t.Errorf("a lease of %s, %s after its last renewal: renewed %t", c.lease, c.ago, renewed)
			}
			if err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return l.job.End(ctx, tx, queue.Done, "") }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

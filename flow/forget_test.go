package flow_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// between is a pool on which something happens before its first transaction begins.
type between struct {
	*sql.DB
	first func()
}

func (b *between) Conn(ctx context.Context) (*sql.Conn, error) {
	if first := b.first; first != nil {
		b.first = nil
		first()
	}
	return b.DB.Conn(ctx)
}

// TestForgetWhatRunsAgain: a request that somebody else forgets after Forget has found it, and that is
// admitted anew, is not old any more: it keeps its step, while it runs and when it has ended.
func TestForgetWhatRunsAgain(t *testing.T) {
	for _, ended := range []bool{false, true} {
		db, _ := open(t)
		ctx, r := t.Context(), run("", "a")
		must(flow.Claim(ctx, db, r))
		must(flow.Finish(ctx, db, r))
		dbtest.Exec(t, db, "UPDATE onerow_flow_request SET ended_at = ended_at - INTERVAL 2 DAY")
		n, err := flow.Forget(ctx, &between{db, func() {
			must(flow.Forget(ctx, db, 24*time.Hour, 10))
			must(flow.Claim(ctx, db, r))
			must(flow.Await(ctx, db, r, "card", nil))
			if ended {
				must(flow.Finish(ctx, db, r))
			}
		}}, 24*time.Hour, 10)
		if err != nil {
			t.Fatal(err)
		}
		if steps := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_step"); steps != 1 || dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_request") != 1 {
			t.Errorf("ended again %v: %d forgotten, %d steps are left", ended, n, steps)
		}
	}
}

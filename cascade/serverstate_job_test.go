package cascade

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestServerStateOfOneJob: a state of the server that only one job meets ends its turn and not the others',
// and makes it rest longer and longer. It never dies of it.
func TestServerStateOfOneJob(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		for id := range int64(3) {
			project(t, db, id+1)
			insert(t, db, "note", map[string]any{"project_id": id + 1})
		}
		fillGone(t, db)
		dbtest.Exec(t, db, `CREATE TRIGGER no_room AFTER DELETE ON note FOR EACH ROW
			BEGIN IF OLD.project_id = 1 THEN INSERT INTO gone VALUES (OLD.id, 'x'); END IF; END`)
		bad, second, third := condemn(t, db, 1, 0), condemn(t, db, 2, 0), condemn(t, db, 3, 0)
		w := worker(t, db, Config{MaxFailures: 2})
		if n, err := w.RunOnce(t.Context()); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		for _, job := range []queue.Job{second, third} {
			if got := get(t, db, job.ID); got.State != queue.Done || got.Token != 1 {
				t.Errorf("%+v", got)
			}
		}
		const rest = "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), due_at) FROM onerow_job WHERE id = ?"
		for n := 2; n <= 12; n++ {
			makeDue(t, db, bad.ID)
			if _, err := w.RunOnce(t.Context()); !errors.Is(err, fault.ErrServerState) { // it is all that there is
				t.Fatal(err)
			}
			want := min(backoff.First<<(n-1), backoff.Long)
			if got := time.Duration(count(t, db, rest, bad.ID)) * time.Microsecond; got < want/4 || got > 2*want {
				t.Errorf("the %d. rest is %s, want about %s", n, got, want)
			}
		}
		if got := get(t, db, bad.ID); got.State != queue.Ready || got.Failures != 0 || got.Parked != 0 || !strings.Contains(got.LastError, "1114") {
			t.Errorf("%+v", got)
		}
		dbtest.Exec(t, db, "DROP TRIGGER no_room")
		makeDue(t, db, bad.ID)
		drain(t, w)
		if got := get(t, db, bad.ID); got.State != queue.Done || len(w.setbacks.of) != 0 {
			t.Errorf("%+v, %v", got, w.setbacks.of)
		}
	})
}

// TestSetbacks: they are counted until a batch of the job deletes something, and not without bound.
func TestSetbacks(t *testing.T) {
	var s setbacks
	for want := 1; want <= 3; want++ {
		if got := s.another(7); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if s.end(7); s.another(7) != 1 {
		t.Error("they go on")
	}
	for job := range int64(3 * maxSetbacks) {
		s.another(job)
	}
	if n := len(s.of); n > maxSetbacks {
		t.Errorf("%d are kept", n)
	}
}

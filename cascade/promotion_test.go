package cascade

import (
	"context"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestNotYetPromoted: a worker that starts while the server takes no writes waits until it does.
func TestNotYetPromoted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	server := alone(t) // for it is switched
	admin := dbtest.OpenDSN(t, server.DSN("app"))
	dbtest.Exec(t, admin, "CREATE USER app@'%' IDENTIFIED BY 'app'") // root writes whatever is set
	dbtest.Exec(t, admin, "GRANT ALL ON app.* TO app@'%'")
	config := server.Config("app")
	config.User, config.Passwd = "app", "app"
	w := worker(t, dbtest.OpenDSN(t, config.FormatDSN()), Config{Poll: 50 * time.Millisecond})

	for id, run := range map[int64]func(context.Context) error{1: w.Drain, 2: w.Run} {
		project(t, admin, id)
		job := condemn(t, admin, id, 0)
		dbtest.Exec(t, admin, "SET GLOBAL read_only = 1")
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- run(running) }()
		select {
		case err := <-ended:
			t.Fatalf("%d ended while the server was read-only: %v", id, err)
		case <-time.After(time.Second):
		}
		if got := get(t, admin, job.ID); got.State != queue.Ready {
			t.Errorf("%d: %+v", id, got)
		}
		dbtest.Exec(t, admin, "SET GLOBAL read_only = 0")
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			got := get(t, admin, job.ID)
			return got.State == queue.Done, string(got.State) + " " + got.LastError
		})
		if id == 2 { // Run goes on until it is told to end
			stop()
		}
		if err := <-ended; err != nil {
			t.Errorf("%d: %v", id, err)
		}
		stop()
	}
}

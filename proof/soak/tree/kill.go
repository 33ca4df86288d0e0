package tree

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"time"

	"github.com/onerow/onerow"
)

// kill runs workers, of which one is killed each second, while jobs arrive.
type kill struct {
	minutes float64
	workers int
	seed    uint64
}

// crew is the worker processes.
type crew struct {
	ctx  context.Context
	dsn  string
	mu   sync.Mutex
	cmds []*exec.Cmd
}

func (c *crew) hire(i int) error {
	cmd, err := start(c.ctx, c.dsn, "-tokens", "-lease", "700ms")
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cmds[i] = cmd
	return cmd.Start()
}

// shoot kills a worker, waits for its end and hires another.
func (c *crew) shoot(i int) error {
	if err := c.cmds[i].Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := c.cmds[i].Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return c.hire(i)
}

// dismiss ends all workers as SIGTERM would.
func (c *crew) dismiss(cancel context.CancelFunc) {
	cancel()
	for _, cmd := range c.cmds {
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Println("a worker ended with:", err)
		}
	}
}

func (k *kill) run(ctx context.Context) (err error) {
	server, db, err := begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), server.Close()) }()
	fmt.Printf("%d workers, one killed each second for %.1f minutes, seed %d\n", k.workers, k.minutes, k.seed)
	random := rand.New(rand.NewPCG(k.seed, 1)) //nolint:gosec // a soak, not a secret
	working, dismiss := context.WithCancel(ctx)
	defer dismiss()
	c := &crew{ctx: working, dsn: server.DSN(database), cmds: make([]*exec.Cmd, k.workers)}
	for i := range c.cmds {
		if err := c.hire(i); err != nil {
			return err
		}
	}
	want := map[int64]int64{} // job → rows below its root
	kills, until := 0, time.Now().Add(time.Duration(k.minutes*float64(time.Minute)))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for time.Now().Before(until) && ctx.Err() == nil {
		if err := k.feed(ctx, db, random, want); err != nil {
			return err
		}
		select {
		case <-tick.C:
			if err := c.shoot(random.IntN(k.workers)); err != nil {
				return err
			}
			kills++
		default:
		}
	}
	c.dismiss(dismiss)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.finish(ctx, db); err != nil {
		return err
	}
	return k.check(ctx, db, want, kills)
}

// finish drains the queue. What the last killed workers held is due when its lease
// ends, so it is drained again until no job is open, for a while.
func (c *crew) finish(ctx context.Context, db *sql.DB) error {
	for range 30 {
		if _, err := drained(ctx, c.dsn, "-tokens"); err != nil {
			return err
		}
		var open int64
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job", nil, &open); err != nil || open == 0 {
			return err
		}
		pause(ctx, 500*time.Millisecond)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// openJobs keeps the workers busy.
const openJobs = 40

// feed queues accounts while few jobs are open.
func (k *kill) feed(ctx context.Context, db *sql.DB, random *rand.Rand, want map[int64]int64) error {
	var open int64
	if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job", nil, &open); err != nil {
		return err
	}
	if open >= openJobs {
		pause(ctx, 20*time.Millisecond)
		return nil
	}
	account, below, err := plant(ctx, db, 100+random.IntN(20_000))
	if err != nil {
		return err
	}
	job, err := condemn(ctx, db, account)
	want[job.ID] = below
	return err
}

// sqlSuperseded finds batches that committed under a token although a batch of a later
// claim had committed before: a job's log entries are in the order of its row's lock.
const sqlSuperseded = `SELECT COUNT(*) FROM (SELECT token, MAX(token) OVER (PARTITION BY job_id ORDER BY id) AS newest FROM token_log) AS t WHERE token < newest`

func (k *kill) check(ctx context.Context, db *sql.DB, want map[int64]int64, kills int) error {
	var open, lost, wrong, takeovers, batches, superseded, left int64
	rows := int64(0)
	for id, below := range want {
		_, job, err := took(ctx, db, id)
		if err != nil {
			lost++
			fmt.Println(err)
			continue
		}
		if job.Token > 1 {
			takeovers += job.Token - 1
		}
		if rows += below; job.DeletedRows != below {
			wrong++
			fmt.Printf("job %d: %d rows were below its root, it counted %d\n", id, below, job.DeletedRows)
		}
	}
	for query, n := range map[string]*int64{
		"SELECT COUNT(*) FROM onerow_job": &open,
		"SELECT COUNT(*) FROM token_log":  &batches,
		sqlSuperseded:                     &superseded,
		"SELECT (SELECT COUNT(*) FROM account) + (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM item) + (SELECT COUNT(*) FROM event)": &left,
	} {
		if err := onerow.QueryRow(ctx, db, query, nil, n); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d kills, %d jobs, %d rows, %d batches, %d times a job was claimed again\n", kills, len(want), rows, batches, takeovers)
	fmt.Printf("jobs lost %d · jobs still open %d · counts wrong %d · rows left %d · batches under a superseded token %d\n", lost, open, wrong, left, superseded)
	if lost+open+wrong+left+superseded > 0 {
		return errors.New("a promise is broken")
	}
	if batches == 0 || kills == 0 {
		return errors.New("nothing was shown: no batches or no kills")
	}
	return nil
}

package tree

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// trash deletes millions of rows below one root, which are kept, and brings them back, by processes of which
// each is killed before long. What is there in the end is compared with what was there, and the most memory
// that any of them had with what it takes for few rows.
type trash struct {
	rows, small int
	every       time.Duration
}

// kept is the plan with a trash.
func kept() schema.Plan {
	plan := plan
	plan.Trash = schema.Age(24 * time.Hour)
	return plan
}

func (s *trash) run(ctx context.Context) (err error) {
	server, db, err := begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), server.Close()) }()
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return err
	}
	ddl, err := cat.TrashDDL(kept())
	for _, stmt := range ddl {
		if err == nil {
			_, err = db.ExecContext(ctx, stmt)
		}
	}
	if err == nil {
		err = live.Verify(ctx, db, kept())
	}
	if err != nil {
		return err
	}
	small, err := s.thereAndBack(ctx, db, server.DSN(database), s.small)
	if err != nil {
		return err
	}
	large, err := s.thereAndBack(ctx, db, server.DSN(database), s.rows)
	if err != nil {
		return err
	}
	fmt.Printf("\nmemory: %+.1f MB for %d rows over %d   (promised: within %d MB)\n", float64(large-small)/(1<<20), s.rows, s.small, memoryWithin>>20)
	if large-small > memoryWithin {
		return errors.New("a promise is broken")
	}
	return nil
}

// thereAndBack plants, deletes and restores, and compares.
func (s *trash) thereAndBack(ctx context.Context, db *sql.DB, dsn string, rows int) (peak int64, err error) {
	account, below, err := plant(ctx, db, rows)
	if err != nil {
		return 0, err
	}
	before, err := checksums(ctx, db)
	if err != nil {
		return 0, err
	}
	job, err := condemn(ctx, db, account)
	if err != nil {
		return 0, err
	}
	done := func() (bool, error) {
		var open int64
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job", nil, &open)
		return open == 0, err
	}
	peak, err = s.untilDone(ctx, "deleted", below, done, dsn, "worker", "-trash", "-drain", "-lease", "700ms")
	if err != nil {
		return 0, err
	}
	if job, err = queue.Get(ctx, db, job.ID); err == nil && (job.State != queue.Done || job.DeletedRows != below) {
		err = fmt.Errorf("the job is %s and has deleted %d rows of %d: %s", job.State, job.DeletedRows, below, job.LastError)
	}
	if err != nil {
		return 0, err
	}
	back := func() (bool, error) {
		job, err := queue.Get(ctx, db, job.ID)
		return job.State == queue.Restored, err
	}
	most, err := s.untilDone(ctx, "restored", below, back, dsn, "restore", "-job", strconv.FormatInt(job.ID, 10))
	if err != nil {
		return 0, err
	}
	after, err := checksums(ctx, db)
	if err == nil && after != before {
		err = fmt.Errorf("the tables are not as before: %s, were %s", after, before)
	}
	return max(peak, most), err
}

// untilDone starts a process again and again, and kills each after a while, until the work is done. It
// returns the most memory that one of them had.
func (s *trash) untilDone(ctx context.Context, what string, rows int64, done func() (bool, error), dsn string, mode string, args ...string) (peak int64, err error) {
	kills, begun := 0, time.Now()
	for {
		cmd, err := itself(ctx, mode, args)
		if err != nil {
			return 0, err
		}
		cmd.Env = append(os.Environ(), envDSN+"="+dsn)
		var said strings.Builder
		cmd.Stdout = &said
		ended := make(chan error, 1)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		go func() { ended <- cmd.Wait() }()
		timer := time.NewTimer(s.every)
		select {
		case err = <-ended:
			if err == nil {
				var used int64
				used, err = strconv.ParseInt(strings.TrimSpace(said.String()), 10, 64)
				peak = max(peak, used)
			}
		case <-timer.C:
			used, uerr := peakOf(cmd.Process.Pid)
			peak = max(peak, used)
			kerr := cmd.Process.Kill()
			if err = <-ended; kerr == nil {
				kills++
			}
			err = errors.Join(uerr, asKilled(err))
		}
		timer.Stop()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", mode, err)
		}
		ok, err := done()
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
	}
	d := time.Since(begun)
	fmt.Printf("%d rows %s in %v, %.0f rows/s, %d processes killed on the way, at most %.1f MB of memory each\n", rows, what, d.Round(time.Millisecond),
		float64(rows)/d.Seconds(), kills, float64(peak)/(1<<20))
	return peak, nil
}

// asKilled is nil for a process that was killed or has ended well.
func asKilled(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return nil
	}
	return err
}

// checksums are those of all tables, which do not depend on the order of rows.
func checksums(ctx context.Context, db *sql.DB) (text string, err error) {
	return text, onerow.Query(ctx, db, "CHECKSUM TABLE account, project, item, event", nil, func(rows *sql.Rows) error {
		var table string
		var sum sql.NullInt64
		err := rows.Scan(&table, &sum)
		text += fmt.Sprintf(" %s %d", table, sum.Int64)
		return err
	})
}

// peakOf is the most memory that a process has had resident, in bytes; 0 if it has ended.
func peakOf(pid int) (n int64, err error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), "VmHWM:"); found {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes * 1024, err
		}
	}
	return 0, nil
}

// restorer brings the rows of a job back, in a process of its own.
type restorer struct{ job int64 }

func (r *restorer) run(ctx context.Context) error {
	db, err := pool.Open(os.Getenv(envDSN))
	if err != nil {
		return err
	}
	_, p, err := recover.Job(ctx, db, kept(), r.job, recover.Options{})
	if err == nil && p.Stuck > 0 {
		err = fmt.Errorf("%d rows could not come back: %s", p.Stuck, p.Why)
	}
	peak, measured := peakOf(os.Getpid())
	if err = errors.Join(err, measured, db.Close()); err != nil {
		return err
	}
	_, err = fmt.Println(peak)
	return err
}

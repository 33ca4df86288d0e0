package tree

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/hosts"
)

// child is a worker in a process of its own.
type child struct {
	target, lease        time.Duration
	load                 float64
	drain, tokens, trash bool
}

const envDSN = "CASCADESOAK_DSN"

func (c *child) run(ctx context.Context) error {
	cfg, err := mysql.ParseDSN(os.Getenv(envDSN))
	if err != nil {
		return err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	if c.tokens {
		connector = logging{connector}
	}
	db := sql.OpenDB(hosts.ReadCommitted(connector))
	plan := plan
	if c.trash {
		plan = kept()
	}
	w, err := cascade.NewWorker(db, plan, cascade.Config{Target: c.target, Load: c.load, Lease: c.lease, Poll: 50 * time.Millisecond})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if c.drain {
		if err = w.Drain(ctx); ctx.Err() != nil {
			err = nil // it was told to end
		}
	} else {
		err = w.Run(ctx)
	}
	peak, measured := peakOf(os.Getpid())
	if err = errors.Join(err, measured, db.Close()); err != nil {
		return err
	}
	_, err = fmt.Println(peak)
	return err
}

// start begins a worker process.
func start(ctx context.Context, dsn string, args ...string) (*exec.Cmd, error) {
	cmd, err := itself(ctx, "worker", args)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), envDSN+"="+dsn)
	return cmd, nil
}

// itself is this program in a process of its own, told to end with ctx.
func itself(ctx context.Context, what string, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{what}, args...)...) //nolint:gosec // itself
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// drained runs a worker process until the queue is empty and returns its peak memory.
func drained(ctx context.Context, dsn string, args ...string) (peak int64, err error) {
	cmd, err := start(ctx, dsn, append(args, "-drain")...)
	if err != nil {
		return 0, err
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("the worker: %w", err)
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// logging is a connector whose sessions write the token of each fence that they run
// to token_log, in the fence's transaction and with the token that the worker believes
// in, whatever came of the fence: what commits under a superseded token shows.
type logging struct{ driver.Connector }

func (l logging) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn.(mysqlConn)}, nil
}

// mysqlConn is what go-sql-driver's connections can do.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// session logs the fences that it runs, and passes everything on.
type session struct{ mysqlConn }

const (
	fence      = "UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at"
	logFence   = "INSERT INTO token_log (job_id, token, pid) VALUES (?, ?, ?)"
	fenceJob   = 1 // where the fence has the job's id and the token among its arguments
	fenceToken = 2
)

// ExecContext writes the log beside a fence.
func (s *session) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := s.mysqlConn.ExecContext(ctx, query, args)
	if err != nil || !strings.HasPrefix(query, fence) {
		return res, err
	}
	entry := []driver.NamedValue{{Ordinal: 1, Value: args[fenceJob].Value}, {Ordinal: 2, Value: args[fenceToken].Value}, {Ordinal: 3, Value: int64(os.Getpid())}}
	if _, err := s.mysqlConn.ExecContext(ctx, logFence, entry); err != nil {
		return nil, err
	}
	return res, nil
}

package load

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/pool"
)

// The roles of a process.
const (
	Web    = "web"
	Worker = "worker"
)

// Config is what a process of the soak is told, as the first line of its standard input.
type Config struct {
	// Role is Web or Worker.
	Role string
	// Name is unique in a run: it is part of fresh request ids and keys.
	Name string
	// DSN leads through a proxy, or several.
	DSN string
	// Several says that there are several servers: the pool is then one of pool.Open.
	Several bool
	// Cluster says that all of them take writes.
	Cluster bool
	// Journal is the file for the journal of a web process.
	Journal string
	// Clients is how many clients a web process has.
	Clients int
	// Owners is how many owners there are.
	Owners int
	// Seed of the process's random numbers.
	Seed uint64
	// Began is when the soak began, in nanoseconds since 1970: shared keys are drawn by the time since.
	Began int64
}

// Tick is a line on the standard output of a process: what it has done so far.
type Tick struct{ OK, Refused, Failed, Unknown, Connections int64 }

// Run is the life of a process: it ends by itself, having finished what it was doing, when the standard input
// does. A killed one just ends.
func Run(in io.Reader, out io.Writer) (err error) {
	lines := json.NewDecoder(in)
	var cfg Config
	if err := lines.Decode(&cfg); err != nil {
		return fmt.Errorf("soak: read the configuration: %w", err)
	}
	var connections atomic.Int64
	db, err := open(cfg, &connections)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(cfg.Clients + 4)
	db.SetMaxIdleConns(cfg.Clients + 4)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with the process
		for {
			var more any
			if err := lines.Decode(&more); err != nil {
				cancel()
				return
			}
		}
	}()
	switch cfg.Role {
	case Web:
		return runWeb(ctx, db, cfg, &connections, out)
	case Worker:
		return runWorker(ctx, db, cfg.Cluster, &connections, out)
	}
	return fmt.Errorf("soak: there is no role %q", cfg.Role)
}

// open is a pool that counts the connections it makes, or, for several servers, one of pool.Open. One
// process in two sends together what may be, the others each statement by itself.
func open(c Config, connections *atomic.Int64) (*sql.DB, error) {
	if c.Several {
		return pool.Open(c.DSN)
	}
	cfg, err := mysql.ParseDSN(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{Timeout: cfg.Timeout}).DialContext(ctx, network, addr)
		if err == nil {
			connections.Add(1)
		}
		return conn, err
	}
	var connector driver.Connector
	if c.Seed>>40&1 == 0 { // the seeds of two processes next to each other differ there
		connector, err = pool.NewConnector(cfg)
	} else {
		connector, err = mysql.NewConnector(cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// tell says once a second what a process has done, and once more when ctx has ended and done has.
func tell(ctx context.Context, out io.Writer, tick func() Tick, done func()) error {
	lines := json.NewEncoder(out)
	var err error
	for err == nil && pause(ctx, time.Second) {
		err = lines.Encode(tick())
	}
	done()
	return errors.Join(err, lines.Encode(tick()))
}

// pause waits, or returns false when the process ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

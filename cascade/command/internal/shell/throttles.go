package shell

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// EnvReplicas stands in for --replica: DSNs, with spaces between them.
const EnvReplicas = "ONEROW_REPLICAS"

// ThrottleFlags say when a worker waits for what is more important.
type ThrottleFlags struct {
	MaxThreadsRunning int           `placeholder:"N" help:"Wait while the server executes more than N statements at once, the worker's own among them."`
	MaxLag            time.Duration `placeholder:"TIME" help:"Wait while a replica is further behind, or does not replicate."`
	Replica           []string      `sep:"none" placeholder:"DSN" help:"A replica for --max-lag; once for each. Better in the environment ($$ONEROW_REPLICAS, with spaces between them)."`
	ThrottleQuery     []string      `sep:"none" placeholder:"SQL" help:"Wait while this query's only value is neither empty, NULL nor 0; the value is the reason. It may be given more than once."`
	Load              *Load         `placeholder:"SHARE" help:"The share of the time that batches may take, from 0.01 to 1 (1; a worker gives way while others use the server, and has a quarter)."`
}

// replicas are the DSNs that were given.
func (f ThrottleFlags) replicas(a *App) []string {
	if len(f.Replica) > 0 {
		return f.Replica
	}
	return strings.Fields(a.Getenv(EnvReplicas))
}

// AfterApply refuses flags that contradict each other.
func (f ThrottleFlags) AfterApply(a *App) error {
	switch replicas := f.replicas(a); {
	case f.MaxThreadsRunning < 0:
		return usage.Errorf("--max-threads-running is %d; it should be 1 or more", f.MaxThreadsRunning)
	case f.MaxLag < 0:
		return usage.Errorf("--max-lag is %s; it should be a time like 10s", f.MaxLag)
	case f.MaxLag > 0 && f.MaxLag < time.Second:
		return usage.Errorf("--max-lag is %s; servers measure whole seconds, so it should be 1s or more", f.MaxLag)
	case f.MaxLag > 0 && len(replicas) == 0:
		return usage.Errorf("--max-lag needs a replica to ask: set --replica or %s", EnvReplicas)
	case f.MaxLag == 0 && len(f.Replica) > 0:
		return usage.Errorf("--replica needs --max-lag: how far may it be behind?")
	}
	for _, query := range f.ThrottleQuery {
		if strings.TrimSpace(query) == "" {
			return usage.Errorf("--throttle-query is empty")
		}
	}
	return nil
}

// Ask asks each query once: a worker with one that the server refuses would wait for ever. A slow one is no
// reason not to begin.
func (f ThrottleFlags) Ask(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for _, query := range f.ThrottleQuery {
		if _, err := governor.Query(query).Reason(ctx, db); err != nil && ctx.Err() == nil {
			return usage.Errorf("--throttle-query %q: %w", query, err)
		}
	}
	return nil
}

// Throttles makes what the flags ask for. Nothing is asked yet, see [App.Replicas].
func (a *App) Throttles(f ThrottleFlags) ([]governor.Throttle, error) {
	replicas, err := a.Replicas(f)
	return governor.Throttles(f.MaxThreadsRunning, f.MaxLag, replicas, f.ThrottleQuery), err
}

// Replicas makes a pool for each replica that is to be asked. None is opened yet: for one that cannot be
// reached the worker waits, it does not end.
func (a *App) Replicas(f ThrottleFlags) (pools []*sql.DB, err error) {
	if f.MaxLag == 0 {
		return nil, nil
	}
	for _, dsn := range f.replicas(a) {
		db, err := openReplica(dsn)
		if err != nil {
			return nil, err
		}
		a.close = append(a.close, db.Close)
		pools = append(pools, db)
	}
	return pools, nil
}

// openReplica makes a small pool. Its errors have nothing of the DSN in them.
func openReplica(dsn string) (*sql.DB, error) {
	cfg, err := ParseDSN(dsn)
	if err != nil {
		return nil, usage.Errorf("a replica's DSN (--replica or %s): %w", EnvReplicas, err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, usage.Errorf("a replica's DSN (--replica or %s) has settings that contradict each other; it should be %s", EnvReplicas, dsnForm)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(2)
	return db, nil
}

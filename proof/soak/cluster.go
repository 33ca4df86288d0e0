package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/compare"
)

// cluster is a site whose every node takes writes.
type cluster struct {
	kind devdb.ClusterKind
	now  *devdb.Cluster
	dbs  []*sql.DB // of an administrator, for each node
}

func newCluster(s *soak) *cluster {
	c := &cluster{kind: devdb.Galera}
	if s.kind == group {
		c.kind = devdb.Group
	}
	return c
}

// chooseGalera sets the environment so that devdb finds what Galera needs.
func chooseGalera(ctx context.Context) error {
	if os.Getenv(devdb.EnvGalera) != "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "scripts/get-galera")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("soak: scripts/get-galera; or set %s to its folder: %w", devdb.EnvGalera, err)
	}
	return os.Setenv(devdb.EnvGalera, strings.TrimSpace(string(out)))
}

func (c *cluster) start(ctx context.Context) (err error) {
	if c.now, err = devdb.StartCluster(ctx, c.kind, devdb.ClusterOptions{Durable: true}); err != nil {
		return err
	}
	if err := c.now.Server(0).CreateDatabase(ctx, database); err != nil {
		return err
	}
	for i := range c.now.Nodes() {
		db, err := sql.Open("mysql", c.now.DSN(i, ""))
		if err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		db.SetMaxIdleConns(-1) // the last one may be dead
		c.dbs = append(c.dbs, db)
	}
	_, err = settled(ctx, patience, func() (bool, error) { return c.agreed(ctx), nil })
	return err
}

func (c *cluster) name() string {
	s := c.now.Server(0)
	how := "a Galera cluster of %d nodes"
	if c.kind == devdb.Group {
		how = "Group Replication with %d primaries"
	}
	return fmt.Sprintf("%s %s, "+how, s.Engine(), s.Version(), c.nodes())
}

func (c *cluster) nodes() int               { return c.now.Nodes() }
func (c *cluster) upstream(node int) string { return c.now.Addr(node) }
func (c *cluster) deaths() []time.Time      { return nil } // the others have it

func (c *cluster) config() *mysql.Config { return c.now.Server(0).Config(database) }

func (c *cluster) open() (*sql.DB, error) { return pool.Open(c.now.DSN(0, database)) }

// How many members a node sees; tables in memory.
const (
	galeraMembers = `SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'wsrep_cluster_size'
  AND EXISTS (SELECT 1 FROM information_schema.global_status WHERE variable_name = 'wsrep_local_state_comment' AND variable_value = 'Synced')`
	groupMembers = `SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE'`
)

// agreed says whether every node sees all nodes.
func (c *cluster) agreed(ctx context.Context) bool {
	query := galeraMembers
	if c.kind == devdb.Group {
		query = groupMembers
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, db := range c.dbs {
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil || n != c.nodes() {
			return false
		}
	}
	return true
}

// joinPatience is for a node that copies all data while others want the processors.
const joinPatience = 6 * time.Minute

// joined brings a node back. One that goes on after a pause may not know yet that it is no member any more,
// so all nodes must see each other twice. A copy of the data that fails is begun again.
func (c *cluster) joined(ctx context.Context, node int) error {
	times, failed := 0, error(nil)
	ok, err := settled(ctx, joinPatience, func() (bool, error) {
		if !c.agreed(ctx) {
			times, failed = 0, c.now.Rejoin(ctx, node)
			return false, nil
		}
		times++
		pause(ctx, time.Second)
		return times > 1, nil
	})
	if err == nil && !ok {
		err = errors.Join(fmt.Errorf("soak: the nodes do not see each other %v after node %d was to come back", joinPatience, node), failed)
	}
	return err
}

func (c *cluster) trouble(ctx context.Context, s *soak, r *rand.Rand) error {
	between := s.every(24, 2*time.Second, 8*time.Second)
	for n := r.IntN(len(s.trouble)); pause(ctx, about(r, between)); n++ {
		what, node := s.trouble[n%len(s.trouble)], r.IntN(c.nodes())
		if err := c.one(ctx, s, r, what, node); err != nil {
			return fmt.Errorf("%w (%s of node %d)", err, what, node)
		}
	}
	return nil
}

// one is one thing that happens to one node.
func (c *cluster) one(ctx context.Context, s *soak, r *rand.Rand, what string, node int) error {
	after := context.WithoutCancel(ctx)
	begin, end, length := c.happening(s, what, node)
	length += time.Duration(r.Int64N(int64(5 * time.Second)))
	if err := begin(after); err != nil {
		return err
	}
	// The load goes on to meet the node until somebody notices, sometimes all the time.
	noticed := time.Duration(r.Int64N(int64(4 * time.Second)))
	pause(ctx, min(noticed, length))
	if err := s.route(node); err != nil {
		return err
	}
	pause(ctx, length-min(noticed, length))
	if err := end(after); err != nil {
		return err
	}
	if err := c.joined(after, node); err != nil {
		return err
	}
	return s.route()
}

const (
	isolate = `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'`
	heal    = `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'`
)

// happening is how something begins and ends, and how long it must last at least.
func (c *cluster) happening(s *soak, what string, node int) (begin, end func(ctx context.Context) error, least time.Duration) {
	nothing := func(context.Context) error { return nil }
	set := func(stmt string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if _, err := c.dbs[node].ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("soak: %w: %s", err, stmt)
			}
			return nil
		}
	}
	stop := func(context.Context) error { return c.now.Pause(node) }
	goOn := func(context.Context) error { return c.now.Continue(node) }
	switch {
	case what == kill:
		s.chaos.serverKills.Add(1)
		return func(context.Context) error { return c.now.Kill(node) }, nothing, 0
	case what == cut && c.kind == devdb.Galera:
		s.chaos.partitions.Add(1)
		return set(isolate), set(heal), 4 * time.Second
	case what == cut: // it is suspected after 5 seconds and expelled at once
		s.chaos.partitions.Add(1)
		return stop, goOn, 8 * time.Second
	}
	s.chaos.pauses.Add(1)
	return stop, goOn, time.Second / 2
}

func (c *cluster) settle(ctx context.Context, s *soak) error {
	s.chaos.serverKills.Add(1)
	return errors.Join(c.now.Kill(c.nodes()-1), c.joined(ctx, c.nodes()-1))
}

func (c *cluster) differ(ctx context.Context) (differ []string, err error) {
	var all []*sql.DB
	for i := range c.nodes() {
		db, err := sql.Open("mysql", c.now.DSN(i, database))
		if err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		all = append(all, db)
	}
	return compare.Differ(ctx, all, patience)
}

func (c *cluster) keep(ctx context.Context, dir string) error {
	for i := range c.nodes() {
		db, err := sql.Open("mysql", c.now.DSN(i, database))
		if err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		if err := errors.Join(compare.Dump(ctx, db, filepath.Join(dir, fmt.Sprint("node", i))), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) close() error {
	if c.now == nil {
		return nil
	}
	var errs []error
	for _, db := range slices.Clone(c.dbs) {
		errs = append(errs, db.Close())
	}
	return errors.Join(append(errs, c.now.Close())...)
}

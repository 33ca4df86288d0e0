//go:build linux || darwin || freebsd || netbsd || openbsd

package devdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ClusterKind says how the servers of a [Cluster] agree.
type ClusterKind string

// The clusters whose every node takes writes.
const (
	Galera ClusterKind = "galera" // MariaDB Galera; what it needs beside a MariaDB is in the folder of [EnvGalera]
	Group  ClusterKind = "group"  // MySQL Group Replication, every member a primary
)

// ClusterOptions of [StartCluster]. The zero value is what tests want: three nodes, nothing flushed to a
// disk.
type ClusterOptions struct {
	Nodes   int          // 0: three
	Durable bool         // flush each commit: for tests about machines that lose power
	Env     []string     // as in [Options]
	Args    []string     // further flags for each server, behind those of this package, so they win
	Log     *slog.Logger // nil: silence
}

// Cluster is several servers on this machine that replicate to each other. Nodes are numbered from 0. Its
// methods may be called from several goroutines, but those that end or start a node not for the same node at
// once.
type Cluster struct {
	kind  ClusterKind
	nodes []*node
	ports *portBlock

	closing  sync.Once
	closeErr error
}

// node is a private server with what its cluster needs to know.
type node struct {
	*private
	server *Server // how others reach it
	admin  *sql.DB // through its socket, which is there before the node has joined
	clusterPorts
}

// clusterPatience is how long a node may take to start and to have what the others have: seconds, but minutes
// where many servers share two processors.
const clusterPatience = 5 * time.Minute

// StartCluster starts the servers, which are throw-away and end with this process, and returns when each
// has joined. The program is found as for [Start], and must be of the right engine. ctx bounds the start
// only.
func StartCluster(ctx context.Context, kind ClusterKind, o ClusterOptions) (_ *Cluster, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	bin, err := findFor(ctx, kind)
	if err != nil {
		return nil, err
	}
	c := &Cluster{kind: kind}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.ports, err = choosePorts(o.Nodes); err != nil {
		return nil, err
	}
	started := time.Now()
	for i := range o.Nodes {
		n, err := newNode(ctx, bin, c.ports.of(i), o)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	if kind == Galera {
		err = c.startGalera(ctx, o)
	} else {
		err = c.startGroup(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	for i, n := range c.nodes {
		if n.server, err = connect(ctx, n.config(), fmt.Sprintf("node %d of a %s cluster on %s", i, kind, n.addr)); err != nil {
			return nil, err
		}
	}
	o.Log.Info("cluster ready", "kind", kind, "nodes", o.Nodes, "version", c.nodes[0].server.version, "took", time.Since(started).Round(time.Millisecond))
	return c, nil
}

// findFor finds a server program of the engine that the cluster is of.
func findFor(ctx context.Context, kind ClusterKind) (binary, error) {
	want, script := MariaDB, "get-mariadb"
	switch kind {
	case Galera:
	case Group:
		want, script = MySQL, "get-mysql"
	default:
		return binary{}, fmt.Errorf("devdb: there is no cluster of the kind %q: it is %q or %q", kind, Galera, Group)
	}
	bin, err := find(ctx)
	if err == nil && bin.engine() != want {
		err = fmt.Errorf("devdb: a %s cluster is of %s servers, and %s (%s) is %s: set %s to a server program that scripts/%s has got",
			kind, want, bin.path, bin.how, bin.version, EnvMysqld, script)
	}
	return bin, err
}

func newNode(ctx context.Context, bin binary, ports clusterPorts, o ClusterOptions) (*node, error) {
	p, err := takeFolder(ctx, bin, Options{Durable: o.Durable, Env: o.Env, Log: o.Log})
	if err != nil {
		return nil, err
	}
	p.port, p.patience = ports.sql, clusterPatience
	n := &node{private: p, clusterPorts: ports}
	cfg := p.config()
	cfg.Net, cfg.Addr = "unix", p.socket
	cfg.Logger = &mysql.NopLogger{} // a node that is down, or has not joined, is expected
	cfg.InterpolateParams = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("devdb: %w", err), p.stop())
	}
	n.admin = sql.OpenDB(connector)
	n.admin.SetMaxOpenConns(1) // so that what one statement sets holds for the next
	return n, nil
}

// Kind is what the cluster was started as.
func (c *Cluster) Kind() ClusterKind { return c.kind }

// Nodes is how many there are, dead ones too.
func (c *Cluster) Nodes() int { return len(c.nodes) }

// Server is a node's server, to make databases there and to ask about it. To close it is the cluster's.
func (c *Cluster) Server(node int) *Server { return c.nodes[node].server }

// Addr is where a node listens, host and port. It stays the same when the node is killed and joins again.
func (c *Cluster) Addr(node int) string { return c.nodes[node].addr }

// DSN is [Server.DSN] of a node.
func (c *Cluster) DSN(node int, database string) string { return c.nodes[node].server.DSN(database) }

// Kill ends a node as the loss of its process does, and returns when it is gone.
func (c *Cluster) Kill(node int) error { return c.end(node, syscall.SIGKILL) }

// Stop ends a node as an operator does who wants to change something: it says goodbye to the others.
func (c *Cluster) Stop(node int) error { return c.end(node, syscall.SIGTERM) }

func (c *Cluster) end(node int, sig syscall.Signal) error {
	n := c.nodes[node]
	if err := n.signal(sig); err != nil {
		return fmt.Errorf("devdb: end node %d: %w", node, err)
	}
	select {
	case <-n.proc.done:
		return nil
	case <-time.After(clusterPatience):
		return fmt.Errorf("devdb: node %d did not end within %s of %s; the end of its log:\n%s", node, clusterPatience, sig, n.logTail())
	}
}

// Pause stops a node's process in its tracks: for the others it is a machine that does not answer.
func (c *Cluster) Pause(node int) error {
	n := c.nodes[node]
	if n.proc == nil || n.proc.ended() {
		return nil
	}
	return Suspend(n.proc.pid)
}

// Continue lets a paused node go on. Whether it is still a member is another question: see [Cluster.Rejoin].
func (c *Cluster) Continue(node int) error { return c.nodes[node].signal(syscall.SIGCONT) }

// Rejoin brings a node back, one that was killed or that lost the others, and returns when it has joined and
// has what they have. There must be a group to join: the last node that was alive is not started again.
func (c *Cluster) Rejoin(ctx context.Context, node int) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	n := c.nodes[node]
	if n.proc.ended() {
		if c.kind == Group { // a caller may be quicker than whoever has it join, see joinGroup
			n.args = append(n.args[:len(n.args):len(n.args)], "--super-read-only=ON")
		}
		if err := n.run(ctx); err != nil {
			return fmt.Errorf("devdb: start node %d again: %w", node, err)
		}
	}
	join := n.awaitSynced
	if c.kind == Group {
		join = n.joinGroup
	}
	if err := join(ctx); err != nil {
		return fmt.Errorf("devdb: node %d does not join: %w; the end of its log:\n%s", node, err, n.logTail())
	}
	return nil
}

// Close ends every node and removes its data. Later calls return the first one's answer.
func (c *Cluster) Close() error {
	c.closing.Do(func() {
		var errs []error
		for _, n := range c.nodes { // at once, so that none waits for another one's farewell
			errs = append(errs, n.signal(syscall.SIGKILL))
		}
		for _, n := range c.nodes {
			if n.server != nil {
				_ = n.server.Close() //nolint:errcheck // its connections are broken, for the server is gone
			}
			_ = n.admin.Close() //nolint:errcheck // likewise
			errs = append(errs, n.stop())
		}
		if c.ports != nil {
			errs = append(errs, c.ports.free())
		}
		c.closeErr = errors.Join(errs...)
	})
	return c.closeErr
}

// each calls f for all nodes at once.
func (c *Cluster) each(f func(i int, n *node) error) error {
	errs := make([]error, len(c.nodes))
	var all sync.WaitGroup
	for i, n := range c.nodes {
		all.Go(func() { errs[i] = f(i, n) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// signal is for a node whose process may not have been started, or be gone.
func (n *node) signal(sig syscall.Signal) error {
	if n.proc == nil || n.proc.ended() {
		return nil
	}
	return kill(n.proc.pid, sig)
}

// until asks a node every so often, and returns when the answer is yes, or the last error when ctx ends.
func (n *node) until(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := ask()
		if ok && err == nil {
			return nil
		}
		select {
		case <-n.proc.done:
			return fmt.Errorf("it ended: %w", orEnded(n.proc.err))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// logTail is the end of the server's log, for an error.
func (n *node) logTail() string { return readTail(filepath.Join(n.dir, "server.log")) }

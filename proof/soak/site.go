package main

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// site is what the load runs on: a server that is killed, or several that are killed, paused and cut off.
type site interface {
	// start starts it and makes the database, empty.
	start(ctx context.Context) error
	// name says for the report what it is.
	name() string
	// nodes is how many servers there are.
	nodes() int
	// config is for the load; its address is set by the soak.
	config() *mysql.Config
	// upstream is where the load reaches a node at present, or, if who is -1, where it is best led.
	upstream(node int) string
	// open is a pool for the set-up and the check.
	open() (*sql.DB, error)
	// trouble is what happens to the servers until ctx ends. What it did is undone when it returns.
	trouble(ctx context.Context, s *soak, r *rand.Rand) error
	// settle comes when the load has ended: one more kill, so that no session of the load is left on it.
	settle(ctx context.Context, s *soak) error
	// differ says which tables are not the same on all servers, when all have caught up.
	differ(ctx context.Context) ([]string, error)
	// keep leaves in the folder what is needed to look into what is broken.
	keep(ctx context.Context, dir string) error
	// deaths are when a server died and took with it what others had read before it was on the disk.
	deaths() []time.Time
	close() error
}

// dsn is the data source name of a process: through its own proxy, or with -hosts through those of all nodes,
// one of them preferred. A read that gets no answer must end, because nothing else ends the wait for the
// answer to COMMIT.
func (s *soak) dsn(process int, isolation string) string {
	cfg := s.site.config()
	var addrs []string
	for i := range s.proxies {
		addrs = append(addrs, s.proxies[(process+i)%len(s.proxies)].Listen)
	}
	if !s.hosts {
		addrs = addrs[:1]
	}
	cfg.Addr = strings.Join(addrs, ",")
	for _, name := range []string{"tx_isolation", "transaction_isolation"} {
		if cfg.Params[name] != "" {
			cfg.Params[name] = "'" + isolation + "'"
		}
	}
	cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = 2*time.Second, 5*time.Second, 5*time.Second
	return cfg.FormatDSN()
}

// route leads the proxies to where they should lead now; those that lead there already are left alone.
// Without -hosts a proxy is what a load balancer is: it leads to its own node unless that is avoided.
func (s *soak) route(avoid ...int) error {
	for i, p := range s.proxies {
		node := i % s.site.nodes()
		for !s.hosts && slices.Contains(avoid, node) {
			node = (node + 1) % s.site.nodes()
		}
		if err := p.to(s.site.upstream(node)); err != nil {
			return err
		}
	}
	return nil
}

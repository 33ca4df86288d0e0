package txfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Databases: in one sessions are killed, in the other one not.
const (
	database = "fuzz"
	quiet    = "calm"
)

// shared is a pool that clients share: fewer sessions than clients, so that each session gets to others.
type shared struct {
	name string
	db   *sql.DB
}

const poolSize = 4

type counts struct {
	acked, failed, unknown, replays, probes, deadlines atomic.Int64
	worst                                              atomic.Int64 // overshoot of a deadline, in nanoseconds
}

// world is one run.
type world struct {
	*fuzz.Options
	late    time.Duration
	attacks []string

	found   *fuzz.Findings
	server  *devdb.Server
	schema  string // of the tables that are attacked
	mariadb bool
	admin   *sql.DB // unguarded, straight to the server, in the quiet database
	cutter  *fuzz.Cutter
	killer  fuzz.Killer
	pools   []*shared
	counts  counts
	ids     atomic.Int64

	mu      sync.Mutex
	records []*record
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("transactions", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 14), schema: database}
	set.DurationVar(&w.late, "late", 2*time.Second, "how long after its deadline an answer may come")
	list := set.String("attacks", "all", "what is drawn besides: all, none, or a list, see the package's documentation")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) (err error) {
		w.found = found
		if w.attacks, err = parseAttacks(*list); err != nil {
			return err
		}
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if w.server, err = fuzz.Start(ctx, w.Engine, "--secure-file-priv="+os.TempDir(), "--log-bin-trust-function-creators=ON"); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, w.server.Close()) }()
	w.mariadb = w.server.Engine() == devdb.MariaDB
	if err := w.setUp(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.admin.Close()) }()
	before := fuzz.Goroutines(w.admin)
	if err := w.connect(); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := w.settle(ctx, before); err != nil {
		return err
	}
	if err := w.judge(ctx); err != nil {
		return err
	}
	return w.shown()
}

// setUp makes the tables.
func (w *world) setUp(ctx context.Context) (err error) {
	if err := fuzz.Databases(ctx, w.server, database, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	first, err := fuzz.Admin(w.server, database)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, query := range tables {
		if _, err := first.ExecContext(ctx, query); err != nil {
			return errors.Join(fmt.Errorf("%w: %s", err, query), first.Close())
		}
	}
	if err := first.Close(); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	w.admin, err = fuzz.Admin(w.server, quiet)
	for _, query := range quietTables {
		if err == nil {
			_, err = w.admin.ExecContext(ctx, query)
		}
	}
	return err
}

// longest is after how many bytes at most a connection is cut, if it is.
const longest = 12_000

// connect opens the pools, behind the cutter.
func (w *world) connect() (err error) {
	if w.cutter, err = fuzz.NewCutter(w.server.Config("").Addr, w.Rand(1), longest); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	w.pools, err = openPools(w.server, w.cutter.Addr(), database, 1)
	return err
}

// openPools opens one of each kind, of which a lock wait ends after so many seconds.
func openPools(server *devdb.Server, addr, database string, wait int) ([]*shared, error) {
	dsn := fuzz.DSN(server, addr, database, fmt.Sprint("innodb_lock_wait_timeout=", wait))
	opened, err := pool.Open(dsn)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	all := []*shared{{"Open", opened}}
	for _, interpolates := range []bool{false, true} {
		cfg, err := mysql.ParseDSN(dsn + "&interpolateParams=" + url.QueryEscape(fmt.Sprint(interpolates)))
		if err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, fmt.Errorf("soak: %w", err)
		}
		name := map[bool]string{false: "Guard", true: "Guard, interpolating"}[interpolates]
		all = append(all, &shared{name, sql.OpenDB(pool.Guard(connector))})
	}
	for _, p := range all {
		p.db.SetMaxOpenConns(poolSize)
		p.db.SetMaxIdleConns(poolSize)
	}
	return all, nil
}

// load runs the clients and the trouble, until the time is over or ctx ends.
func (w *world) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	var clients, trouble sync.WaitGroup
	errs := make(chan error, 3)
	for i := range w.Clients {
		r := w.Rand(100 + uint64(i)) //nolint:gosec // i is small
		clients.Go(func() {
			for ctx.Err() == nil {
				w.client(context.WithoutCancel(ctx), r)
			}
		})
	}
	begin := func(run func() error) {
		trouble.Go(func() {
			err := run()
			if errs <- err; err != nil {
				cancel() // without trouble nothing is shown
			}
		})
	}
	begin(func() error { return w.killer.Run(ctx, w.admin, database, w.Rand(2), 25*time.Millisecond) })
	begin(func() error { return w.locks(ctx, w.Rand(3)) })
	trouble.Go(func() {
		for fuzz.Pause(ctx, 10*time.Second) {
			fmt.Println("  ", w)
		}
		errs <- nil
	})
	trouble.Wait()
	w.cutter.Stop()
	if err := fuzz.Ended(&clients, w.found); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	return errors.Join(<-errs, <-errs, <-errs)
}

// String is the progress.
func (w *world) String() string {
	c := &w.counts
	return fmt.Sprintf("%d transactions: %d acknowledged (%d of them replays), %d failed, %d unknown; %d sessions and %d queries killed, %d connections cut; %d looks at sessions, %d deadlines below a lock, the worst answer %v late",
		c.acked.Load()+c.failed.Load()+c.unknown.Load(), c.acked.Load(), c.replays.Load(), c.failed.Load(), c.unknown.Load(),
		w.killer.Kills.Load(), w.killer.Queries.Load(), w.cutter.Cuts.Load(), c.probes.Load(), c.deadlines.Load(), time.Duration(c.worst.Load()).Round(time.Millisecond))
}

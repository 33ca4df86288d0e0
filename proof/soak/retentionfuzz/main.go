package retentionfuzz

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

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

const (
	database = "old"
	quiet    = "calm"
	poolSize = 6 // of each pool of users
)

// world is one run.
type world struct {
	*fuzz.Options
	*design
	found   *fuzz.Findings
	rows    int
	workers int
	memory  int // MB that a worker may have resident
	clock   *clock
	calm    *sql.DB // unguarded, in another database: nobody kills its sessions
	pools   []session
	book    *book
	ids     []atomic.Int64 // the last of each table
	killer  fuzz.Killer
	crew    *crew
	moved   time.Time // to where the clock was moved last because a job may rest
}

// Main is the command, with its exit code; "worker" is a process of it.
func Main(args []string) int {
	if len(args) > 0 && args[0] == "worker" {
		if err := worker(args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		return 0
	}
	set := flag.NewFlagSet("retention", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 6), book: newBook()}
	set.IntVar(&w.rows, "rows", 20_000, "how many rows there are that get old; the long run has 1000000")
	set.IntVar(&w.workers, "workers", 3, "how many worker processes there are; the first is never killed")
	set.IntVar(&w.memory, "memory", mostMemory, "how many MB a worker may have resident, see the package")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) (err error) {
		w.found = found
		if w.rows < 100 || w.workers < 1 {
			return errors.New("-rows must be 100 or more, -workers 1 or more")
		}
		if w.design, err = draw(w.Seed); err != nil {
			return err
		}
		w.ids = make([]atomic.Int64, len(w.tables))
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "onerow-retention-")
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var env []string
	if w.clock, env, err = newClock(ctx, dir, w.changes[0].Add(-3*time.Hour)); err != nil {
		return err
	}
	// A latch that somebody waits for when the clock jumps seems to be held for months, and InnoDB would
	// abort.
	server, err := fuzz.StartIn(ctx, w.Engine, env, "--loose-innodb-fatal-semaphore-wait-threshold=4294967295")
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := fuzz.Databases(ctx, server, database, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if w.calm, err = fuzz.Admin(server, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, w.calm.Close()) }()
	before := fuzz.Goroutines(w.calm)
	fmt.Println("soak: retention:", w.design)
	if err := teach(ctx, w.calm, w.zone); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	db, err := fuzz.Admin(server, database)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if err = w.setUp(ctx, db, w.Rand(2)); err == nil {
		err = w.act(ctx, server, db)
	}
	fuzz.Close(db)
	return errors.Join(err, fuzz.Left(context.WithoutCancel(ctx), w.calm, database, before, w.found))
}

// act lets all work, and judges.
func (w *world) act(ctx context.Context, server *devdb.Server, db *sql.DB) error {
	w.crew = &crew{world: w, r: w.Rand(3), all: make([]*member, w.workers)}
	if err := w.open(server); err != nil {
		return err
	}
	m, err := w.load(ctx)
	if err == nil {
		err = w.finish(context.WithoutCancel(ctx), db)
	}
	for i, one := range w.crew.all {
		if one != nil {
			err = errors.Join(err, w.crew.dismiss(i, false))
		}
	}
	for _, s := range w.pools {
		fuzz.Close(s.db)
	}
	if err != nil {
		return err
	}
	h, err := w.read(context.WithoutCancel(ctx), db)
	if err != nil {
		return err
	}
	told := h.judge(w.found.Add)
	fmt.Printf("soak: retention: %s; %d workers killed; memory of a worker at most %.1f MB, of the first %.1f MB in the first half and %.1f MB after it (%d looks)\n",
		w, w.crew.kills, mb(m.most), mb(m.halves[0]), mb(m.halves[1]), m.looks)
	fmt.Println("soak: retention:", told)
	w.memoryIsFlat(m)
	w.printErrors()
	return told.shown()
}

// open opens the pools of the users, and says where the workers connect, in sessions of several zones and of
// both levels of isolation.
func (w *world) open(server *devdb.Server) error {
	fixed := func(hours float64) *time.Location { return time.FixedZone("", int(hours*3600)) }
	for i, z := range []struct {
		name string
		zone *time.Location
	}{{"+00:00", time.UTC}, {"+05:45", fixed(5.75)}, {"-09:30", fixed(-9.5)}, {w.zone.String(), w.zone}} {
		level := []string{"READ-COMMITTED", "REPEATABLE-READ"}[i%2]
		dsn := fuzz.DSN(server, server.Config("").Addr, database,
			"time_zone="+url.QueryEscape("'"+z.name+"'")+"&"+server.IsolationVariable()+"="+url.QueryEscape("'"+level+"'"))
		db, err := pool.Open(dsn)
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		db.SetMaxOpenConns(poolSize)
		db.SetMaxIdleConns(poolSize)
		w.pools, w.crew.dsns = append(w.pools, session{db, z.zone}), append(w.crew.dsns, dsn)
	}
	return nil
}

// load lets users and workers work while the clock goes through both changes.
func (w *world) load(ctx context.Context) (m memory, err error) {
	steady := context.WithoutCancel(ctx)
	for i := range w.workers {
		if err := w.crew.hire(steady, i); err != nil {
			return m, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	errs := make([]error, 3)
	var users, trouble sync.WaitGroup
	for i := range w.Clients {
		u := &user{world: w, r: w.Rand(100 + uint64(i))} //nolint:gosec // small
		users.Go(func() {
			for fuzz.Pause(limited, time.Duration(u.r.Int64N(int64(20*time.Millisecond)))) {
				u.act(steady)
			}
		})
	}
	trouble.Go(func() { errs[0] = w.killer.Run(limited, w.calm, database, w.Rand(4), 300*time.Millisecond) })
	trouble.Go(func() { errs[1] = w.crew.shoot(limited) })
	trouble.Go(func() { m, errs[2] = w.crew.watch(limited, time.Now().Add(w.Length/2)) })
	trouble.Go(func() {
		for fuzz.Pause(limited, 10*time.Second) {
			fmt.Println("  ", w)
		}
	})
	err = w.travel(limited)
	cancel()
	trouble.Wait()
	return m, errors.Join(append(errs, err, fuzz.Ended(&users, w.found))...)
}

// String is the progress.
func (w *world) String() string {
	text := w.clock.now().In(w.zone).Format("2006-01-02 15:04:05 -07:00") + ";"
	for _, a := range acts {
		text += fmt.Sprintf(" %d %s", w.book.times(a.name), a.name)
	}
	return text + fmt.Sprintf("; %d sessions and %d queries killed", w.killer.Kills.Load(), w.killer.Queries.Load())
}

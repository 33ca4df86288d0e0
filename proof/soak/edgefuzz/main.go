package edgefuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

const (
	database = "edges"
	quiet    = "calm"
	poolSize = 8 // of each pool
)

// modes are the sql_modes of the pools; "" is the server's.
var modes = []string{"", "''", "'STRICT_ALL_TABLES,NO_UNSIGNED_SUBTRACTION,NO_AUTO_VALUE_ON_ZERO'"}

// brokenError is the kind of an error that no verb names.
const brokenError = "an error that no verb names"

// world is one run.
type world struct {
	*fuzz.Options
	found *fuzz.Findings
	admin *sql.DB // unguarded
	pools []*sql.DB
	plan  schema.Plan
	parts []part

	rounds, done, refused atomic.Int64
	mu                    sync.Mutex
	refusals              map[string]int
}

// part is what is tried in each round.
type part interface {
	// resources are what the part has in the plan; init comes when its tables are there.
	resources() []schema.Resource
	init(ctx context.Context, w *world) error
	// begin is called with empty tables; act returns when the callers have ended, judge when all is drained.
	begin(ctx context.Context, r *rand.Rand) error
	act(ctx context.Context, seed uint64) error
	judge(ctx context.Context) error
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("edges", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 6), refusals: map[string]int{}}
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	server, err := fuzz.Start(ctx, w.Engine)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := fuzz.Databases(ctx, server, database, quiet); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	calm, err := fuzz.Admin(server, quiet)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, calm.Close()) }()
	before := fuzz.Goroutines(calm)
	if w.admin, err = fuzz.Admin(server, database); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	for _, mode := range modes {
		params := "innodb_lock_wait_timeout=20"
		if mode != "" {
			params += "&sql_mode=" + url.QueryEscape(mode)
		}
		db, err := pool.Open(fuzz.DSN(server, server.Config("").Addr, database, params))
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}
		db.SetMaxOpenConns(poolSize)
		db.SetMaxIdleConns(poolSize)
		w.pools = append(w.pools, db)
	}
	err = w.setUp(ctx)
	for end := time.Now().Add(w.Length); err == nil && ctx.Err() == nil && time.Now().Before(end); {
		err = w.round(context.WithoutCancel(ctx))
	}
	for _, db := range append(w.pools, w.admin) {
		fuzz.Close(db)
	}
	fmt.Println("soak: edges:", w)
	w.mu.Lock()
	for text, n := range w.refusals {
		fmt.Printf("   %d times: %s\n", n, text)
	}
	w.mu.Unlock()
	if err == nil && (w.rounds.Load() == 0 || w.done.Load() == 0) {
		err = errors.New("soak: nothing is shown: no round has ended")
	}
	return errors.Join(err, fuzz.Left(context.WithoutCancel(ctx), calm, database, before, w.found))
}

// setUp makes the tables.
func (w *world) setUp(ctx context.Context) error {
	if err := decimalsAreRefused(); err != nil {
		return err
	}
	w.parts = []part{&numbers{}, &amounts{}, &places{}, &flags{}}
	for _, p := range w.parts {
		w.plan.Resources = append(w.plan.Resources, p.resources()...)
	}
	if err := migrations.Up(ctx, w.admin); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := w.execAll(ctx, append(w.plan.DDL(), ownTables...)); err != nil {
		return err
	}
	cat, err := catalog.Read(ctx, w.pools[0])
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	trash, err := cat.TrashDDL(w.plan)
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if err := w.execAll(ctx, trash); err != nil {
		return err
	}
	for _, p := range w.parts {
		if err := p.init(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// decimalsAreRefused says so if the plan takes a limit that sums a DECIMAL, which the parts do not try.
func decimalsAreRefused() error {
	for _, typ := range []string{"DECIMAL(65,30) NOT NULL", "DECIMAL(20,0) NOT NULL", "DOUBLE NOT NULL"} {
		plan := schema.Plan{Resources: []schema.Resource{{
			Name: "file", Owner: "user_id", Limits: []schema.Limit{{Sum: "size"}}, Columns: []schema.Column{{Name: "size", Type: typ}},
		}}}
		if err := plan.Check(); !errors.Is(err, schema.ErrInvalidPlan) {
			return fmt.Errorf("soak: a limit sums %s: %w", typ, err)
		}
	}
	return nil
}

func (w *world) execAll(ctx context.Context, queries []string) error {
	for _, query := range queries {
		if _, err := w.admin.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("soak: %w: %s", err, query)
		}
	}
	return nil
}

// round tries all parts once.
func (w *world) round(ctx context.Context) error {
	n := w.rounds.Add(1)
	if err := w.clear(ctx); err != nil {
		return err
	}
	errs := make([]error, len(w.parts))
	var all sync.WaitGroup
	for i, p := range w.parts {
		seed := uint64(n)<<8 | uint64(i) //nolint:gosec // small
		if err := p.begin(ctx, w.Rand(seed)); err != nil {
			return err
		}
		all.Go(func() { errs[i] = p.act(ctx, seed) })
	}
	if err := fuzz.Ended(&all, w.found); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := w.drain(ctx); err != nil {
		return err
	}
	for _, p := range w.parts {
		if err := p.judge(ctx); err != nil {
			return err
		}
	}
	fmt.Println("  ", w)
	return nil
}

// drain lets a worker do all that is due.
func (w *world) drain(ctx context.Context) error {
	worker, err := cascade.NewWorker(w.pools[0], w.plan, cascade.Config{Load: 1})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	return worker.Drain(ctx) //nolint:wrapcheck // it says all
}

// clear empties all tables but that of the migrations.
func (w *world) clear(ctx context.Context) error {
	var tables []string
	err := onerow.Query(ctx, w.admin, "SHOW TABLES", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		tables = append(tables, name)
		return err //nolint:wrapcheck // it says all
	})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	tables = slices.DeleteFunc(tables, func(name string) bool { return strings.Contains(name, "migration") || strings.Contains(name, "goose") })
	for _, name := range tables {
		if _, err := w.admin.ExecContext(ctx, "DELETE FROM "+ident.Quote(name)); err != nil { //nolint:gosec // as the catalog has it
			return fmt.Errorf("soak: %w: %s", err, name)
		}
	}
	return nil
}

// pick draws a pool.
func (w *world) pick(r *rand.Rand) *sql.DB { return w.pools[r.IntN(len(w.pools))] }

// note counts an answer. What is neither done nor one of the errors is a finding.
func (w *world) note(what string, err error, known ...error) {
	switch {
	case err == nil:
		w.done.Add(1)
		return
	case !slices.ContainsFunc(known, func(one error) bool { return errors.Is(err, one) }) && !onerow.Retryable(err):
		w.found.Add(brokenError, "%s: %v", what, err)
	}
	w.refused.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range known {
		if errors.Is(err, one) {
			w.refusals[one.Error()]++
			return
		}
	}
	w.refusals["not known, or to be run again"]++
}

// String is the progress.
func (w *world) String() string {
	return fmt.Sprintf("%d rounds; %d calls done, %d refused", w.rounds.Load(), w.done.Load(), w.refused.Load())
}

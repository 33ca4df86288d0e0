package restorefuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Exit codes of Main.
const (
	exitBroken = 1
	exitFailed = 2
)

// levels are the isolation levels: a seed has always the same one.
var levels = []string{"READ-COMMITTED", "REPEATABLE-READ"}

type options struct {
	seeds, first uint64
	engine       string
}

// again is the command that repeats one seed.
func (o options) again(seed uint64) string {
	text := fmt.Sprintf("go run -C proof ./soak restores -seeds 1 -first %d", seed)
	if o.engine != "" {
		text += " -engine " + o.engine
	}
	return fuzz.Again(text)
}

// Main is the command, with its exit code.
func Main(args []string) int {
	var o options
	set := flag.NewFlagSet("restores", flag.ExitOnError)
	set.Uint64Var(&o.seeds, "seeds", 1000, "how many seeds are tried")
	set.Uint64Var(&o.first, "first", 1, "the first one")
	fuzz.EngineFlag(set, &o.engine)
	err := set.Parse(args)
	if err == nil {
		err = fuzz.CheckEngine(&o.engine)
	}
	switch {
	case err != nil:
	case o.seeds == 0:
		err = errors.New("-seeds must be 1 or more")
	case set.NArg() > 0:
		err = fmt.Errorf("there is no %q: flags only", set.Arg(0))
	}
	broken := int64(0)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		broken, err = o.run(ctx)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak: restores: the run itself failed:", err)
		return exitFailed
	case broken > 0:
		fmt.Fprintf(os.Stderr, "soak: restores: exit code 1: %d seeds of %d from %d on are broken; each is told above, with how to repeat it\n", broken, o.seeds, o.first)
		return exitBroken
	}
	fmt.Println("soak: restores: nothing is broken")
	return 0
}

// run tries the seeds, those of each level one after the other.
func (o options) run(ctx context.Context) (broken int64, err error) {
	server, err := fuzz.Start(ctx, o.engine)
	if err != nil {
		return 0, err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	var done, bad atomic.Int64
	var running sync.WaitGroup
	errs := make([]error, len(levels))
	begin := time.Now()
	for i := range levels {
		db, err := open(ctx, server, i)
		if err != nil {
			return 0, err
		}
		defer fuzz.Close(db)
		running.Go(func() {
			for seed := o.first; seed < o.first+o.seeds && errs[i] == nil && ctx.Err() == nil; seed++ {
				if levelOf(seed) != i {
					continue
				}
				found := false
				errs[i] = Run(context.WithoutCancel(ctx), db, seed, func(kind, text string) {
					found = true
					fmt.Printf("BROKEN seed %d, %s: %s: %s\n", seed, levels[i], kind, text)
				})
				if errs[i] != nil {
					errs[i] = fmt.Errorf("seed %d: %w; again: %s", seed, errs[i], o.again(seed))
				}
				if found && o.seeds == 1 {
					fmt.Print(schematest.Generate(seed))
				}
				if found {
					bad.Add(1)
					fmt.Printf("       again: %s\n", o.again(seed))
				}
				if n := done.Add(1); n%50 == 0 {
					fmt.Printf("   %d seeds in %v, %d of them broken\n", n, time.Since(begin).Round(time.Second), bad.Load())
				}
			}
		})
	}
	running.Wait()
	fmt.Printf("soak: restores: %d seeds from %d on, %d of them broken\n", done.Load(), o.first, bad.Load())
	return bad.Load(), errors.Join(append(errs, context.Cause(ctx))...)
}

// levelOf is the level of a seed; schemas alternate with each.
func levelOf(seed uint64) int { return int(seed / 2 % 2) } //nolint:gosec // 0 or 1

func open(ctx context.Context, server *devdb.Server, level int) (*sql.DB, error) {
	database := fmt.Sprint("restores", level)
	if err := server.CreateDatabase(ctx, database); err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}
	db, err := pool.Open(fuzz.DSN(server, server.Config("").Addr, database, server.IsolationVariable()+"="+url.QueryEscape("'"+levels[level]+"'")))
	if err == nil {
		err = migrations.Up(ctx, db)
	}
	return db, err //nolint:wrapcheck // it says all
}

package command

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// orphansFlag is run's flag for the search in the background.
type orphansFlag struct {
	OrphansEvery time.Duration `placeholder:"TIME" help:"How long after a search for rows below nothing the next one begins (24h where the plan says cluster: true, otherwise never)."`
}

// orphansDaily is where more than one server takes writes: there a row that other programs insert may come
// below one that dies meanwhile.
const orphansDaily = 24 * time.Hour

// mostOrphans is where a search ends that finds too much.
const mostOrphans = 1000

func (f orphansFlag) every(plan schema.Plan) time.Duration {
	if f.OrphansEvery == 0 && plan.Cluster {
		return orphansDaily
	}
	return f.OrphansEvery
}

func (f orphansFlag) check() error {
	if f.OrphansEvery != 0 && f.OrphansEvery < shortestPoll {
		return usage.Errorf("--orphans-every is %s; it should be a time like 24h, %s or more", f.OrphansEvery, shortestPoll)
	}
	return nil
}

// orphanWatch looks for missing rows again and again, beside the work, a page each second at most.
type orphanWatch struct {
	db    *sql.DB
	plan  schema.Plan
	log   *slog.Logger
	every time.Duration
	found func(rows int) // by a search that came to its end
}

// beside runs work, and the searches until it ends.
func (o *orphanWatch) beside(work func(context.Context) error) func(context.Context) error {
	if o.every == 0 {
		return work
	}
	return func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		var searches sync.WaitGroup
		searches.Go(func() { o.run(ctx) })
		defer searches.Wait()
		defer stop()
		return work(ctx)
	}
}

func (o *orphanWatch) run(ctx context.Context) {
	for {
		rows, err := o.search(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.log.WarnContext(ctx, "orphans: the search was cut", "error", output.OneLine(err.Error()))
		default:
			o.found(rows)
		}
		if rest(ctx, o.every) != nil {
			return
		}
	}
}

func (o *orphanWatch) search(ctx context.Context) (rows int, err error) {
	options := inspect.OrphanOptions{Limit: mostOrphans, OnPage: func(inspect.OrphanPage) {
		select { // the next page tells of ctx
		case <-ctx.Done():
		case <-time.After(min(time.Second, o.every)):
		}
	}}
	err = inspect.Orphans(ctx, o.db, o.plan, options, func(found inspect.Orphan) error {
		if rows++; rows == 1 {
			o.log.WarnContext(ctx, "orphans: "+orphanTold(found)+"; all of them: "+output.ProgramName+" orphans")
		}
		return nil
	})
	return rows, err
}

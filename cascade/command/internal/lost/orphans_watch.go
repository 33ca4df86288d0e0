package lost

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
)

// WatchFlag is run's flag for the search in the background.
type WatchFlag struct {
	OrphansEvery time.Duration `placeholder:"TIME" help:"How long after a search for rows below nothing the next one begins (24h where the plan says cluster: true, otherwise never)."`
}

// orphansDaily is where more than one server takes writes: there a row that other programs insert may come
// below one that dies meanwhile.
const orphansDaily = 24 * time.Hour

// mostOrphans is where a search ends that finds too much.
const mostOrphans = 1000

// Every is the time between two searches; 0: there are none.
func (f WatchFlag) Every(plan schema.Plan) time.Duration {
	if f.OrphansEvery == 0 && plan.Cluster {
		return orphansDaily
	}
	return f.OrphansEvery
}

// Validate refuses a time that is too short.
func (f WatchFlag) Validate() error {
	if f.OrphansEvery != 0 && f.OrphansEvery < shell.ShortestPoll {
		return usage.Errorf("--orphans-every is %s; it should be a time like 24h, %s or more", f.OrphansEvery, shell.ShortestPoll)
	}
	return nil
}

// Watch looks for missing rows again and again, beside the work, a page each second at most.
type Watch struct {
	DB    *sql.DB
	Plan  schema.Plan
	Log   *slog.Logger
	Every time.Duration
	Found func(rows int) // by a search that came to its end
}

// Run searches until ctx ends.
func (o *Watch) Run(ctx context.Context) {
	for o.Every > 0 {
		rows, err := o.search(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.Log.WarnContext(ctx, "orphans: the search was cut", "error", output.OneLine(err.Error()))
		default:
			o.Found(rows)
		}
		if shell.Rest(ctx, o.Every) != nil {
			return
		}
	}
}

func (o *Watch) search(ctx context.Context) (rows int, err error) {
	options := inspect.OrphanOptions{Limit: mostOrphans, OnPage: func(string, int64, string) {
		_ = shell.Rest(ctx, min(time.Second, o.Every)) //nolint:errcheck // the next page tells of ctx
	}}
	err = inspect.Orphans(ctx, o.DB, o.Plan, options, func(found inspect.Orphan) error {
		if rows++; rows == 1 {
			o.Log.WarnContext(ctx, "orphans: "+orphanLine(found)+"; all of them: "+output.ProgramName+" orphans")
		}
		return nil
	})
	return rows, err
}

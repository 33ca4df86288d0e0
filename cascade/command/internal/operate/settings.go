package operate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// Set tells workers how to work while they run.
type Set struct {
	Load     *float64       `placeholder:"SHARE" help:"The share of the time that is spent in batches, 0.3 or 30 (percent); the rest is waited between them."`
	Target   *time.Duration `placeholder:"TIME" help:"How long a transaction should take."`
	Parallel *int           `placeholder:"JOBS" help:"Jobs that a worker works at once."`
	Worker   string         `placeholder:"NAME" help:"For this worker only, by its name as workers lists it."`
	Default  bool           `help:"As the workers' own flags say, again."`
}

// LongestTarget is the longest time that a batch may be meant to take; a lease is renewed between two.
const LongestTarget = 5 * time.Second

// MaxParallel jobs in one process; there may be more processes.
const MaxParallel = 64

// Validate refuses what no worker could do.
func (c *Set) Validate() error {
	given := c.Load != nil || c.Target != nil || c.Parallel != nil
	switch {
	case c.Default && given:
		return usage.Errorf("--default takes back what was set, so nothing can be set with it")
	case c.Load != nil && !(*c.Load > 0 && *c.Load <= 100):
		return usage.Errorf("--load is %g; it should be a share like 0.3, or 30 percent, more than 0 and at most 100", *c.Load)
	case c.Target != nil && (*c.Target < time.Millisecond || *c.Target > LongestTarget):
		return usage.Errorf("--target is %s; it should be a time like 50ms, from 1ms to %s: a batch holds its locks for so long", *c.Target, LongestTarget)
	case c.Parallel != nil && (*c.Parallel < 1 || *c.Parallel > MaxParallel):
		return usage.Errorf("--parallel is %d; it should be from 1 to %d jobs", *c.Parallel, MaxParallel)
	case c.Worker != "" && !given && !c.Default:
		return usage.Errorf("--worker says for whom; say what with --load, --target, --parallel or --default")
	}
	return nil
}

// Run sets, and shows what is set then.
func (c *Set) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	s := admin.Settings{Worker: c.Worker, Load: shell.OrZero(c.Load), Target: shell.OrZero(c.Target), Parallel: shell.OrZero(c.Parallel)}
	if s.Load > 1 {
		s.Load /= 100
	}
	if c.Default || s != (admin.Settings{Worker: c.Worker}) {
		if err := admin.Set(ctx, db, s); err != nil {
			return err
		}
	}
	lines, err := settingLines(ctx, db)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return a.Say("the workers work as their flags say")
	}
	return a.Say("%s", strings.Join(lines, "\n"))
}

// settingLines say what workers were told.
func settingLines(ctx context.Context, db onerow.DB) ([]string, error) {
	list, err := admin.ReadSettings(ctx, db)
	lines := make([]string, len(list))
	for i, s := range list {
		whose := "all workers"
		if s.Worker != "" {
			whose = "worker " + output.Printable(s.Worker)
		}
		var parts []string
		if s.Load > 0 {
			parts = append(parts, fmt.Sprintf("--load %.3g", s.Load))
		}
		if s.Target > 0 {
			parts = append(parts, "--target "+s.Target.String())
		}
		if s.Parallel > 0 {
			parts = append(parts, fmt.Sprintf("--parallel %d", s.Parallel))
		}
		lines[i] = "set for " + whose + ": " + strings.Join(parts, " ")
	}
	return lines, err
}

package admin

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
)

// Settings are what an operator gives to workers that run, in place of their cascade.Config. What is zero is
// left as it is.
type Settings struct {
	// Worker is the name of one worker; "" for all. What is said to one counts more.
	Worker string `json:"worker"`
	// Load is the share of the time that is spent in batches, more than 0 and up to 1.
	Load float64 `json:"load,omitempty"`
	// Target is how long a batch should take, at least a microsecond.
	Target time.Duration `json:"target,omitempty"`
	// Parallel is how many jobs are worked at once, up to 64. The worker tells it as a cascade.Event.
	Parallel int `json:"parallel,omitempty"`
}

// Set tells workers how to work from now on, also those that are started later. They obey within a second and
// the rest of their batch; a job that is one too many is worked until its turn ends. Settings of zeros take
// back what was said: one worker works as is said to all then, and all as their cascade.Config says.
// The error is [queue.ErrInvalid] for what no worker could do.
//
// One statement for each setting, 3 to take them back. Calling it again is safe.
func Set(ctx context.Context, db onerow.DB, s Settings) error {
	if !(s.Load >= 0 && s.Load <= 1) || s.Target < 0 || s.Target > 0 && s.Target < time.Microsecond ||
		s.Parallel < 0 || s.Parallel > governor.MaxParallel || len(s.Worker) > governor.MaxName {
		return fmt.Errorf("%w: Load is %g, Target is %s, Parallel is %d, for the worker %q", queue.ErrInvalid, s.Load, s.Target, s.Parallel, s.Worker)
	}
	back := s == Settings{Worker: s.Worker}
	for _, c := range []struct {
		kind, value string
		set         bool
	}{
		{governor.KindLoad, strconv.FormatFloat(s.Load, 'g', -1, 64), s.Load > 0},
		{governor.KindTarget, strconv.FormatInt(s.Target.Microseconds(), 10), s.Target > 0},
		{governor.KindParallel, strconv.Itoa(s.Parallel), s.Parallel > 0},
	} {
		query, args := sqlControlSet, []any{c.kind, []byte(s.Worker), []byte(c.value)}
		switch {
		case back:
			query, args = sqlControlDrop, args[:2]
		case !c.set:
			continue
		}
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("cascade: set %s of %s: %w", c.kind, cmp.Or(s.Worker, "all workers"), err)
		}
	}
	return nil
}

// sqlSettings reads by the primary key. Some may be of workers that are gone.
const sqlSettings = `SELECT kind, name, value FROM onerow_control WHERE kind IN ('load', 'parallel', 'target') ORDER BY name, kind LIMIT 3000`

// ReadSettings lists what workers were told, by name, those for all first. One statement.
func ReadSettings(ctx context.Context, db onerow.DB) ([]Settings, error) {
	var list []Settings
	err := onerow.Query(ctx, db, sqlSettings, nil, func(rows *sql.Rows) error {
		var kind, name, value string
		if err := rows.Scan(&kind, &name, &value); err != nil {
			return err
		}
		if n := len(list); n == 0 || list[n-1].Worker != name {
			list = append(list, Settings{Worker: name})
		}
		s := &list[len(list)-1]
		c := governor.Control{Load: s.Load, Target: s.Target, Parallel: s.Parallel}
		c.Set(kind, value)
		s.Load, s.Target, s.Parallel = c.Load, c.Target, c.Parallel
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cascade: read what workers were told: %w", err)
	}
	return list, nil
}

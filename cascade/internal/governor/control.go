package governor

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/onerow/onerow"
)

// The kinds of rows in onerow_control.
const (
	KindPause    = "pause"
	KindLoad     = "load"
	KindTarget   = "target" // in microseconds
	KindParallel = "parallel"
)

// Control is what operators have said while the worker runs. Zero values say nothing.
type Control struct {
	Paused   map[string]bool // resources
	Load     float64
	Target   time.Duration
	Parallel int
}

// Set takes a row into account. What it does not understand, of another version, it leaves.
func (c *Control) Set(kind, value string) {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || !(n > 0) || n > 1e12:
	case kind == KindLoad && n <= 1:
		c.Load = n
	case kind == KindTarget && n >= 1:
		c.Target = time.Duration(n) * time.Microsecond
	case kind == KindParallel && n >= 1:
		c.Parallel = int(min(n, MaxParallel))
	}
}

// MaxParallel bounds what an operator can ask for.
const MaxParallel = 64

// MaxName is how long the name of a worker may be, in bytes.
const MaxName = 200

// sqlControl reads by the primary keys: the switch, and what is said of resources, of all workers and of this
// one, which comes last.
const sqlControl = `SELECT '` + KindPause + `', '', CAST(reason AS BINARY) FROM onerow_switch WHERE name = 'pause' AND is_on = 1
UNION ALL SELECT kind, name, value FROM onerow_control WHERE kind = '` + KindPause + `'
UNION ALL SELECT kind, name, value FROM onerow_control WHERE kind IN ('load', 'parallel', 'target') AND name IN ('', ?)`

// readControl says whether all workers are to wait, why, and what else operators have said. One statement.
func readControl(ctx context.Context, db onerow.DB, worker string) (on bool, why string, c Control, err error) {
	c.Paused = map[string]bool{}
	own := map[string]string{}
	err = onerow.Query(ctx, db, sqlControl, []any{[]byte(worker)}, func(rows *sql.Rows) error {
		var kind, name, value string
		if err := rows.Scan(&kind, &name, &value); err != nil {
			return err
		}
		switch {
		case kind == KindPause && name == "":
			on, why = true, value
		case kind == KindPause:
			c.Paused[name] = true
		case name == "":
			c.Set(kind, value)
		default:
			own[kind] = value
		}
		return nil
	})
	for kind, value := range own {
		c.Set(kind, value)
	}
	return on, why, c, err
}

// Control is what operators had said when it was asked last.
func (g *Governor) Control() Control {
	if c := g.control.Load(); c != nil {
		return *c
	}
	return Control{}
}

// given is the share of the time that somebody has said that batches may have; 0: nobody has.
func (g *Governor) given() float64 {
	if c := g.Control(); c.Load > 0 {
		return c.Load
	}
	return g.load
}

// yields says whether the worker gives way by itself.
func (g *Governor) yields() bool { return g.given() == 0 && g.others.yields.Load() }

// rest is how long others may have the server after a batch that took so long.
func (g *Governor) rest(took time.Duration) time.Duration {
	share := g.given()
	if !g.yields() {
		if share == 0 {
			share = 1
		}
		return time.Duration(float64(took) * (1/share - 1))
	}
	return yielded(took, (1+int(g.others.crowd.Load()))*max(1, g.Loops()))
}

// yielded is how long others have the server after a batch of one of so many jobs: all jobs together have
// their share, but each has a batch a second.
func yielded(took time.Duration, jobs int) time.Duration {
	return max(0, min(took*time.Duration(jobs)*(100-yieldPercent)/yieldPercent, time.Second-took))
}

// Target is how long a batch should take, if an operator has said it, and how long at most; 0: nobody has.
func (g *Governor) Target() (target, most time.Duration) {
	if g.yields() {
		most = yieldBatch
	}
	return g.Control().Target, most
}

// shared says that batches do not have all of the time; "" if they do.
func (g *Governor) shared() string {
	switch share := g.given(); {
	case g.yields():
		return fmt.Sprintf("%s: others use the server, batches get %d%% of the time", kindLoad, yieldPercent)
	case share > 0 && share < 1:
		return fmt.Sprintf("%s: batches get %.3g%% of the time", kindLoad, 100*share)
	}
	return ""
}

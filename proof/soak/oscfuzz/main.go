package oscfuzz

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Kinds of findings.
const (
	brokenCall     = "a call failed that the server did not refuse"
	brokenRow      = "a row is not what it was, or not there once"
	brokenRestore  = "a restore has failed, or not all has come back"
	brokenNoJob    = "a job that there is is told as one that there is not"
	brokenCounts   = "what is counted is not what was deleted"
	brokenDead     = "a job is dead, or has left something"
	brokenQueue    = "the queue does not drain"
	brokenWorker   = "the worker ended"
	brokenFill     = "the backfill has failed, or a key is wrong"
	brokenVerify   = "verify is not clean after the change"
	brokenUntold   = "verify does not see what a change has left"
	brokenBystand  = "a new column has a value that nobody wrote"
	brokenLeftover = "a table or a trigger of a change is left"
)

// world is one run.
type world struct {
	*fuzz.Options
	found  *fuzz.Findings
	server *devdb.Server
	db     *sql.DB // of clients and workers
	admin  *sql.DB // of whoever alters tables
	shop   *shop
	only   string // the tools that are drawn
	longer bool   // with what is left for longer than the worker believes the catalog
	tool   string // pt-online-schema-change, or ""

	clients []*client
	columns map[string][]string // that were added, by family
	under   atomic.Bool         // a change is under way
	ended   atomic.Int64        // when the last one ended, in nanoseconds
	now     atomic.Value        // what is done to a table

	mu    sync.Mutex
	tally map[string]int
	told  map[string]int // refusals, by their beginning
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("osc", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, 4), tally: map[string]int{}, told: map[string]int{}, columns: map[string][]string{}}
	w.now.Store("nothing")
	set.StringVar(&w.only, "tools", strings.Join(tools, ","), "what alters the tables, of these")
	set.BoolVar(&w.longer, "leave", true, "what a killed change leaves stays for up to 14 s, longer than a worker believes the catalog")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if err := w.getTool(ctx); err != nil {
		return err
	}
	if w.server, err = fuzz.Start(ctx, w.Engine, "--lock-wait-timeout=2", "--innodb-lock-wait-timeout=2"); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer func() { err = errors.Join(err, w.server.Close()) }()
	if err := fuzz.Databases(ctx, w.server, database); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if w.admin, err = fuzz.Admin(w.server, database); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer fuzz.Close(w.admin)
	if w.db, err = pool.Open(w.server.DSN(database)); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	defer fuzz.Close(w.db)
	if w.shop, err = newShop(ctx, w.db); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	fmt.Println("soak: osc:", w)
	w.print()
	return w.shown()
}

// getTool finds pt-online-schema-change where it is drawn.
func (w *world) getTool(ctx context.Context) error {
	if !strings.Contains(w.only, ptTool) {
		return nil
	}
	out, err := exec.CommandContext(ctx, "scripts/get-pt-osc").Output()
	if err != nil {
		return fmt.Errorf("soak: scripts/get-pt-osc; or -tools without %s: %w", ptTool, err)
	}
	w.tool = strings.TrimSpace(string(out))
	return nil
}

// load lets clients, a worker and a backfill work while tables are altered, until the time is over; then all
// is drained and judged, with the workers still there.
func (w *world) load(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, w.Length)
	defer cancel()
	whole, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	staff := newStaff(w)
	staff.start(whole)
	var clients, others sync.WaitGroup
	for i := range w.Clients {
		c := &client{world: w, number: int64(i + 1), r: w.Rand(100 + uint64(i))} //nolint:gosec // small
		w.clients = append(w.clients, c)
		clients.Go(func() {
			for limited.Err() == nil {
				c.call(whole)
			}
		})
	}
	others.Go(func() { w.backfills(limited) })
	others.Go(func() {
		for fuzz.Pause(limited, 10*time.Second) {
			fmt.Println("  ", w)
		}
	})
	d := &changer{world: w, r: w.Rand(1), staff: staff}
	err := d.run(limited)
	cancel()
	others.Wait()
	err = errors.Join(err, fuzz.Ended(&clients, w.found))
	if err == nil {
		err = w.settle(whole)
	}
	staff.end()
	return err
}

// changing says whether a table is altered, or was until a moment ago: a call that has begun then may still
// tell of it.
func (w *world) changing() bool {
	return w.under.Load() || time.Since(time.Unix(0, w.ended.Load())) < callTime/4
}

// count counts an answer.
func (w *world) count(kind string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.tally[kind]++
		return
	}
	w.tally[kind+" refused"]++
	text := err.Error()
	w.told[kind+": "+text[:min(len(text), 300)]]++
}

func (w *world) counted(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tally[kind]
}

// String is the progress.
func (w *world) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%v; now %v", w.tally, w.now.Load())
}

// print lists some of what was refused.
func (w *world) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := 8
	for text, n := range w.told {
		if left--; left >= 0 {
			fmt.Printf("   %d× %s\n", n, text)
		}
	}
}

// shown is an error if something did not happen at all. Short runs do not show all tools.
func (w *world) shown() error {
	for _, kind := range []string{"create", "update", "move", "delete", "restore", "backfill", "change"} {
		if w.counted(kind) == 0 {
			return fmt.Errorf("soak: nothing is shown: no %q", kind)
		}
	}
	return nil
}

package adoptfuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

type counts struct {
	rounds, rows, writes, refused, unknown        atomic.Int64 // of the writers
	backfills, kills, alters, restarts, deletions atomic.Int64
}

// world is one run.
type world struct {
	*fuzz.Options
	found   *fuzz.Findings
	server  *server
	program string // cascade-worker
	rows    int    // of a table, before
	kills   bool   // of the server
	killer  fuzz.Killer
	counts  counts
	at      atomic.Value // what the round does now

	mu    sync.Mutex
	oddly map[string]int
}

// Main is the command, with its exit code.
func Main(args []string) int {
	set := flag.NewFlagSet("adopt", flag.ExitOnError)
	w := &world{Options: fuzz.NewOptions(set, writers), oddly: map[string]int{}}
	set.StringVar(&w.program, "program", "", "the cascade-worker that is run; default: it is built")
	set.IntVar(&w.rows, "rows", 1000, "about how many rows a table has before it is adopted")
	set.BoolVar(&w.kills, "kill-server", true, "the server is killed, too")
	return fuzz.Main(w.Options, args, func(ctx context.Context, found *fuzz.Findings) error {
		w.found = found
		return w.run(ctx)
	})
}

func (w *world) run(ctx context.Context) (err error) {
	if w.server, err = newServer(ctx, w.Options); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.server.close()) }()
	w.at.Store("begins")
	if w.rows < 100 {
		return errors.New("-rows must be 100 or more")
	}
	if w.program == "" {
		w.program, err = build(ctx, w.server.dir)
	}
	if err != nil {
		return err
	}
	telling, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for fuzz.Pause(telling, 10*time.Second) {
			fmt.Println("  ", w)
		}
	}()
	for end := time.Now().Add(w.Length); err == nil && ctx.Err() == nil && time.Now().Before(end); {
		err = w.round(context.WithoutCancel(ctx))
	}
	w.at.Store("has ended")
	fmt.Println("soak: adopt:", w)
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := make([]string, 0, len(w.oddly))
	for text, n := range w.oddly {
		lines = append(lines, fmt.Sprintf("   %d times: %s", n, text))
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	if c := &w.counts; err == nil && (c.rounds.Load() == 0 || c.deletions.Load() == 0 || c.alters.Load() == 0) {
		err = errors.New("soak: nothing is shown: no round has ended, or something was never done")
	}
	return err
}

// tally counts an answer, for the report.
func (w *world) tally(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.oddly[strings.Join(strings.Fields(text), " ")]++
}

// String is the progress.
func (w *world) String() string {
	c := &w.counts
	return fmt.Sprintf("%d rounds, %d rows adopted; %d writes beside, %d refused, %d unknown; %d backfills, %d killed; %d alterations; "+
		"%d sessions and %d queries killed, %d cuts, %d restarts; %d deletions; it %v",
		c.rounds.Load(), c.rows.Load(), c.writes.Load(), c.refused.Load(), c.unknown.Load(), c.backfills.Load(), c.kills.Load(), c.alters.Load(),
		w.killer.Kills.Load(), w.killer.Queries.Load(), w.server.wild.Cuts.Load(), c.restarts.Load(), c.deletions.Load(), w.at.Load())
}

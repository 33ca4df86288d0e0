package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/onerow/onerow/proof/soak/check"
	"github.com/onerow/onerow/proof/soak/journal"
	"github.com/onerow/onerow/proof/soak/load"
)

// progress prints what goes on: one line that changes on a terminal, a line now and then otherwise.
func (s *soak) progress(ctx context.Context) error {
	live, every := term.IsTerminal(int(os.Stdout.Fd())), 10*time.Second //nolint:gosec // a descriptor fits an int
	if live {
		every = time.Second
	}
	for pause(ctx, every) {
		t := s.tick()
		line := fmt.Sprintf("%5.0fs  ok %d, refused %d, failed %d, unknown %d; %s", time.Since(s.began).Seconds(), t.OK, t.Refused, t.Failed, t.Unknown, s.what())
		var err error
		if live {
			_, err = fmt.Fprintf(s.out, "\r%s\x1b[K", line)
		} else {
			err = say(s.out, "%s", line)
		}
		if err != nil {
			return err
		}
	}
	if live {
		return say(s.out, "")
	}
	return nil
}

// what is the chaos, with the connections that it broke, where they were counted.
func (s *soak) what() string {
	if n := s.tick().Connections; n > 0 {
		return fmt.Sprintf("%s; about %d connections", &s.chaos, n)
	}
	return s.chaos.String()
}

// tick is what all processes have said. What a killed one did in its last second is missing.
func (s *soak) tick() (t load.Tick) {
	for _, c := range s.children {
		t = sum(t, c.tick())
	}
	return t
}

// readJobs counts claims: the lease token is their number.
const readJobs = `SELECT COUNT(*), COALESCE(SUM(token > 1), 0), COALESCE(SUM(state = 'cancelled'), 0), COALESCE(SUM(state = 'restored'), 0) FROM onerow_job_archive`

// work is what the workers had to do.
type work struct{ jobs, again, cancelled, restored, rows int64 }

// readWork says what the workers had to do, and how often one went on where another had died.
func readWork(ctx context.Context, db *sql.DB) (w work, err error) {
	if err := db.QueryRowContext(ctx, readJobs).Scan(&w.jobs, &w.again, &w.cancelled, &w.restored); err != nil {
		return w, fmt.Errorf("soak: %w", err)
	}
	w.rows, err = count(ctx, db, `SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count`)
	return w, err
}

func (w work) String() string {
	return fmt.Sprintf("cascades: %d jobs, %d of them claimed more than once, %d cancelled, %d brought back, %d rows deleted", w.jobs, w.again, w.cancelled, w.restored, w.rows)
}

// unshown is an error unless every operation was acknowledged at least once and the cascade deleted
// something: the zeros of an idle soak say nothing.
func unshown(entries []journal.Entry, w work) error {
	if op := missing(entries); op != "" {
		return fmt.Errorf("soak: nothing is shown: no %q was ever acknowledged", op)
	}
	if w.rows == 0 {
		return errors.New("soak: nothing is shown: no cascade has deleted a row")
	}
	return nil
}

// missing is an operation that was never acknowledged; none: "".
func missing(entries []journal.Entry) journal.Op {
	acknowledged := map[journal.Op]bool{}
	for _, e := range entries {
		acknowledged[e.Op] = acknowledged[e.Op] || e.Result == journal.OK
	}
	for _, op := range journal.Ops {
		if !acknowledged[op] {
			return op
		}
	}
	return ""
}

// maxListed is how many broken promises are listed for each row and column of the table.
const maxListed = 5

// short is a length in which there may be too little time for each kind of trouble.
const short = 3 * time.Minute

// untroubled is an error if a kind of trouble that was asked for has not happened.
func (s *soak) untroubled() error {
	if s.kind == "" || s.length < short {
		return nil
	}
	for kind, n := range map[string]int64{kill: s.chaos.serverKills.Load() - 1, freeze: s.chaos.pauses.Load(), cut: s.chaos.partitions.Load(), hand: s.chaos.handOvers.Load()} {
		if slices.Contains(s.trouble, kind) && n < 1 {
			return fmt.Errorf("soak: nothing is shown of %q: it did not come to that; let it run longer", kind)
		}
	}
	return nil
}

// lostNothing means that asynchronous replication loses what was acknowledged, or was not tried.
func lostNothing(found []check.Finding) error {
	for _, f := range found {
		if f.Column == check.Lost {
			return nil
		}
	}
	return errors.New("soak: nothing is shown: asynchronous failover has lost nothing this time; let it run longer")
}

func texts(found []check.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.String())
	}
	return all
}

// report prints the operations, the table, and what is broken.
func (s *soak) report(entries []journal.Entry, found []check.Finding, differ []string, w work) error {
	takenOver := 0
	for _, e := range entries {
		if e.Op == journal.Begin && e.Result == journal.OK && e.Changed {
			takenOver++
		}
	}
	text := fmt.Sprintf("%s\n%s\n%s; keys: %d claims taken over\n\n", operations(entries), table(found), w, takenOver)
	listed := map[string]int{}
	for _, f := range found {
		key := fmt.Sprint(f.Promise, f.Column)
		if listed[key]++; listed[key] <= maxListed {
			text += "BROKEN " + f.String() + "\n"
		} else if listed[key] == maxListed+1 {
			text += fmt.Sprintf("BROKEN %s: %s: and more\n", f.Promise, check.Columns[f.Column])
		}
	}
	for _, d := range differ {
		text += "BROKEN " + d + "\n"
	}
	verdict := "nothing is broken"
	if n := s.site.nodes(); n > 1 {
		verdict += fmt.Sprintf(", all tables are the same on %d servers", n)
	}
	if len(found)+len(differ) > 0 {
		verdict = fmt.Sprintf("%d broken promises", len(found)+len(differ))
	}
	return say(s.out, "%ssoak: %s; %s, seed %d, %v; %s", text, verdict, s.site.name(), s.seed, s.length, s.what())
}

// again is counted like a result: an attempt ended unknown, and the verb was called again.
const again = "again"

var results = []journal.Result{journal.OK, journal.Refused, journal.Failed, journal.Unknown, again}

// operations is a table of what the clients did.
func operations(entries []journal.Entry) string {
	counts := map[string]map[journal.Result]int{}
	add := func(name string, r journal.Result) {
		if counts[name] == nil {
			counts[name] = map[journal.Result]int{}
		}
		counts[name][r]++
	}
	for _, e := range entries {
		name := string(e.Op)
		switch e.Op {
		case journal.Create, journal.Rename, journal.Update, journal.Archive, journal.Activate, journal.Delete, journal.Cancel:
			name += " " + e.Resource
		}
		add(name, e.Result)
		add("~ together", e.Result)
		if e.Maybe {
			add(name, again)
			add("~ together", again)
		}
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	rows := [][]string{{"operation", "ok", "refused", "failed", "unknown", "with an unknown attempt"}}
	for _, name := range names {
		row := []string{strings.TrimPrefix(name, "~ ")}
		for _, r := range results {
			row = append(row, fmt.Sprint(counts[name][r]))
		}
		rows = append(rows, row)
	}
	return align(rows)
}

// table is the table of promises: how often each was broken, and how. A dash: it cannot be broken in that
// way.
func table(found []check.Finding) string {
	counts := check.Counts(found)
	rows := [][]string{append([]string{"promise"}, check.Columns...)}
	for _, p := range check.Promises {
		row := []string{string(p.Name)}
		for i := range check.Columns {
			cell := "-"
			if n := counts[p.Name][i]; n > 0 || slices.Contains(p.Columns, check.Column(i)) {
				cell = fmt.Sprint(n)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return align(rows)
}

func align(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err.Error()
		}
	}
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return b.String()
}

package main

import (
	"context"
	"errors"
	"fmt"

	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// config says what is loaded where.
type config struct {
	dir      string
	addr     string // of the running application
	user     int64  // 0: the first one named "load"
	delete   bool
	parallel int
}

// run loads the tree, or deletes it, and prints what became of it. The error says what failed; what was
// refused is only printed.
func run(ctx context.Context, c config) error {
	base, err := baseURL(c.addr)
	if err != nil {
		return err
	}
	tree, err := scan(c.dir)
	if err != nil {
		return err
	}
	l := &loader{config: c, client: client{base: base}, counts: map[string]int{}, begin: time.Now()}
	if l.user == 0 {
		if l.user, err = l.client.account(ctx, !c.delete); err != nil {
			return err
		}
	}
	if c.delete {
		return l.deleteTree(ctx, tree)
	}
	return l.loadTree(ctx, tree)
}

func baseURL(addr string) (string, error) {
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is not an address like http://127.0.0.1:8080", addr)
	}
	return strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}

// Outcomes of a folder or a file, as they are printed.
const (
	created    = "created"
	existing   = "found"
	newVersion = "new versions"
	deleted    = "deleted"
	refused    = "refused"
	failed     = "failed"
)

// loader counts the outcomes.
type loader struct {
	config
	client client
	begin  time.Time

	mu      sync.Mutex
	counts  map[string]int // by kind and outcome, "files created"
	notes   []string       // what was refused or failed
	failure error          // the first one
	last    time.Time      // of the progress
}

const (
	maxNotes  = 20 // printed
	lineEvery = 2 * time.Second
)

// count notes the outcome of an item of a kind, and prints the progress now and then.
func (l *loader) count(kind, outcome, item string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		outcome = failed
		var p *problemError
		if errors.As(err, &p) && p.Status < http.StatusInternalServerError {
			outcome = refused
		}
		l.notes = append(l.notes, fmt.Sprintf("%s: %q: %v", outcome, item, err))
	}
	if outcome == failed && l.failure == nil {
		l.failure = err
	}
	l.counts[kind+" "+outcome]++
	if time.Since(l.last) < lineEvery {
		return
	}
	l.last = time.Now()
	all := 0
	for what, n := range l.counts {
		if strings.HasPrefix(what, kind) {
			all += n
		}
	}
	fmt.Printf("%d %s, %.0f per second\n", all, kind, float64(all)/time.Since(l.begin).Seconds())
}

// loadTree creates a project of each folder, and then a screen of each file.
func (l *loader) loadTree(ctx context.Context, tree []folder) error {
	type item struct {
		folder int
		file   file
	}
	var items []item
	for i, f := range tree {
		for _, file := range f.files {
			items = append(items, item{i, file})
		}
	}
	fmt.Printf("loading %d folders with %d files of %s for user %d\n", len(tree), len(items), l.dir, l.user)
	ids := make([]int64, len(tree))
	l.each(ctx, len(tree), func(i int) {
		id, found, err := l.client.createProject(ctx, l.user, tree[i].name)
		ids[i] = id
		outcome := created
		if found {
			outcome = existing
		}
		l.count("projects", outcome, tree[i].name, err)
	})
	l.each(ctx, len(items), func(i int) {
		project, f := ids[items[i].folder], items[i].file
		if project == 0 {
			l.count("files", "without a project", "", nil)
			return
		}
		status, err := l.client.upload(ctx, project, f)
		outcome := created
		if status == http.StatusOK {
			outcome = newVersion
		}
		l.count("files", outcome, f.path, err)
	})
	l.print("projects", created, existing, refused, failed)
	l.print("files", created, newVersion, refused, failed, "without a project")
	return l.end(ctx)
}

// each runs fn for 0 to n-1, some at a time, until ctx ends.
func (l *loader) each(ctx context.Context, n int, fn func(i int)) {
	var g errgroup.Group
	g.SetLimit(l.parallel)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			fn(i)
			return nil
		})
	}
	_ = g.Wait() //nolint:errcheck // fn keeps its own errors
}

// print prints the counts of a kind.
func (l *loader) print(kind string, outcomes ...string) {
	var parts []string
	for _, o := range outcomes {
		parts = append(parts, fmt.Sprintf("%d %s", l.counts[kind+" "+o], o))
	}
	fmt.Printf("%-9s %s\n", kind+":", strings.Join(parts, ", "))
}

// end prints what was refused or failed, and returns the first failure.
func (l *loader) end(ctx context.Context) error {
	for i, note := range l.notes {
		if i == maxNotes {
			fmt.Printf("… and %d more\n", len(l.notes)-maxNotes)
			break
		}
		fmt.Println(note)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l.failure != nil {
		return fmt.Errorf("not everything could be done, for one: %w", l.failure)
	}
	return nil
}

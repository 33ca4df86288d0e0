package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Config says what is loaded where.
type Config struct {
	// Dir is the folder tree.
	Dir string
	// Addr is the address of the running application.
	Addr string
	// User gets the projects; 0: the first one named "load", made if missing.
	User int64
	// Delete deletes the projects of the tree instead.
	Delete bool
	// Fail reports files whose base is taken as conflicts; otherwise they become new
	// versions.
	Fail bool
	// Parallel is how many requests are under way at once.
	Parallel int
	// Out gets the progress and the counts.
	Out io.Writer
}

// Run loads the tree, or deletes it, and prints what became of it. The error says
// what failed; what was refused is only printed.
func Run(ctx context.Context, c Config) error {
	base, err := baseURL(c.Addr)
	if err != nil {
		return err
	}
	tree, err := scan(c.Dir)
	if err != nil {
		return err
	}
	l := &loader{Config: c, client: client{base: base, http: &http.Client{}}, counts: map[string]int{}}
	if c.User == 0 {
		if l.User, err = l.client.account(ctx, !c.Delete); err != nil {
			return err
		}
	} else if err := l.client.exists(ctx, c.User); err != nil {
		return err
	}
	if c.Delete {
		return l.delete(ctx, tree)
	}
	return l.load(ctx, tree)
}

func baseURL(addr string) (string, error) {
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("load: %q is not an address like http://127.0.0.1:8080", addr)
	}
	return strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/"), nil
}

// What became of a folder or a file, as it is printed.
const (
	created    = "created"
	existing   = "found"
	newVersion = "new versions"
	conflict   = "conflicts"
	refused    = "refused"
	failed     = "failed"
)

// loader counts what becomes of each item.
type loader struct {
	Config
	client client

	mu      sync.Mutex
	counts  map[string]int // by kind and outcome, "files created"
	notes   []string       // what was refused or failed
	failure error          // the first one
}

// maxNotes is how many refused items are printed.
const maxNotes = 20

func (l *loader) count(kind, outcome, what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[kind+" "+outcome]++
	if err == nil {
		return
	}
	l.notes = append(l.notes, fmt.Sprintf("%s: %q: %v", outcome, what, err))
	if outcome == failed && l.failure == nil {
		l.failure = err
	}
}

// outcome sorts an error into refused and failed.
func outcome(err error) string {
	var p *problemError
	if errors.As(err, &p) && p.Status < http.StatusInternalServerError {
		return refused
	}
	return failed
}

func (l *loader) load(ctx context.Context, tree []folder) error {
	files := 0
	for _, f := range tree {
		files += len(f.files)
	}
	if _, err := fmt.Fprintf(l.Out, "loading %d folders with %d files of %s for user %d\n", len(tree), files, l.Dir, l.User); err != nil {
		return err
	}
	bar := newProgress(l.Out, "files", files)
	ids := make([]int64, len(tree))
	l.each(ctx, len(tree), func(ctx context.Context, i int) {
		id, found, err := l.client.createProject(ctx, l.User, tree[i].name)
		switch {
		case err != nil:
			l.count("projects", outcome(err), tree[i].name, err)
		case found:
			l.count("projects", existing, "", nil)
		default:
			l.count("projects", created, "", nil)
		}
		ids[i] = id
	})
	type item struct {
		project int64
		file    file
	}
	var items []item
	for i, f := range tree {
		for _, file := range f.files {
			items = append(items, item{ids[i], file})
		}
	}
	l.each(ctx, len(items), func(ctx context.Context, i int) {
		defer bar.add(1)
		if items[i].project == 0 {
			l.count("files", "without a project", "", nil)
			return
		}
		status, err := l.client.upload(ctx, items[i].project, items[i].file, l.Fail)
		switch {
		case err == nil && status == http.StatusCreated:
			l.count("files", created, "", nil)
		case err == nil:
			l.count("files", newVersion, "", nil)
		case l.Fail && nameTaken(err):
			l.count("files", conflict, "", nil)
		default:
			l.count("files", outcome(err), items[i].file.path, err)
		}
	})
	bar.end()
	return l.report(ctx, []string{created, existing, refused, failed}, []string{created, newVersion, conflict, refused, failed})
}

// each runs fn for 0 to n-1, some at a time, until ctx ends.
func (l *loader) each(ctx context.Context, n int, fn func(ctx context.Context, i int)) {
	var g errgroup.Group
	g.SetLimit(l.Parallel)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			fn(ctx, i)
			return nil
		})
	}
	// fn keeps its own errors.
	if err := g.Wait(); err != nil {
		l.count("", failed, "", err)
	}
}

// report prints the counts.
func (l *loader) report(ctx context.Context, projects, files []string) error {
	var b strings.Builder
	for _, kind := range []struct {
		name     string
		outcomes []string
	}{{"projects", projects}, {"files", files}} {
		if len(kind.outcomes) == 0 {
			continue
		}
		var parts []string
		for _, o := range kind.outcomes {
			parts = append(parts, fmt.Sprintf("%d %s", l.counts[kind.name+" "+o], o))
		}
		if n := l.counts[kind.name+" without a project"]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d without a project", n))
		}
		fmt.Fprintf(&b, "%-9s %s\n", kind.name+":", strings.Join(parts, ", "))
	}
	for i, note := range l.notes {
		if i == maxNotes {
			fmt.Fprintf(&b, "… and %d more\n", len(l.notes)-maxNotes)
			break
		}
		fmt.Fprintln(&b, note)
	}
	if _, err := io.WriteString(l.Out, b.String()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l.failure != nil {
		return fmt.Errorf("load: not everything could be done, for one: %w", l.failure)
	}
	return nil
}

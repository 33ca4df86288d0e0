package page

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/queue"
)

// maxTyped is how much of a key is read, in bytes.
const maxTyped = 3000

// deleteView is the form that has a row deleted: first which one, then whether it is meant.
type deleteView struct {
	Names         []string
	Resource, Key string
	Problem       string
	Sure          bool // it was found out what would go
	Row           string
	Lines         []string
	Trash         bool // the plan keeps something
}

// whatGoes asks which row is to be deleted, and says what hangs below it: nothing is queued.
func (p *Page) whatGoes(ctx context.Context, r *http.Request) (any, error) {
	v := deleteView{Resource: r.URL.Query().Get("resource"), Key: strings.TrimSpace(r.URL.Query().Get("key"))}
	for _, n := range p.plan.Nodes() {
		if !n.Stays {
			v.Names = append(v.Names, n.Name)
		}
		v.Trash = v.Trash || n.Trash > 0
	}
	if v.Key != "" && len(v.Key) <= maxTyped {
		if err := p.wouldGo(ctx, &v); err != nil {
			v.Problem = capital(output.Shorten(output.OneLine(err.Error()), 400)) + "."
		}
	}
	return v, nil
}

// wouldGo counts what a deletion would take away, as far as that is quick.
func (p *Page) wouldGo(ctx context.Context, v *deleteView) error {
	row, err := target.Typed(ctx, p.db, p.plan, v.Resource, v.Key)
	if err != nil {
		return err
	}
	e, err := inspect.DryRun(ctx, p.db, p.plan, v.Resource, row.Key, quickRows, nil)
	if err != nil {
		return err
	}
	v.Row, v.Sure = output.RowName(queue.Job{Resource: v.Resource, ResourceID: row.Key}), true
	if !e.Root {
		v.Lines = append(v.Lines, "The row itself is gone already: only what is left below it would be deleted.")
	}
	list := func(rows map[string]int64, capped map[string]bool, what string) {
		for _, table := range slices.Sorted(maps.Keys(rows)) {
			least := map[bool]string{true: "At least "}[capped[table]]
			v.Lines = append(v.Lines, fmt.Sprintf("%s%s of %s %s.", least, output.Plural(rows[table], "row"), output.Printable(table), what))
		}
	}
	list(e.Tables, e.Capped, "would be deleted")
	list(e.Detached, e.CappedDetached, "would stay and lose a reference")
	for _, l := range e.Loops {
		v.Lines = append(v.Lines, capital(output.Printable(l.Why))+".")
	}
	if len(e.Tables)+len(e.Detached) == 0 {
		v.Lines = append(v.Lines, "Nothing would be deleted.")
	}
	return nil
}

func (p *Page) enqueue(ctx context.Context, r *http.Request, _ int64) (string, error) {
	minutes, err := number(r, "grace", "The grace period", 0, 60*24*365)
	if err != nil {
		return "", err
	}
	row, err := target.Typed(ctx, p.db, p.plan, r.PostFormValue("resource"), r.PostFormValue("key"))
	if err != nil {
		return "", err
	}
	told, err := target.Queue(ctx, p.db, row,
		queue.Deletion{Grace: time.Duration(minutes) * time.Minute, NoTrash: r.PostFormValue("no-trash") != ""}, false)
	return capital(told) + ".", err
}

package page

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// How many are listed.
const (
	maxFound  = 100
	maxTrash  = 100
	maxSearch = 200     // bytes of what is searched for
	maxSteps  = 100_000 // of the trash that are added up
)

type searchView struct {
	Query string
	Jobs  []jobView
	More  bool
}

// search shows the jobs that somebody knows something of.
func (p *Page) search(w http.ResponseWriter, r *http.Request) {
	text := output.Shorten(strings.TrimSpace(output.Printable(r.URL.Query().Get("q"))), maxSearch)
	if text == "" {
		http.Redirect(w, r, p.prefix+"/", http.StatusSeeOther)
		return
	}
	p.show("search", func(ctx context.Context, r *http.Request) (any, error) {
		b, err := p.watch.now(ctx)
		if err != nil {
			return nil, err
		}
		jobs, err := admin.Search(ctx, p.db, text, maxFound)
		v := searchView{Query: text, More: len(jobs) == maxFound}
		for _, j := range jobs {
			v.Jobs = append(v.Jobs, p.as(r).job(b, j))
		}
		return v, err
	})(w, r)
}

type trashView struct {
	admin.TrashSize
	Jobs []trashJob
	More bool
}

type trashJob struct {
	ID                      int64
	Row, Since, Until       string
	Rows, References, Stuck int64
	Restoring               string
	Restore                 bool
}

// trash lists what can still come back, job by job.
func (p *Page) trash(ctx context.Context, r *http.Request) (any, error) {
	v := trashView{}
	kept, err := admin.ListTrash(ctx, p.db, maxTrash)
	if err != nil {
		return v, err
	}
	if v.TrashSize, err = admin.ReadTrashSize(ctx, p.db, maxSteps); err != nil {
		return v, err
	}
	v.More = len(kept) == maxTrash
	for _, k := range kept {
		t := trashJob{ID: k.JobID, Row: "a job that was purged", Since: output.Moment(k.Since), Until: output.Moment(k.Expires), Rows: k.Rows, References: k.References, Stuck: k.Stuck}
		job, err := queue.Get(ctx, p.db, k.JobID)
		if err != nil && !errors.Is(err, queue.ErrNoJob) {
			return v, err
		}
		if err == nil {
			t.Row, t.Restore = output.RowName(job), p.mayAct(r)
		}
		if of, known := p.restores.get(k.JobID); known {
			t.Restoring, t.Restore = restoreText(of), t.Restore && of.Ended
		}
		v.Jobs = append(v.Jobs, t)
	}
	return v, nil
}

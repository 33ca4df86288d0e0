package load

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

const jobPoll = 150 * time.Millisecond

// delete deletes the user's projects, active and archived, that are called as the
// tree's folders, in any spelling: first all deletions are asked for, then their
// cascades are waited for.
func (l *loader) delete(ctx context.Context, tree []folder) error {
	ids, err := l.find(ctx, tree)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(l.Out, "deleting %d projects of user %d, for %d folders of %s\n", len(ids), l.User, len(tree), l.Dir); err != nil {
		return err
	}
	bar := newProgress(l.Out, "projects", len(ids))
	jobs := make([]int64, len(ids))
	settle := func(i int, err error) {
		bar.add(1)
		if err != nil {
			l.count("projects", outcome(err), fmt.Sprint("project ", ids[i]), err)
			return
		}
		l.count("projects", "deleted", "", nil)
	}
	l.each(ctx, len(ids), func(ctx context.Context, i int) {
		var err error
		if jobs[i], err = l.client.deleteProject(ctx, ids[i]); err != nil || jobs[i] == 0 {
			settle(i, err)
		}
	})
	var rows atomic.Int64
	l.each(ctx, len(ids), func(ctx context.Context, i int) {
		if jobs[i] == 0 {
			return
		}
		n, err := l.client.await(ctx, jobs[i])
		rows.Add(n)
		settle(i, err)
	})
	bar.end()
	if _, err := fmt.Fprintf(l.Out, "rows:     %d below the projects\n", rows.Load()); err != nil {
		return err
	}
	return l.report(ctx, []string{"deleted", refused, failed}, nil)
}

// find lists the projects to delete.
func (l *loader) find(ctx context.Context, tree []folder) ([]int64, error) {
	wanted := map[string]bool{}
	for _, f := range tree {
		if key, err := names.KindName.Key(f.name); err == nil { // others were refused when they were loaded
			wanted[key] = true
		}
	}
	var ids []int64
	for _, state := range []schema.State{schema.Active, schema.Archived} {
		for cursor := ""; ; {
			var page struct {
				Items []struct {
					ID   int64  `json:"id"`
					Name string `json:"name"`
				} `json:"items"`
				Next *string `json:"next"`
			}
			path := fmt.Sprintf("/api/users/%d/projects?limit=500&state=%s&cursor=%s", l.User, state, url.QueryEscape(cursor))
			if _, err := l.client.do(ctx, call{method: http.MethodGet, path: path}, &page); err != nil {
				return nil, fmt.Errorf("load: list the projects of user %d: %w", l.User, err)
			}
			for _, p := range page.Items {
				if key, err := names.KindName.Key(p.Name); err == nil && wanted[key] {
					ids = append(ids, p.ID)
				}
			}
			if page.Next == nil {
				break
			}
			cursor = *page.Next
		}
	}
	return ids, nil
}

// deleteProject deletes a project and returns the job of its cascade; 0: there is
// nothing to wait for.
func (c client) deleteProject(ctx context.Context, id int64) (job int64, err error) {
	var answer struct {
		JobID int64 `json:"job_id"`
	}
	_, err = c.do(ctx, call{method: http.MethodDelete, path: fmt.Sprintf("/api/projects/%d", id)}, &answer)
	return answer.JobID, err
}

// await waits for a cascade and returns how many rows went with it.
func (c client) await(ctx context.Context, jobID int64) (rows int64, err error) {
	tick := time.NewTicker(jobPoll)
	defer tick.Stop()
	for {
		var job struct {
			State       string `json:"state"`
			DeletedRows int64  `json:"deleted_rows"`
			LastError   string `json:"last_error"`
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/api/jobs/%d", jobID)}, &job); err != nil {
			return 0, err
		}
		switch job.State {
		case "done":
			return job.DeletedRows, nil
		case "dead", "cancelled":
			return 0, fmt.Errorf("job %d is %s: %s", jobID, job.State, job.LastError)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

const jobPoll = 150 * time.Millisecond

// deleteTree deletes the user's projects, active and archived, that have the names of the folders in any
// spelling: it asks for all deletions first, and then waits for their cascades.
func (l *loader) deleteTree(ctx context.Context, tree []folder) error {
	ids, err := l.find(ctx, tree)
	if err != nil {
		return err
	}
	fmt.Printf("deleting %d projects of user %d, for %d folders of %s\n", len(ids), l.user, len(tree), l.dir)
	jobs := make([]int64, len(ids))
	l.each(ctx, len(ids), func(i int) {
		var err error
		if jobs[i], err = l.client.deleteProject(ctx, ids[i]); err != nil || jobs[i] == 0 {
			l.count("projects", deleted, fmt.Sprint("project ", ids[i]), err)
		}
	})
	var rows atomic.Int64
	l.each(ctx, len(ids), func(i int) {
		if jobs[i] == 0 {
			return
		}
		n, err := l.client.await(ctx, jobs[i])
		rows.Add(n)
		l.count("projects", deleted, fmt.Sprint("project ", ids[i]), err)
	})
	fmt.Printf("rows:     %d below the projects\n", rows.Load())
	l.print("projects", deleted, refused, failed)
	return l.end(ctx)
}

// find lists the projects to delete.
func (l *loader) find(ctx context.Context, tree []folder) (ids []int64, err error) {
	wanted := map[string]bool{}
	for _, f := range tree {
		if key, err := names.KindName.Key(f.name); err == nil { // others were refused when they were loaded
			wanted[key] = true
		}
	}
	for _, state := range []schema.State{schema.Active, schema.Archived} {
		all, err := l.client.list(ctx, fmt.Sprintf("/api/users/%d/projects?state=%s&", l.user, state))
		if err != nil {
			return nil, fmt.Errorf("list the projects of user %d: %w", l.user, err)
		}
		for _, p := range all {
			if key, err := names.KindName.Key(p.Name); err == nil && wanted[key] {
				ids = append(ids, p.ID)
			}
		}
	}
	return ids, nil
}

// deleteProject deletes a project and returns the job of its cascade; 0: there is nothing to wait for.
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

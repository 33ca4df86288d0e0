//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

type orphanProject struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

type orphanScreen struct {
	ID        int64  `db:"id"`
	ProjectID int64  `db:"project_id"`
	Name      string `db:"name"`
}

type orphanNote struct {
	ID       int64 `db:"id"`
	ScreenID int64 `db:"screen_id"`
}

func orphanPlan(cluster bool) schema.Plan {
	return schema.Plan{Cluster: cluster, Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id"},
		{Name: "screen", Archive: "screen_archive", Owner: "project_id", Label: schema.Label{Column: "name"}, Parent: schema.Parent{Resource: "project", Column: "project_id"}},
		{Name: "note", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
	}}
}

// orphanWorld is a schema with a pool on each node, and what is done there.
type orphanWorld struct {
	*site
	plan     schema.Plan
	projects *repo.Repo[orphanProject]
	screens  *repo.Repo[orphanScreen]
	notes    *repo.Repo[orphanNote]

	made, refused, deleted atomic.Int64
}

// TestOrphans: rows are made on two nodes, below rows and below what is below these, while the topmost row is
// deleted on the third one and a worker on each node deletes what is below it. In a plan for a cluster no row
// is left below a missing one; the same without it is the control, which counts what is.
func TestOrphans(t *testing.T) {
	for _, cluster := range []bool{true, false} {
		t.Run(map[bool]string{true: "guards", false: "none"}[cluster], func(t *testing.T) {
			w := newOrphanWorld(t, cluster)
			err := live.Verify(t.Context(), w.db[1], w.plan)
			if cluster && err != nil || !cluster && !errors.Is(err, pool.ErrSetting) {
				t.Errorf("Verify: %v", err)
			}
			w.run(t)
			left := map[string]int{}
			err = inspect.Orphans(t.Context(), w.db[0], w.plan, inspect.OrphanOptions{}, func(o inspect.Orphan) error {
				left[o.Table] += int(o.Rows)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d nodes: %d rows made beside %d deletions, %d refused; below nothing: %v",
				nodes.Kind(), nodes.Nodes(), w.made.Load(), w.deleted.Load(), w.refused.Load(), left)
			if cluster && len(left) > 0 {
				t.Error("rows are left below nothing")
			}
			w.same()
			if w.made.Load() < 100 || w.refused.Load() < 50 {
				t.Error("too few rows met a deletion")
			}
		})
	}
}

func newOrphanWorld(t *testing.T, cluster bool) *orphanWorld {
	t.Helper()
	w := &orphanWorld{plan: orphanPlan(cluster)}
	w.site = newSite(t, w.plan.DDL()...)
	var err error
	if w.projects, err = repo.New[orphanProject](w.plan, "project"); err == nil {
		if w.screens, err = repo.New[orphanScreen](w.plan, "screen"); err == nil {
			w.notes, err = repo.New[orphanNote](w.plan, "note")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run makes and deletes trees, six at a time, until there were enough, and lets the workers end.
func (w *orphanWorld) run(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var workers, clients sync.WaitGroup
	for _, db := range w.db {
		worker, err := cascade.NewWorker(db, w.plan, cascade.Config{Poll: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		workers.Go(func() {
			if err := worker.Run(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("a worker: %v", err)
			}
		})
	}
	deadline := time.Now().Add(30 * time.Second) // a busy machine makes fewer
	for c := range 6 {
		clients.Go(func() {
			for w.made.Load() < 1000 && time.Now().Before(deadline) && !t.Failed() {
				if err := w.tree(ctx, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		n := dbtest.Scan[int](t, w.db[0], "SELECT COUNT(*) FROM onerow_job")
		return n == 0, fmt.Sprint(n, " jobs are left")
	})
	stop()
	workers.Wait()
}

// tree makes a project and a screen, and then more below both on two nodes while the third one deletes the
// project.
func (w *orphanWorld) tree(ctx context.Context, c int) error {
	node := func(i int) *sql.DB { return w.db[(c+i)%len(w.db)] }
	project, err := w.projects.Create(ctx, node(0), orphanProject{UserID: int64(c)})
	if err != nil {
		return err
	}
	first, err := w.screens.Create(ctx, node(0), orphanScreen{ProjectID: project.Row.ID, Name: "first"})
	if err != nil {
		return err
	}
	errs := make(chan error, 3)
	for k := range 2 {
		go func() {
			for i := range 5 {
				err := w.count(second(w.screens.Create(ctx, node(k), orphanScreen{ProjectID: project.Row.ID, Name: fmt.Sprint(k, i)})))
				if err == nil {
					err = w.count(second(w.notes.Create(ctx, node(k), orphanNote{ScreenID: first.Row.ID})))
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	go func() {
		time.Sleep(time.Duration(rand.IntN(8000)) * time.Microsecond)
		w.deleted.Add(1)
		errs <- second(w.projects.Delete(ctx, node(2), project.Row.ID))
	}()
	return errors.Join(<-errs, <-errs, <-errs)
}

// count counts a row that was made, or refused because there is no row above it any more.
func (w *orphanWorld) count(err error) error {
	if errors.Is(err, repo.ErrParentNotFound) {
		w.refused.Add(1)
		return nil
	}
	if err == nil {
		w.made.Add(1)
	}
	return err
}

func second[T any](_ T, err error) error { return err }

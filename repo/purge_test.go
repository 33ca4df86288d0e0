package repo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/repo"
)

func TestPurgeRequests(t *testing.T) {
	db, ctx := open(t), t.Context()
	p := newRepos(t).projects
	for i := range 5 {
		must(p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("p", i)}, repo.RequestID(fmt.Sprint(i))))
	}
	must(db.ExecContext(ctx, "UPDATE onerow_request SET created_at = created_at - INTERVAL 2 DAY WHERE request_id < '3'"))
	for i, want := range []int64{2, 1, 0} {
		if n := must(repo.PurgeRequests(ctx, db, 24*time.Hour, 2)); n != want {
			t.Errorf("purge %d forgot %d, want %d", i, n, want)
		}
	}
	if res := must(p.Create(ctx, db, Project{UserID: 1, Name: "p4"}, repo.RequestID("4"))); !res.Replayed {
		t.Error("a young request was forgotten")
	}
	if _, err := repo.PurgeRequests(ctx, db, 0, 1); err == nil {
		t.Error("an age of 0 was taken")
	}
}

// TestPurgeRequestsInEachZone: a request a minute too young stays, one a minute older goes.
func TestPurgeRequestsInEachZone(t *testing.T) {
	p := newRepos(t).projects
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, ctx := open(t, zone), t.Context()
		for _, id := range []string{"old", "young"} {
			must(p.Create(ctx, db, Project{UserID: 1, Name: id}, repo.RequestID(id)))
		}
		must(db.ExecContext(ctx, "UPDATE onerow_request SET created_at = created_at - INTERVAL 24 HOUR + INTERVAL IF(request_id = 'old', -1, 1) MINUTE"))
		if n := must(repo.PurgeRequests(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d were forgotten", n)
		}
		if res := must(p.Create(ctx, db, Project{UserID: 1, Name: "young"}, repo.RequestID("young"))); !res.Replayed {
			t.Error("a young request was forgotten")
		}
	})
}

package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// ends is a context that ends when it has been asked so many times.
type ends struct {
	context.Context
	left atomic.Int64
}

func (e *ends) Err() error {
	if e.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestEndsUnasked: a caller whose time is over is told so, and not of an index that he knows nothing of.
func TestEndsUnasked(t *testing.T) {
	r, dsn := newRepos(t), dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	db, _ := racetest.CountedTogether(t, dsn)
	must(r.slim.Create(t.Context(), db, Slim{UserID: 1, Name: "A"}, repo.RequestID("r")))
	told := 0
	for asked := range int64(20) {
		ctx := &ends{Context: t.Context()}
		ctx.left.Store(asked)
		for _, opts := range [][]repo.CreateOption{nil, {repo.RequestID("r")}} {
			got, err := r.slim.Create(ctx, db, Slim{UserID: 1, Name: "A"}, opts...)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				told++
			case errors.Is(err, repo.ErrNameTaken) && opts == nil, err == nil && got.Replayed:
			default:
				t.Errorf("asked %d times: %+v, %v", asked, got, err)
			}
		}
	}
	if told == 0 {
		t.Error("no call came to its end")
	}
}

// TestLostAndEnded: a create of which the answer was lost, and whose caller's time is over before it is found
// again, is not told as one that did nothing.
func TestLostAndEnded(t *testing.T) {
	r, dsn, n := newRepos(t), dbtest.DSN(t), 0
	makeTables(t, dbtest.OpenDSN(t, dsn))
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		id := fmt.Sprint(n)
		return second(r.slim.Create(ctx, db, Slim{UserID: 1, Name: id}, repo.RequestID(id)))
	})
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		id := fmt.Sprint(n)
		return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: id}, repo.RequestID(id)))
	})
}

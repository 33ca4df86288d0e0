package repo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// broker remembers what was published, or refuses.
type broker struct {
	down error
	got  []queue.Deletion
}

func (q *broker) Publish(_ context.Context, d queue.Deletion) error {
	if q.down == nil {
		q.got = append(q.got, d)
	}
	return q.down
}

// TestPublisher: with a queue elsewhere nothing is deleted until the cascade is
// queued, the audit says who tried, and what is gone is published no more.
func TestPublisher(t *testing.T) {
	db, ctx := open(t), t.Context()
	q := &broker{down: errors.New("broker is down")}
	p := must(repo.New[Project](plan(), "project", repo.WithPublisher(q)))
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	if _, err := p.Delete(ctx, db, id); !errors.Is(err, q.down) {
		t.Fatalf("a queue that refuses: %v", err)
	}
	must(p.Get(ctx, db, id))
	q.down = nil
	del := must(p.Delete(ctx, db, id))
	if !del.Changed || del.JobID != 0 || len(q.got) != 1 || q.got[0].ID != del.DeletionID || q.got[0].ResourceID != "1" {
		t.Errorf("deleted %+v, published %+v", del, q.got)
	}
	if again := must(p.Delete(ctx, db, id)); again.Changed || len(q.got) != 1 {
		t.Errorf("deleted again: %+v, published %d", again, len(q.got))
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_deletion"); n != 2 {
		t.Errorf("%d audit rows, want one for each intent", n)
	}
	if _, err := p.Delete(ctx, db, id, repo.Grace(1)); !errors.Is(err, repo.ErrUnsupported) {
		t.Errorf("grace: %v", err)
	}
}

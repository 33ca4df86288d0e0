package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// verb is one of what is measured. n is how many calls of it came before, of all rounds.
type verb struct {
	name string
	call func(ctx context.Context, s *size, n int) error
}

type receipt struct {
	Amount int `json:"amount"`
}

// owner takes the working set's owners in turn.
func (s *size) owner(n int) int64 { return s.owners[n%len(s.owners)] }

// row is one of the owner's rows, another one in each turn, never the first or the last.
func (s *size) row(n int) int64 {
	return s.owner(n)*perOwner - 10 - int64(n/len(s.owners)*11%(perOwner-20))
}

func (s *size) key(n int) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "charge", ID: fmt.Sprintf("k%09d", s.row(n))}
}

func fresh(n int) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "charge", ID: fmt.Sprintf("new%09d", n)}
}

func (s *size) list(ctx context.Context, n int, o repo.PageOptions, want int) error {
	page, err := s.projects.List(ctx, s.db, s.owner(n), o)
	if err == nil && len(page.Items) != want {
		err = fmt.Errorf("%d items, want %d", len(page.Items), want)
	}
	return err
}

func latest(state schema.State) repo.PageOptions {
	return repo.PageOptions{State: state, Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at", Descending: true}}
}

func after(id int64) (repo.Cursor, error) {
	c, err := onerow.EncodeKey(id)
	return repo.Cursor(c), err
}

func verbs() []verb {
	return []verb{
		{"create", func(ctx context.Context, s *size, n int) error {
			_, err := s.projects.Create(ctx, s.db, project{UserID: s.owner(n), Name: fmt.Sprint("new ", n)})
			return err
		}},
		{"create with a request id", func(ctx context.Context, s *size, n int) error {
			_, err := s.projects.Create(ctx, s.db, project{UserID: s.owner(n), Name: fmt.Sprint("asked ", n)}, repo.RequestID(strconv.Itoa(n)))
			return err
		}},
		{"get", func(ctx context.Context, s *size, n int) error {
			_, err := s.projects.Get(ctx, s.db, s.row(n))
			return err
		}},
		{"first page of 50", func(ctx context.Context, s *size, n int) error { return s.list(ctx, n, repo.PageOptions{}, 50) }},
		{"page of 50 in the middle", func(ctx context.Context, s *size, n int) error {
			c, err := after(s.owner(n)*perOwner - perOwner/2)
			if err != nil {
				return err
			}
			return s.list(ctx, n, repo.PageOptions{After: c}, 50)
		}},
		{"archived, page of 50", func(ctx context.Context, s *size, n int) error {
			return s.list(ctx, n, repo.PageOptions{State: schema.Archived}, 50)
		}},
		{"open ones, latest first, page of 50", func(ctx context.Context, s *size, n int) error { return s.list(ctx, n, latest(schema.Active), 50) }},
		{"of both states, open, latest first, page of 50", func(ctx context.Context, s *size, n int) error { return s.list(ctx, n, latest(repo.AnyState), 50) }},
		{"archive", func(ctx context.Context, s *size, n int) error {
			_, err := s.projects.Archive(ctx, s.db, s.row(n))
			return err
		}},
		{"activate", func(ctx context.Context, s *size, n int) error {
			_, err := s.projects.Activate(ctx, s.db, s.row(n))
			return err
		}},
		{"claim a key", func(ctx context.Context, s *size, n int) error {
			_, _, err := idempotency.Begin[receipt](ctx, s.db, s.keys, fresh(n))
			return err
		}},
		{"Do", func(ctx context.Context, s *size, n int) error {
			_, err := idempotency.Do(ctx, s.db, s.keys, idempotency.Key{Tenant: "7", Operation: "do", ID: strconv.Itoa(n)},
				func(context.Context, *onerow.Tx) (receipt, error) { return receipt{1}, nil })
			return err
		}},
		{"replay", func(ctx context.Context, s *size, n int) error {
			_, out, err := idempotency.Begin[receipt](ctx, s.db, s.keys, s.key(n))
			if err == nil && (out == nil || out.Row.Amount != 1) {
				err = fmt.Errorf("%v is no replay: %+v", s.key(n), out)
			}
			return err
		}},
	}
}

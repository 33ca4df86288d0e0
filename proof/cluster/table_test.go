//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

type shelf struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Books  int64  `db:"books"`
}

const mostShelves = 5

func shelves(limited bool) schema.Plan {
	p := schema.Plan{Cluster: true, Resources: []schema.Resource{{
		Name: "shelf", Owner: "user_id", Label: schema.Label{Column: "name"}, Columns: []schema.Column{{Name: "books", Type: "BIGINT NOT NULL DEFAULT 0"}},
	}}}
	if limited {
		p.Resources[0].Limits = []schema.Limit{{}}
	}
	return p
}

// callers of a promise there are on each node.
const callers = 8

// promises are the rows of the table in docs/CLUSTERS.md that are tried here: all callers do the same at once.
var promises = []struct {
	row string
	try func(s *site)
}{
	{"A name is one row's, for its owner", func(s *site) {
		var made, taken atomic.Int64
		s.crowd(callers, func(ctx context.Context, db *sql.DB, _ int) error {
			_, err := s.shelves().Create(ctx, db, shelf{UserID: 1, Name: "A"})
			if errors.Is(err, repo.ErrNameTaken) {
				taken.Add(1)
				return nil
			}
			made.Add(1)
			return err
		})
		if made.Load() != 1 || taken.Load() != int64(callers*len(s.db)-1) {
			s.Errorf("made %d times, taken %d times", made.Load(), taken.Load())
		}
	}},
	{"A create with a request id makes one row", func(s *site) {
		var made atomic.Int64
		s.crowd(callers, func(ctx context.Context, db *sql.DB, _ int) error {
			res, err := s.shelves().Create(ctx, db, shelf{UserID: 1, Name: "A"}, repo.RequestID("r"))
			if err == nil && !res.Replayed {
				made.Add(1)
			}
			return err
		})
		s.counts(1, "SELECT COUNT(*) FROM shelf")
		if made.Load() != 1 {
			s.Errorf("made %d times", made.Load())
		}
	}},
	{"An effect under an idempotency key happens once", func(s *site) {
		keys, err := idempotency.New(idempotency.Config{})
		if err != nil {
			s.Fatal(err)
		}
		id := have(s.shelves().Create(s.Context(), s.db[0], shelf{UserID: 1, Name: "A"})).Row.ID
		s.crowd(callers, func(ctx context.Context, db *sql.DB, _ int) error {
			return second(idempotency.Do(ctx, db, keys, idempotency.Key{Tenant: "1", Operation: "add", ID: "k"}, func(ctx context.Context, tx *onerow.Tx) (int, error) {
				return 0, second(tx.ExecContext(ctx, "UPDATE shelf SET books = books + 1 WHERE id = ?", id))
			}))
		})
		s.counts(1, "SELECT books FROM shelf")
	}},
	{"Serial numbers have no gap, and none is given twice", func(s *site) {
		series, err := serial.New("s")
		if err != nil {
			s.Fatal(err)
		}
		s.crowd(callers, func(ctx context.Context, db *sql.DB, caller int) error {
			return second(series.Claim(ctx, db, fmt.Sprint(caller/2), 1)) // each key by two
		})
		found, err := gaps.Find(s.Context(), s.db[1], series)
		if err != nil || !gaps.Complete(found) {
			s.Errorf("gaps: %+v, %v", found, err)
		}
		s.counts(callers*len(s.db)/2, "SELECT COUNT(*) FROM onerow_serial_claim")
	}},
	{"Nothing is over a hard limit", func(s *site) {
		rule, err := limit.New(shelves(true), "shelf", func(context.Context, *onerow.Tx, any) (int, error) { return mostShelves, nil })
		if err != nil {
			s.Fatal(err)
		}
		limited := have(repo.New[shelf](shelves(true), "shelf", rule))
		s.crowd(callers, func(ctx context.Context, db *sql.DB, caller int) error {
			_, err := limited.Create(ctx, db, shelf{UserID: 1, Name: fmt.Sprint(caller)})
			if errors.Is(err, limit.ErrLimit) {
				return nil
			}
			return err
		})
		s.counts(mostShelves, "SELECT COUNT(*) FROM shelf")
	}},
	{"Each update of a row counts", func(s *site) {
		id := have(s.shelves().Create(s.Context(), s.db[0], shelf{UserID: 1, Name: "A"})).Row.ID
		s.crowd(callers, func(ctx context.Context, db *sql.DB, _ int) error {
			return second(s.shelves().Update(ctx, db, id, func(row *shelf) error { row.Books++; return nil }))
		})
		s.counts(callers*len(s.db), "SELECT books FROM shelf")
	}},
	{"A deleted row has one job", func(s *site) {
		id := have(s.shelves().Create(s.Context(), s.db[0], shelf{UserID: 1, Name: "A"})).Row.ID
		var deleted atomic.Int64
		s.crowd(callers, func(ctx context.Context, db *sql.DB, _ int) error {
			del, err := s.shelves().Delete(ctx, db, id)
			if err == nil && del.Changed {
				deleted.Add(1)
			}
			return err
		})
		s.counts(1, "SELECT COUNT(*) FROM onerow_job")
		if deleted.Load() != 1 {
			s.Errorf("deleted %d times", deleted.Load())
		}
	}},
	{"Each message of a stream is applied once, in its order", streams},
	{"What is over a quota is marked, and nothing else", quotas},
	{"What was committed on one node is seen on the next", func(s *site) {
		for n := range 30 {
			id := have(s.shelves().Create(s.Context(), s.db[n%len(s.db)], shelf{UserID: 1, Name: fmt.Sprint(n)})).Row.ID
			if err := second(s.shelves().Get(s.Context(), s.db[(n+1)%len(s.db)], id)); err != nil {
				s.Errorf("row %d: %v", n, err)
			}
		}
	}},
}

func (s *site) shelves() *repo.Repo[shelf] { return have(repo.New[shelf](shelves(false), "shelf")) }

// counts asks each node.
func (s *site) counts(want int, query string) {
	s.Helper()
	for i, db := range s.db {
		if n := dbtest.Scan[int](s, db, query); n != want {
			s.Errorf("node %d: %s: %d, want %d", i, query, n, want)
		}
	}
}

// TestTable tries the promises, and holds the table in docs/CLUSTERS.md to the outcome.
func TestTable(t *testing.T) {
	header := map[devdb.ClusterKind]string{devdb.Galera: "Galera", devdb.Group: "Group Replication, several primaries"}[nodes.Kind()]
	said := column(t, header)
	for i, p := range promises {
		kept := t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := newSite(t, append(append(plan.DDL(), effects), shelves(true).DDL()...)...)
			p.try(s)
			s.same()
		})
		t.Logf("| %s | %s | kept: %t |", p.row, nodes.Kind(), kept)
		if cell := said[p.row]; strings.HasPrefix(cell, "kept") != kept {
			t.Errorf("docs/CLUSTERS.md says of %q, %s: %q", p.row, header, cell)
		}
	}
}

// column is a column of the table of promises, by the names of its rows.
func column(t *testing.T, header string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/CLUSTERS.md")
	if err != nil {
		t.Fatal(err)
	}
	cells, at := map[string]string{}, -1
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "| Promise |") {
			for i, part := range parts {
				if strings.Trim(part, "| ") == header {
					at = i
				}
			}
		}
		if at > 0 && at < len(parts) {
			cells[strings.TrimPrefix(parts[0], "| ")] = strings.TrimSuffix(parts[at], " |")
		}
	}
	if len(cells) < len(promises) {
		t.Fatalf("docs/CLUSTERS.md has no column %q with %d rows", header, len(promises))
	}
	return cells
}

func have[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

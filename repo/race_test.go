package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
)

// TestOneName: 64 parallel creates of one name in different spellings leave one
// row, one success and 63 conflicts that all name the winner.
func TestOneName(t *testing.T) {
	spellings := []string{"Email Campaign", "EMAIL CAMPAIGN", " email  campaign", "ｅｍａｉｌ campaign", "Email\u00a0Campaign", "eMAIL cAMPAIGN "}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db := open(t, dbtest.Isolation(level))
			p := newRepos(t).projects
			var mu sync.Mutex
			var made []int64
			var holders []int64
			var g errgroup.Group
			for i := range 64 {
				g.Go(func() error {
					res, err := p.Create(t.Context(), db, Project{UserID: 1, Name: spellings[i%len(spellings)]})
					mu.Lock()
					defer mu.Unlock()
					var taken *repo.NameTakenError
					switch {
					case err == nil:
						made = append(made, res.Row.ID)
					case errors.As(err, &taken):
						holders = append(holders, taken.ID.(int64))
					default:
						return err
					}
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
			if len(made) != 1 || len(holders) != 63 || count(t, db, "SELECT COUNT(*) FROM project") != 1 {
				t.Fatalf("%d made, %d conflicts", len(made), len(holders))
			}
			for _, id := range holders {
				if id != made[0] {
					t.Errorf("a conflict names row %d, the winner is %d", id, made[0])
				}
			}
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark"); n != 1 {
				t.Errorf("%d marks; a refused create must write nothing", n)
			}
		})
	}
}

// TestOneRequest: 32 parallel creates with one request id make one row.
func TestOneRequest(t *testing.T) {
	db := open(t)
	p := newRepos(t).projects
	var mu sync.Mutex
	ids, fresh := map[int64]int{}, 0
	var g errgroup.Group
	for range 32 {
		g.Go(func() error {
			res, err := p.Create(t.Context(), db, Project{UserID: 1, Name: "A"}, repo.RequestID("once"))
			mu.Lock()
			defer mu.Unlock()
			ids[res.Row.ID]++
			if res.Changed && !res.Replayed {
				fresh++
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || fresh != 1 || count(t, db, "SELECT COUNT(*) FROM project") != 1 {
		t.Errorf("ids %v, %d fresh", ids, fresh)
	}
}

// TestActivateTogether: archived rows of one name are activated at once; each gets
// a name of its own, none fails.
func TestActivateTogether(t *testing.T) {
	db := open(t)
	p, ctx := newRepos(t).projects, t.Context()
	var ids []int64
	for range 24 {
		id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
		must(p.Archive(ctx, db, id))
		ids = append(ids, id)
	}
	var g errgroup.Group
	for _, id := range ids {
		g.Go(func() error {
			_, err := p.Activate(ctx, db, id)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db, "SELECT COUNT(DISTINCT name_key) FROM project"); n != len(ids) {
		t.Errorf("%d names, want %d", n, len(ids))
	}
	if n := count(t, db, "SELECT MAX(copy_no) FROM project"); n < len(ids)-1 {
		t.Errorf("highest copy %d", n)
	}
}

// TestModel: 1,000 random operations from 16 goroutines over few names and two
// owners. Afterwards every row that was made is in exactly one table unless it was
// deleted, active names are unique, and after the sweep the quota's flags are what
// a recount says.
func TestModel(t *testing.T) {
	const workers, operations, limit = 16, 1000, 3
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db := open(t, dbtest.Isolation(level))
			r, ctx := newRepos(t), t.Context()
			rule := must(quota.New(plan(), "project", func(context.Context, *onerow.Tx, any) (int, error) { return limit, nil }))
			m := &model{alive: map[int64]bool{}}
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			var g errgroup.Group
			for w := range workers {
				rng := rand.New(rand.NewPCG(seed, uint64(w)))
				g.Go(func() error {
					for range operations / workers {
						if err := m.step(ctx, r.projects, rule, db, rng); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
			sweeper := quota.NewSweeper(db, quota.Config{}, rule)
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				must(sweeper.RunOnce(ctx))
				n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark")
				return n == 0, fmt.Sprintf("%d marks are left", n)
			})
			m.check(t, db, limit)
		})
	}
}

// model is what the database must agree with: which rows were made and not deleted.
type model struct {
	mu    sync.Mutex
	ids   []int64
	alive map[int64]bool
}

func (m *model) pick(rng *rand.Rand) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) == 0 {
		return 0
	}
	return m.ids[rng.IntN(len(m.ids))]
}

// step runs one operation. Business answers are fine, any other error is not.
func (m *model) step(ctx context.Context, p *repo.Repo[Project], rule *quota.Rule, db *sql.DB, rng *rand.Rand) error {
	name := []string{"a", "B", "c ", "ａ", "a (Copy 1)", "b (copy 1)"}[rng.IntN(6)]
	id := m.pick(rng)
	var err error
	switch op := rng.IntN(10); {
	case op < 4 || id == 0:
		var res onerow.Result[Project]
		if res, err = p.Create(ctx, db, Project{UserID: 1 + rng.Int64N(2), Name: name}); err == nil {
			m.mu.Lock()
			m.ids, m.alive[res.Row.ID] = append(m.ids, res.Row.ID), true
			m.mu.Unlock()
			_, err = rule.Recalculate(ctx, db, res.Row.UserID)
		}
	case op < 5:
		_, err = p.Rename(ctx, db, id, name)
	case op < 7:
		_, err = p.Archive(ctx, db, id)
	case op < 9:
		_, err = p.Activate(ctx, db, id)
	default:
		if _, err = p.Delete(ctx, db, id); err == nil {
			m.mu.Lock()
			m.alive[id] = false
			m.mu.Unlock()
		}
	}
	for _, fine := range []error{repo.ErrNameTaken, repo.ErrNotActive, onerow.ErrNotFound} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return err
}

func (m *model) check(t *testing.T, db *sql.DB, limit int) {
	t.Helper()
	for id, alive := range m.alive {
		n := count(t, db, "SELECT (SELECT COUNT(*) FROM project WHERE id = ?) + (SELECT COUNT(*) FROM project_archive WHERE id = ?)", id, id)
		if want := map[bool]int{true: 1}[alive]; n != want {
			t.Errorf("row %d is in %d tables, want %d", id, n, want)
		}
	}
	rows := count(t, db, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM project_archive)")
	if made := len(m.ids); rows > made {
		t.Errorf("%d rows, %d were made", rows, made)
	}
	if n := count(t, db, "SELECT COUNT(*) - COUNT(DISTINCT user_id, name_key) FROM project"); n != 0 {
		t.Errorf("%d names are there twice", n)
	}
	wrong := count(t, db, `SELECT COUNT(*) FROM (SELECT is_over_quota, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id) AS n FROM project) x
		WHERE is_over_quota <> (n > ?)`, limit)
	if wrong != 0 {
		t.Errorf("%d flags are wrong", wrong)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM project_archive WHERE is_over_quota <> 0"); n != 0 {
		t.Errorf("%d archived rows are flagged", n)
	}
	deleted := 0
	for _, alive := range m.alive {
		if !alive {
			deleted++
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != deleted {
		t.Errorf("%d jobs for %d deleted rows", n, deleted)
	}
}

func TestHostileNames(t *testing.T) {
	db := open(t)
	p, ctx := newRepos(t).projects, t.Context()
	for _, name := range []string{
		"x' for key 'PRIMARY", "'; DROP TABLE project; --", "`project`", `a"b\c`, "%_%", "🎉🎊 party", "שלום עולם", "e\u0301clair",
		strings.Repeat("x", 200), strings.Repeat("𝔘", 200), "a\u200db", "(Copy 1)", "x (Copy 0)", "x (Copy 999999)", "x (Copy 1000000)",
	} {
		res, err := p.Create(ctx, db, Project{UserID: 1, Name: name})
		if err != nil {
			t.Errorf("%.30q: %v", name, err)
			continue
		}
		if got := must(p.Get(ctx, db, res.Row.ID)); got.Name != name {
			t.Errorf("%.30q came back as %.30q", name, got.Name)
		}
		if _, err := p.Create(ctx, db, Project{UserID: 1, Name: name}); !errors.Is(err, repo.ErrNameTaken) {
			t.Errorf("%.30q twice: %v", name, err)
		}
		must(p.Archive(ctx, db, res.Row.ID))
		must(p.Create(ctx, db, Project{UserID: 1, Name: name}))
		if _, err := p.Activate(ctx, db, res.Row.ID); err != nil {
			t.Errorf("activating %.30q: %v", name, err)
		}
	}
	for name, want := range map[string]error{
		"": names.ErrEmpty, " \t": names.ErrEmpty, strings.Repeat("x", 300): names.ErrTooLong,
		"a\x00b": names.ErrInvalid, "a\xffb": names.ErrInvalid,
	} {
		if _, err := p.Create(ctx, db, Project{UserID: 1, Name: name}); !errors.Is(err, want) {
			t.Errorf("%.30q: %v, want %v", name, err, want)
		}
	}
}

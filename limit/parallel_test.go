package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestNeverOver: 64 callers want the last of it, by every verb that takes and gives, while sweeps count and a
// second pool guesses. At no commit there is more than the maximum, and at the end the room is right without a
// count.
func TestNeverOver(t *testing.T) {
	for _, files := range []int64{20, 8_400} { // in one row; in 64, and gathered when they are used up
		for _, level := range levels {
			t.Run(fmt.Sprintf("%d, %s", files, level), func(t *testing.T) {
				db, dsn := open(t, dbtest.Isolation(level))
				db.SetMaxOpenConns(64)
				s, other := newShop(t), newShop(t)
				s.allow(t, db, 7, files, 2000)
				if files > 20 { // all but a few of them held, in portions
					for i := range 8 {
						must(s.number.Reserve(t.Context(), db, fmt.Sprint("big", i), files/8-3, time.Hour, 7))
					}
				}
				crowd(t, db, dsn, level == sql.LevelRepeatableRead, s, other)
			})
		}
	}
}

// crowd: snapshots says that the server may refuse what is behind its snapshot until a call gives up.
func crowd(t *testing.T, db *sql.DB, dsn string, snapshots bool, shops ...shop) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var refused, done atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for n := range 8 {
				err := anything(ctx, db, shops[i%len(shops)], random, fmt.Sprintf("%d-%d", i, n))
				switch {
				case errors.Is(err, limit.ErrLimit):
					refused.Add(1)
				case snapshots && onerow.Retryable(err): // nothing was written
				case err != nil:
					t.Errorf("caller %d: %v", i, err)
				default:
					done.Add(1)
				}
			}
		})
	}
	watched := make(chan error, 1)
	go func() { watched <- watch(ctx, dsn, shops[0]) }()
	sweeper := limit.NewSweeper(db, limit.Config{Every: time.Nanosecond}, shops[0].number, shops[0].bytes)
	go func() {
		for ctx.Err() == nil { // the last one to its end: what is cut off may be committed a moment later
			if _, err := sweeper.RunOnce(context.WithoutCancel(ctx)); err != nil {
				t.Errorf("sweep: %v", err)
			}
		}
		watched <- nil
	}()
	wg.Wait()
	stop()
	for range 2 {
		if err := <-watched; err != nil {
			t.Error(err)
		}
	}
	shops[0].wantRoom(t, db, 7)
	t.Logf("%d done, %d refused", done.Load(), refused.Load())
	if done.Load() < 64 || refused.Load() == 0 {
		t.Errorf("%d done, %d refused: nothing was contended", done.Load(), refused.Load())
	}
}

// watch holds what is in use against the maximum, again and again, in a transaction that locks the room
// first: whatever was done with it before is committed then, and seen. A snapshot without that may show a
// commit and not an earlier one that it had waited for: MariaDB looks at the open transactions one by one
// when it makes one, and holds up nobody meanwhile.
func watch(ctx context.Context, dsn string, s shop) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for ctx.Err() == nil {
		begun := time.Now()
		tx, err := db.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		err = errors.Join(s.lockedRoom(context.WithoutCancel(ctx), tx, 7), tx.Rollback())
		if err != nil && !onerow.Retryable(err) {
			return err
		}
		time.Sleep(time.Since(begun)) // the others are what is watched
	}
	return nil
}

// lockedRoom is room in a transaction at READ COMMITTED, and nobody takes or gives meanwhile. It locks in the
// order in which the verbs do.
func (s shop) lockedRoom(ctx context.Context, tx *sql.Tx, user int64) error {
	for _, rule := range []*limit.Rule{s.number, s.bytes} {
		err := onerow.Query(ctx, tx, "SELECT room FROM onerow_limit WHERE name = ? AND owner = ? ORDER BY stripe FOR UPDATE",
			[]any{rule.Name(), fmt.Sprint(user)}, func(*sql.Rows) error { return nil })
		if err != nil {
			return err
		}
	}
	return s.room(ctx, tx, user)
}

// anything does what takes or gives with a file of its own or with anybody's.
func anything(ctx context.Context, db *sql.DB, s shop, random *rand.Rand, name string) error {
	someone := func() (id int64, err error) {
		err = onerow.QueryRow(ctx, db, "SELECT id FROM (SELECT id FROM file WHERE user_id = 7 UNION ALL SELECT id FROM file_archive WHERE user_id = 7) AS f ORDER BY RAND() LIMIT 1", nil, &id)
		return id, err
	}
	verb := random.IntN(9)
	id, err := someone()
	if verb < 3 || errors.Is(err, sql.ErrNoRows) {
		_, err := s.files.Create(ctx, db, File{UserID: 7, Name: name, Bytes: random.Int64N(100)}, repo.RequestID(name))
		return err
	}
	if err != nil {
		return err
	}
	switch verb {
	case 3:
		_, err = s.files.Archive(ctx, db, id)
	case 4:
		_, err = s.files.Activate(ctx, db, id)
	case 5:
		_, err = s.files.Delete(ctx, db, id, repo.Grace(time.Hour))
	case 6:
		_, err = s.files.CancelDelete(ctx, db, id)
	case 7:
		_, err = s.files.Update(ctx, db, id, func(f *File) error { f.Bytes = random.Int64N(100); return nil })
	case 8:
		if _, err = s.bytes.Reserve(ctx, db, name, 30, time.Duration(1+random.Int64N(1_000_000)), 7); err == nil {
			_, err = s.files.Create(ctx, db, File{UserID: 7, Name: name, Bytes: 25 + random.Int64N(10)}, repo.UseReservation(s.bytes, name))
		}
		if random.IntN(4) == 0 {
			err = errors.Join(err, s.bytes.Cancel(ctx, db, name, 7))
		}
	}
	for _, meanwhile := range []error{onerow.ErrNotFound, repo.ErrNotActive, repo.ErrTooLate} {
		if errors.Is(err, meanwhile) {
			return nil
		}
	}
	return err
}

// TestSweep: what nobody gave back and what nobody took, and what the cascade deleted.
func TestSweep(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 10, 1000)
	sweeper := limit.NewSweeper(db, limit.Config{Batch: 3, Every: time.Nanosecond}, s.number, s.bytes)
	sweep := func() (all limit.SweepResult) {
		t.Helper()
		for range 20 {
			res := must(sweeper.RunOnce(ctx))
			all.Counted, all.Corrected = all.Counted+res.Counted, all.Corrected+res.Corrected
			if !res.More {
				break
			}
		}
		return all
	}
	a := must(s.create(ctx, db, 7, "a", 10))
	must(s.create(ctx, db, 7, "b", 20))
	s.wantRoom(t, db, 7)
	if res := sweep(); res.Corrected != 0 || res.Counted == 0 {
		t.Errorf("%+v though all is right", res)
	}
	dbtest.Exec(t, db, "DELETE FROM file WHERE id = ?", a.ID) // by other hands: leaked
	if res := sweep(); res.Corrected == 0 {
		t.Errorf("%+v", res)
	}
	s.wantRoom(t, db, 7)
	dbtest.Exec(t, db, "INSERT INTO file (user_id, name, name_key, stem_key, bytes, created_at, updated_at) SELECT 7, 'x', 'x', 'x', 970, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)")
	sweep() // and taken behind its back
	s.wantRoom(t, db, 7)
	if _, err := s.create(ctx, db, 7, "c", 11); !errors.Is(err, limit.ErrLimit) {
		t.Errorf("%v", err)
	}

	// A negative amount, which no verb writes, counts for nothing and holds nothing up.
	dbtest.Exec(t, db, "UPDATE file SET bytes = -5 WHERE name = 'x'")
	sweep()
	x := must(s.files.Find(ctx, db, 7, "x"))
	must(s.files.Archive(ctx, db, x.ID))
	if state := must(s.bytes.Look(ctx, db, 7)); state != (limit.State{Used: 20, Max: 1000, Known: true}) {
		t.Errorf("%+v", state)
	}

	// An owner whom the application does not know any more leaves nothing behind.
	dbtest.Exec(t, db, "DELETE FROM file")
	dbtest.Exec(t, db, "DELETE FROM user")
	sweep()
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_limit WHERE name LIKE 'file%'"); n != 0 {
		t.Errorf("%d rows of nobody", n)
	}
	// One owner who cannot be counted holds up nobody, however small the batches are.
	for user := int64(1); user < 9; user++ {
		s.allow(t, db, user, 1, 1)
		must(s.create(ctx, db, user, "a", 1))
	}
	dbtest.Exec(t, db, "UPDATE user SET files = -9223372036854775807 WHERE id > 4")
	failing := must(limit.New(plan, "file", func(ctx context.Context, tx *onerow.Tx, owner any) (int, error) {
		if owner.(int64) < 5 {
			return 0, errors.New("cannot say")
		}
		return 2, nil
	}))
	sweeper = limit.NewSweeper(db, limit.Config{Batch: 2, Every: time.Nanosecond}, failing)
	counted := 0
	for range 8 {
		res, err := sweeper.RunOnce(ctx)
		if res.Failed > 0 != (err != nil) {
			t.Errorf("%+v %v", res, err)
		}
		counted += res.Counted
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_limit WHERE name = 'file' AND maximum = 2"); n != 4 || counted == 0 {
		t.Errorf("%d of 4 owners counted", n)
	}
}

// TestSweepGoesOn: a query that fails does not send the sweep back to the owners who cannot be counted.
func TestSweepGoesOn(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	for user := int64(1); user < 5; user++ {
		s.allow(t, db, user, 1, 1)
		must(s.create(ctx, db, user, "a", 1))
	}
	dbtest.Exec(t, db, "UPDATE onerow_limit SET counted_at = NULL")
	var asked []int64
	failing := must(limit.New(plan, "file", func(_ context.Context, _ *onerow.Tx, owner any) (int, error) {
		asked = append(asked, owner.(int64))
		return 0, errors.New("cannot say")
	}))
	sweeper := limit.NewSweeper(db, limit.Config{Batch: 2, Every: -1}, failing)
	for _, stmt := range []string{"RENAME TABLE onerow_limit TO away", "RENAME TABLE away TO onerow_limit", "DO 0"} {
		if _, err := sweeper.RunOnce(ctx); err == nil {
			t.Error("no error")
		}
		dbtest.Exec(t, db, stmt)
	}
	if !slices.Equal(slices.Compact(asked), []int64{1, 2, 3, 4}) {
		t.Errorf("owners %d were counted", asked)
	}
}

// tenants has documents of workspaces, which are counted for the tenant and for the workspace.
var tenants = schema.Plan{Tenant: schema.Column{Name: "tenant_id"}, Resources: []schema.Resource{{
	Name: "doc", IDType: "CHAR(26)", Archive: "doc_archive", Owner: "workspace", OwnerType: "VARCHAR(20)",
	Limits:  []schema.Limit{{Name: "docs"}, {Name: "pages", Sum: "pages", PerTenant: true}},
	Columns: []schema.Column{{Name: "pages", Type: "INT UNSIGNED NOT NULL"}},
}}}

type Doc struct {
	ID        string `db:"id"`
	Tenant    int64  `db:"tenant_id"`
	Workspace string `db:"workspace"`
	Pages     uint32 `db:"pages"`
}

type Workspace struct {
	Tenant int64  `db:"tenant_id"`
	Name   string `db:"workspace"`
}

// TestTenants: owners of two columns, one limit for both and one for the tenant, and ids of the application's.
func TestTenants(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	for _, stmt := range tenants.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	docs, pages := must(limit.New(tenants, "docs", fixed(2))), must(limit.New(tenants, "pages", fixed(100)))
	r := must(repo.NewOf[Doc, string, Workspace](tenants, "doc", docs, pages))
	create := func(id, workspace string, pages uint32) error {
		_, err := r.Create(ctx, db, Doc{ID: id, Tenant: 1, Workspace: workspace, Pages: pages})
		return err
	}
	must(0, errors.Join(create("a", "north", 40), create("b", "south", 40), create("a", "north", 40))) // the third is the first
	wantFull(t, create("c", "west", 21), limit.Error{Limit: "pages", Owner: "1", Wanted: 21, Used: 80, Max: 100})
	must(0, create("c", "north", 20))
	wantFull(t, create("d", "north", 0), limit.Error{Limit: "docs", Owner: "1,'north", Wanted: 1, Used: 2, Max: 2})
	must(r.Archive(ctx, db, "c"))
	must(0, create("d", "west", 20))
	if _, err := r.Create(ctx, db, Doc{ID: "e", Tenant: 2, Workspace: "north", Pages: 100}); err != nil {
		t.Error(err)
	}
	if state := must(pages.Look(ctx, db, 1)); state != (limit.State{Used: 100, Max: 100, Known: true}) {
		t.Errorf("%+v", state)
	}
	// Another spelling of a workspace has room of its own, whatever the collation says.
	must(0, errors.Join(create("f", "NORTH", 0), create("g", "NORTH", 0)))
	wantFull(t, create("h", "NORTH", 0), limit.Error{Limit: "docs", Owner: "1,'NORTH", Wanted: 1, Used: 2, Max: 2})
	must(0, docs.Recount(ctx, db, 1, "NORTH"))
	wantFull(t, create("h", "NORTH", 0), limit.Error{Limit: "docs", Owner: "1,'NORTH", Wanted: 1, Used: 2, Max: 2})
	// A move within the tenant takes from one of the limits only.
	if _, err := r.Move(ctx, db, "d", func(d *Doc) error { d.Workspace = "NORTH"; return nil }); !errors.Is(err, limit.ErrLimit) {
		t.Errorf("%v", err)
	}
	must(r.Move(ctx, db, "d", func(d *Doc) error { d.Workspace = "east"; return nil }))
	for workspace, want := range map[string]int64{"west": 0, "east": 1, "NORTH": 2} {
		if state := must(docs.Look(ctx, db, 1, workspace)); state.Used != want {
			t.Errorf("%s: %+v", workspace, state)
		}
	}
	for _, owner := range [][]any{{1, "north"}, {1, "south"}} {
		must(0, docs.Recount(ctx, db, owner...))
		if state := must(docs.Look(ctx, db, owner...)); state.Used != 1 {
			t.Errorf("%v: %+v", owner, state)
		}
	}
}

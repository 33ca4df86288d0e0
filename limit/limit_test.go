package limit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestVerbs walks a user's files through all that takes and gives, at the maximum.
func TestVerbs(t *testing.T) {
	for _, level := range levels {
		for _, joined := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, joined %v", level, joined), func(t *testing.T) {
				db, _ := open(t, dbtest.Isolation(level))
				testVerbs(t, newShop(t), db, joined)
			})
		}
	}
}

func testVerbs(t *testing.T, s shop, db *sql.DB, joined bool) {
	ctx := t.Context()
	do := func(fn func(db onerow.DB) error) error {
		if !joined {
			return fn(db)
		}
		var err error // a refusal has written nothing, so its transaction may be committed
		return errors.Join(err, onerow.InTx(ctx, db, func(_ context.Context, tx *onerow.Tx) error { err = fn(tx); return nil }), err)
	}
	create := func(name string, bytes int64) (f File, err error) {
		err = do(func(db onerow.DB) error { f, err = s.create(ctx, db, 7, name, bytes); return err })
		return f, err
	}
	s.allow(t, db, 7, 3, 100)
	a, b, c := must(create("a", 10)), must(create("b", 20)), must(create("c", 30))
	_, err := create("d", 1)
	wantFull(t, err, limit.Error{Limit: "file", Owner: "7", Wanted: 1, Used: 3, Max: 3})
	s.wantRoom(t, db, 7)

	update := func(f File, bytes int64) error {
		return do(func(db onerow.DB) error {
			_, err := s.files.Update(ctx, db, f.ID, func(f *File) error { f.Bytes = bytes; return nil })
			return err
		})
	}
	wantFull(t, update(c, 71), limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 41, Used: 60, Max: 100})
	if got := must(s.files.Get(ctx, db, c.ID)); got.Bytes != 30 {
		t.Errorf("a refused update wrote %d bytes", got.Bytes)
	}
	if err := errors.Join(update(c, 70), update(c, 30)); err != nil {
		t.Error(err)
	}
	s.wantRoom(t, db, 7)

	if err := do(func(db onerow.DB) error { _, err := s.files.Archive(ctx, db, a.ID); return err }); err != nil {
		t.Error(err)
	}
	d := must(create("d", 50))
	err = do(func(db onerow.DB) error { _, err := s.files.Activate(ctx, db, a.ID); return err })
	wantFull(t, err, limit.Error{Limit: "file", Owner: "7", Wanted: 1, Used: 3, Max: 3})
	if got := must(s.files.Get(ctx, db, a.ID)); got.State != string(schema.Archived) {
		t.Errorf("after a refused activation the row is %s", got.State)
	}
	s.wantRoom(t, db, 7)

	grace := func(f File) error {
		return do(func(db onerow.DB) error { _, err := s.files.Delete(ctx, db, f.ID, repo.Grace(time.Hour)); return err })
	}
	if err := grace(d); err != nil {
		t.Error(err)
	}
	_, err = create("e", 1)
	wantFull(t, err, limit.Error{Limit: "file", Owner: "7", Wanted: 1, Used: 3, Max: 3, Hidden: 1})
	if !strings.Contains(err.Error(), "1 by rows that a deletion hides") {
		t.Errorf("%v does not say who has it", err)
	}
	if err := do(func(db onerow.DB) error { _, err := s.files.CancelDelete(ctx, db, d.ID); return err }); err != nil {
		t.Errorf("undo: %v", err)
	}
	s.wantRoom(t, db, 7)

	if err := do(func(db onerow.DB) error { _, err := s.files.Delete(ctx, db, b.ID); return err }); err != nil {
		t.Error(err)
	}
	_, err = create("f", 21)
	wantFull(t, err, limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 21, Used: 80, Max: 100})
	must(create("f", 20))
	s.wantRoom(t, db, 7)

	// A lower maximum refuses until enough has gone; a name taken is told first.
	s.allow(t, db, 7, 1, 100)
	_, err = create("g", 0)
	wantFull(t, err, limit.Error{Limit: "file", Owner: "7", Wanted: 1, Used: 3, Max: 1})
	if _, err := create("f", 0); !errors.Is(err, repo.ErrNameTaken) {
		t.Errorf("%v", err)
	}
	s.allow(t, db, 7, nil, nil)
	must(create("g", 1<<40))
	s.wantRoom(t, db, 7)
	if state := must(s.bytes.Look(ctx, db, 7)); state.Max != -1 || state.Used != 100+1<<40 {
		t.Errorf("%+v", state)
	}
}

// TestMove: the new owner needs the room, and the old one has it back.
func TestMove(t *testing.T) {
	for _, level := range levels {
		db, _ := open(t, dbtest.Isolation(level))
		s, ctx := newShop(t), t.Context()
		s.allow(t, db, 7, 2, 100)
		s.allow(t, db, 8, 1, 50)
		a, b := must(s.create(ctx, db, 7, "a", 51)), must(s.create(ctx, db, 7, "b", 10))
		move := func(f File, user int64) error {
			return second(s.files.Move(ctx, db, f.ID, func(f *File) error { f.UserID = user; return nil }))
		}
		wantFull(t, move(a, 8), limit.Error{Limit: "file.bytes", Owner: "8", Wanted: 51, Max: 50})
		must(0, errors.Join(move(b, 8), move(b, 8)))
		wantFull(t, move(a, 8), limit.Error{Limit: "file", Owner: "8", Wanted: 1, Used: 1, Max: 1})
		s.wantRoom(t, db, 7)
		s.wantRoom(t, db, 8)
		must(s.create(ctx, db, 7, "c", 49))
		wantFull(t, move(b, 7), limit.Error{Limit: "file", Owner: "7", Wanted: 1, Used: 2, Max: 2})
		s.wantRoom(t, db, 7)
		s.wantRoom(t, db, 8)
	}
}

// TestReservations: held, used, extended, cancelled, over.
func TestReservations(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			s, ctx := newShop(t), t.Context()
			s.allow(t, db, 7, 10, 100)
			reserve := func(key string, n int64, lasts time.Duration) (bool, error) {
				return s.bytes.Reserve(ctx, db, key, n, lasts, 7)
			}
			if replayed, err := reserve("up", 60, time.Hour); replayed || err != nil {
				t.Fatal(replayed, err)
			}
			if replayed, err := reserve("up", 60, time.Hour); !replayed || err != nil {
				t.Fatal(replayed, err)
			}
			if _, err := reserve("up", 61, time.Hour); !errors.Is(err, limit.ErrOtherReservation) {
				t.Errorf("%v", err)
			}
			_, err := reserve("down", 41, time.Hour)
			wantFull(t, err, limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 41, Used: 60, Max: 100, Reserved: 60})
			_, err = s.create(ctx, db, 7, "a", 41)
			wantFull(t, err, limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 41, Used: 60, Max: 100, Reserved: 60})
			s.wantRoom(t, db, 7)

			use := func(name, key string, bytes int64) error {
				_, err := s.files.Create(ctx, db, File{UserID: 7, Name: name, Bytes: bytes}, repo.UseReservation(s.bytes, key))
				return err
			}
			wantFull(t, use("a", "up", 101), limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 41, Used: 60, Max: 100, Reserved: 60})
			if err := use("a", "up", 70); err != nil { // more than was reserved
				t.Fatal(err)
			}
			s.wantRoom(t, db, 7)
			wantFull(t, use("b", "up", 31), limit.Error{Limit: "file.bytes", Owner: "7", Wanted: 31, Used: 70, Max: 100})
			must(reserve("up", 30, time.Hour))
			if err := errors.Join(use("b", "up", 10), s.bytes.Cancel(ctx, db, "up", 7), s.bytes.Cancel(ctx, db, "up", 7)); err != nil {
				t.Error(err)
			}
			s.wantRoom(t, db, 7)
			must(reserve("x", 20, time.Hour))
			if err := s.bytes.Cancel(ctx, db, "x", 7); err != nil {
				t.Error(err)
			}
			s.wantRoom(t, db, 7)

			a := must(s.files.Find(ctx, db, 7, "a")).ID
			// Over: who needs the room has it, or the sweep gives it back.
			must(reserve("late", 20, time.Microsecond))
			if err := use("c", "late", 20); err != nil {
				t.Errorf("one that is over and still there: %v", err)
			}
			must(s.files.Update(ctx, db, a, func(f *File) error { f.Bytes = 10; return nil }))
			must(reserve("late", 60, time.Microsecond))
			must(s.create(ctx, db, 7, "d", 60))
			s.wantRoom(t, db, 7)
			must(s.files.Update(ctx, db, a, func(f *File) error { f.Bytes = 5; return nil }))
			must(reserve("late", 5, time.Microsecond))
			res, err := limit.NewSweeper(db, limit.Config{}, s.bytes).RunOnce(ctx)
			if err != nil || res.Expired != 1 || res.More {
				t.Errorf("%+v %v", res, err)
			}
			s.wantRoom(t, db, 7)
			if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_reservation"); n != 0 {
				t.Errorf("%d reservations", n)
			}
		})
	}
}

// TestInvalid: what cannot be asked for, and what New and repo.New say.
func TestInvalid(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 10, 100)
	if _, err := s.create(ctx, db, 7, "a", -1); !errors.Is(err, limit.ErrAmount) {
		t.Errorf("%v", err)
	}
	for name, err := range map[string]error{
		"nothing":   second(s.bytes.Reserve(ctx, db, "k", 0, time.Hour, 7)),
		"negative":  second(s.bytes.Reserve(ctx, db, "k", -1, time.Hour, 7)),
		"too much":  second(s.bytes.Reserve(ctx, db, "k", limit.MaxAmount+1, time.Hour, 7)),
		"no key":    second(s.bytes.Reserve(ctx, db, "", 1, time.Hour, 7)),
		"long key":  second(s.bytes.Reserve(ctx, db, strings.Repeat("k", 256), 1, time.Hour, 7)),
		"no time":   second(s.bytes.Reserve(ctx, db, "k", 1, 0, 7)),
		"no owner":  second(s.bytes.Reserve(ctx, db, "k", 1, time.Hour)),
		"an owner":  second(s.bytes.Reserve(ctx, db, "k", 1, time.Hour, "Bob")),
		"unknown":   second(limit.New(plan, "files", func(context.Context, *onerow.Tx, any) (int, error) { return 0, nil })),
		"maximum":   second(limit.New(plan, "file", nil)),
		"no rule":   second(repo.New[File](plan, "file", s.number)),
		"no limit":  second(repo.New[Project](plan, "project", s.number)),
		"no owner'": s.bytes.Recount(ctx, db),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		t.Logf("%s: %v", name, err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_reservation") + dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM file"); n != 0 {
		t.Errorf("%d rows", n)
	}
	// A user who does not exist has no room, and leaves nothing behind.
	_, err := s.create(ctx, db, 8, "a", 1)
	wantFull(t, err, limit.Error{Limit: "file", Owner: "8", Wanted: 1})
	if !strings.HasPrefix(err.Error(), "repo: create file: ") {
		t.Errorf("the refusal does not name the verb: %v", err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_limit WHERE owner = '8'"); n != 0 {
		t.Errorf("%d rows of a user who does not exist", n)
	}
	broken := must(limit.New(plan, "file", quota.LimitQuery("SELECT nothing FROM user WHERE id = ?")))
	files := must(repo.New[File](plan, "file", broken, s.bytes))
	if _, err := files.Create(ctx, db, File{UserID: 9, Name: "a"}); err == nil || errors.Is(err, limit.ErrLimit) {
		t.Errorf("%v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestSpread takes much room to its end: dealt in many rows first, in one at last.
func TestSpread(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 7, 20_000, nil)
	rows := func() int {
		return dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_limit WHERE name = 'file'")
	}
	taken, most := int64(0), 0
	for i := 0; ; i++ {
		n := int64(1 + i%900)
		_, err := s.number.Reserve(ctx, db, fmt.Sprint(i), n, time.Hour, 7)
		if errors.Is(err, limit.ErrLimit) {
			wantFull(t, err, limit.Error{Limit: "file", Owner: "7", Wanted: n, Used: taken, Max: 20_000, Reserved: taken})
			if taken+n <= 20_000 {
				t.Errorf("%d of 20000 taken, and %d refused", taken, n)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		taken += n
		most = max(most, rows())
	}
	s.wantRoom(t, db, 7)
	if most != 64 || rows() != 1 {
		t.Errorf("dealt in %d rows, then in %d", most, rows())
	}
	// Two processes guess differently, and agree.
	other := newShop(t)
	for i := range 40 {
		must(0, errors.Join(s.number.Cancel(ctx, db, fmt.Sprint(2*i), 7), other.number.Cancel(ctx, db, fmt.Sprint(2*i+1), 7)))
	}
	s.wantRoom(t, db, 7)
	must(0, other.number.Recount(ctx, db, 7))
	s.wantRoom(t, db, 7)
	for i := range 20 {
		must(s.number.Reserve(ctx, db, fmt.Sprint("again", i), 1, time.Hour, 7))
	}
	s.wantRoom(t, db, 7)
}

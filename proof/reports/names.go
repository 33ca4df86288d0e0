package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
)

// seat has a name, and a code that another index makes unique.
type seat struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Code   string `db:"code"`
}

var seats = schema.Plan{Resources: []schema.Resource{{
	Name: "seat", Archive: "seat_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
	Columns: []schema.Column{{Name: "code", Type: "VARCHAR(20) NOT NULL"}},
	Indexes: []schema.Index{{Columns: []string{"code"}, Unique: true}},
}}}

// secondIndex makes rows that another index than that of the name refuses, one by one and at the same moment.
func secondIndex(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, seats); err != nil {
		return err
	}
	rows, err := repo.New[seat](seats, "seat")
	if err != nil {
		return err
	}
	held, err := rows.Create(ctx, s.db, seat{UserID: 7, Name: "window", Code: "A1"}, repo.RequestID("one"))
	if err != nil {
		return err
	}
	refused := func(err error, holder int64) error {
		var e *repo.ConflictError
		if !errors.As(err, &e) || errors.Is(err, repo.ErrNameTaken) || fmt.Sprint(e.Columns, e.HolderID) != fmt.Sprintf("[code] %d", holder) {
			return fmt.Errorf("a code that row %d has: %w", holder, err)
		}
		return nil
	}
	_, err = rows.Create(ctx, s.db, seat{UserID: 8, Name: "aisle", Code: "A1"}, repo.RequestID("two"))
	if err := first(refused(err, held.Row.ID), s.want(ctx, 1, "SELECT COUNT(*) FROM seat")); err != nil {
		return err
	}
	made := make([]int64, 8)
	errs := together(len(made), func(i int) error {
		res, err := rows.Create(ctx, s.db, seat{UserID: 7, Name: fmt.Sprint("row ", i), Code: "B1"})
		made[i] = res.Row.ID
		return err
	})
	var winner int64
	for i, err := range errs {
		if err == nil {
			if winner != 0 || made[i] == 0 {
				return fmt.Errorf("two callers were given the code: %v", made)
			}
			winner = made[i]
		}
	}
	for _, err := range errs {
		if err != nil {
			if err := refused(err, winner); err != nil {
				return err
			}
		}
	}
	return s.want(ctx, 1, "SELECT COUNT(*) FROM seat WHERE code = 'B1'")
}

// lookalikes are names that some collation takes for each other, and people do not.
var lookalikes = []string{"🎩", "💥", "San José", "San Jose", "Københaven", "Kobenhaven", "u", "ü"}

// alike gives one owner names that differ by emoji and accents.
func alike(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, seats, "CREATE TABLE plain (name VARCHAR(20) COLLATE utf8mb4_unicode_ci PRIMARY KEY)", "INSERT INTO plain VALUES ('🎩')"); err != nil {
		return err
	}
	if err := s.exec(ctx, "INSERT INTO plain VALUES ('💥')"); err != nil {
		s.note = fmt.Sprintf("by hand: error %d for the second emoji", number(err))
	}
	rows, err := repo.New[seat](seats, "seat")
	if err != nil {
		return err
	}
	ids := map[string]int64{}
	for i, name := range lookalikes {
		res, err := rows.Create(ctx, s.db, seat{UserID: 7, Name: name, Code: fmt.Sprint(i)})
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		ids[name] = res.Row.ID
	}
	for name, id := range ids {
		if found, err := rows.Find(ctx, s.db, 7, name); err != nil || found.ID != id || found.Name != name {
			return fmt.Errorf("%q is row %d: %+v, %w", name, id, found, err)
		}
	}
	_, err = rows.Create(ctx, s.db, seat{UserID: 7, Name: " san  JOSÉ", Code: "x"}) // what people do take for the same
	return unless(errors.Is(err, repo.ErrNameTaken), "another spelling of a name: %v", err)
}

// spelled are keys that a collation would take for fewer.
var spelled = []string{"4qD329Bz", "4qd329bz", "4qD329Bz ", "ß", "ss", "é", "e", "e\u0301", "🎩", "💥"}

// keysBySpelling uses each of these keys in each package that takes one.
func keysBySpelling(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, seats); err != nil {
		return err
	}
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return err
	}
	numbers, err := serial.New("tickets")
	if err != nil {
		return err
	}
	rows, err := repo.New[seat](seats, "seat")
	if err != nil {
		return err
	}
	for round := range 2 { // the second is a repeat of each key's own
		again := round == 1
		for i, k := range spelled {
			done, err := idempotency.Do(ctx, s.db, keys, idempotency.Key{Tenant: k, Operation: "pay", ID: k},
				func(context.Context, *onerow.Tx) (string, error) { return k, nil })
			claim, serialErr := numbers.Claim(ctx, s.db, k, 1)
			row, rowErr := rows.Create(ctx, s.db, seat{UserID: 7, Name: fmt.Sprint("seat ", i), Code: fmt.Sprint(i)}, repo.RequestID(k))
			owner, flowErr := flow.Claim(ctx, s.db, flow.Run{Flow: k, RequestID: "r" + k})
			last, streamErr := ordering.Guard[int]{Consumer: "c"}.Apply(ctx, s.db, ordering.Message{Stream: k, Sequence: 1},
				func(_ context.Context, _ *onerow.Tx, _ ordering.Message, state *int) error { *state = i; return nil })
			if err := errors.Join(err, serialErr, rowErr, flowErr, streamErr); err != nil {
				return fmt.Errorf("%q: %w", k, err)
			}
			if done.Row != k || done.Replayed != again || claim.Row.From != int64(i+1) || row.Replayed != again ||
				(owner.Outcome == flow.Redelivered) != again || (last.Outcome == ordering.Stale) != again || last.Row.State != i {
				return fmt.Errorf("%q, again %t: %+v, %+v, %+v, %+v, %+v", k, again, done, claim, row, owner, last)
			}
		}
	}
	return nil
}

// review counts below a limit.
type review struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
}

var reviews = schema.Plan{Resources: []schema.Resource{{
	Name: "review", Archive: "review_archive", Owner: "user_id", Limits: []schema.Limit{{}},
}}}

// deletedTwice archives and deletes one row from eight places at once; then as many rows fit as there is
// room.
func deletedTwice(ctx context.Context, s *scene) error {
	if err := s.plant(ctx, reviews, "CREATE TABLE counter (n BIGINT UNSIGNED NOT NULL)", "INSERT INTO counter VALUES (0)"); err != nil {
		return err
	}
	_, err := s.plain.ExecContext(ctx, "UPDATE counter SET n = n - 1")
	s.note = fmt.Sprintf("by hand: error %d below zero", number(err))
	const most = 10
	rule, err := limit.New(reviews, "review", quota.Fixed(most))
	if err != nil {
		return err
	}
	rows, err := repo.New[review](reviews, "review", rule)
	if err != nil {
		return err
	}
	var ids []int64 // not from 1 on: what is taken back has burned some
	for range 5 {
		made, err := rows.Create(ctx, s.db, review{UserID: 7})
		if err != nil {
			return err
		}
		ids = append(ids, made.Row.ID)
	}
	errs := together(24, func(i int) (err error) {
		switch i % 3 {
		case 0:
			_, err = rows.Archive(ctx, s.db, ids[0])
		case 1:
			_, err = rows.Delete(ctx, s.db, ids[1])
		default:
			_, err = rows.Delete(ctx, s.db, ids[0])
		}
		if errors.Is(err, onerow.ErrNotFound) {
			return nil // an Archive of what somebody has deleted
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	used, err := rule.Look(ctx, s.db, 7)
	if err != nil || used.Used != 3 {
		return fmt.Errorf("3 rows are left, and in use are %+v: %w", used, err)
	}
	for n := 3; ; n++ {
		_, err := rows.Create(ctx, s.db, review{UserID: 7})
		if errors.Is(err, limit.ErrLimit) {
			return first(unless(n == most, "%d rows were let in, and not %d", n, most), s.want(ctx, most, "SELECT COUNT(*) FROM review"))
		}
		if err != nil || n > most {
			return fmt.Errorf("row %d: %w", n+1, err)
		}
	}
}

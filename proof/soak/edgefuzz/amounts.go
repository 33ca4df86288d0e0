package edgefuzz

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// edgeOwners are who has amounts and flags.
var edgeOwners = []int64{0, -1, math.MinInt64, math.MaxInt64}

// sized is a row that counts for something.
type sized[N number] struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Size   N      `db:"size"`
}

// amounts are rows below limits, a lane for each type.
type amounts struct {
	w     *world
	lanes []amountLane
	rules []*limit.Rule
}

// amountLane is a resource of one type.
type amountLane interface {
	call(ctx context.Context, r *rand.Rand)
	judge(ctx context.Context) error
	begin()
}

func (*amounts) resources() (all []schema.Resource) {
	for _, t := range integers {
		all = append(all, schema.Resource{
			Name: "amount_" + t.name, Archive: "amount_" + t.name + "_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
			Limits:  []schema.Limit{{}, {Sum: "size"}},
			Columns: []schema.Column{{Name: "size", Type: t.sql + " NOT NULL DEFAULT 0"}},
			Trash:   schema.NoTrash,
		})
	}
	return all
}

func (a *amounts) init(_ context.Context, w *world) error {
	a.w = w
	for _, t := range integers {
		lane, rules, err := newAmountLane(w, t)
		if err != nil {
			return err
		}
		a.lanes, a.rules = append(a.lanes, lane), append(a.rules, rules[:]...)
	}
	return nil
}

func newAmountLane(w *world, t integer) (amountLane, [2]*limit.Rule, error) {
	if t.unsigned {
		return makeAmountLane[uint64](w, t)
	}
	return makeAmountLane[int64](w, t)
}

func makeAmountLane[N number](w *world, t integer) (amountLane, [2]*limit.Rule, error) {
	l := &sizedRows[N]{w: w, t: t, name: "amount_" + t.name, most: min(t.most(), uint64(limit.MaxAmount)), draws: append(ends[N](t), N(limit.MaxAmount), N(limit.MaxAmount)+1, 2, 3)}
	if t.bits < 64 {
		l.draws = append(l.draws, N(t.most()+1))
	}
	var err error
	for i, one := range []string{l.name, l.name + ".size"} {
		column := []string{"files", "size"}[i]
		query := fmt.Sprintf("SELECT %s FROM allowed WHERE lane = '%s' AND user_id = ? ORDER BY version DESC LIMIT 1", column, l.name)
		if l.rules[i], err = limit.New(w.plan, one, quota.LimitQuery(query)); err != nil {
			return nil, l.rules, fmt.Errorf("soak: %w", err)
		}
	}
	l.files, err = repo.New[sized[N]](w.plan, l.name, l.rules[0], l.rules[1])
	return l, l.rules, err //nolint:wrapcheck // it says all
}

func (a *amounts) begin(ctx context.Context, r *rand.Rand) error {
	for _, t := range integers {
		for _, owner := range edgeOwners {
			files, size := maxima(r, t)
			if size != nil && size.(int64) > limit.MaxAmount {
				size = nil
			}
			if _, err := a.w.admin.ExecContext(ctx, sqlAllow, "amount_"+t.name, owner, files, size); err != nil {
				return fmt.Errorf("soak: %w", err)
			}
		}
	}
	for _, l := range a.lanes {
		l.begin()
	}
	return nil
}

// sqlAllow keeps the maxima that there were: the last one counts.
const sqlAllow = "INSERT INTO allowed (lane, user_id, files, size) VALUES (?, ?, ?, ?)"

// ownTables are the application's.
var ownTables = []string{
	`CREATE TABLE allowed (version BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, lane VARCHAR(40) NOT NULL, user_id BIGINT NOT NULL,
  files BIGINT NULL, size BIGINT NULL, INDEX (lane, user_id, version)) ENGINE=InnoDB`,
	`CREATE TABLE numbered (series VARBINARY(255) NOT NULL, no BIGINT NOT NULL, INDEX (series, no)) ENGINE=InnoDB`,
}

// maxima draws what an owner may have; nil is no limit.
func maxima(r *rand.Rand, t integer) (files, size any) {
	most := min(t.most(), uint64(limit.MaxAmount))
	all := []int64{
		0, 1, 2, int64(most - 1), int64(most), int64(min(most+1, uint64(limit.MaxAmount))), int64(min(3*most, uint64(limit.MaxAmount))), //nolint:gosec // at most 2^60
		limit.MaxAmount, limit.MaxAmount - 1, limit.MaxAmount + 1, math.MaxInt64, -1, math.MinInt64,
	}
	files, size = r.Int64N(12), all[r.IntN(len(all))]
	switch r.IntN(10) {
	case 0:
		size = nil
	case 1:
		files = nil
	case 2:
		files = int64(limit.MaxAmount)
	}
	return files, size
}

func (a *amounts) act(ctx context.Context, seed uint64) error {
	var callers sync.WaitGroup
	for i := range a.w.Clients {
		r := a.w.Rand(seed<<16 | uint64(i)) //nolint:gosec // small
		lanes := [3]amountLane{}            // few, so that callers meet
		pick := a.w.Rand(seed<<16 | 999)
		for i := range lanes {
			lanes[i] = a.lanes[pick.IntN(len(a.lanes))]
		}
		callers.Go(func() {
			for range 60 {
				lanes[r.IntN(len(lanes))].call(ctx, r)
			}
		})
	}
	callers.Wait()
	return nil
}

func (a *amounts) judge(ctx context.Context) error {
	sweeper := limit.NewSweeper(a.w.pools[0], limit.Config{Every: -1}, a.rules...)
	for more := true; more; {
		res, err := sweeper.RunOnce(ctx)
		if err != nil {
			a.w.found.Add(brokenError, "sweep: %v", err)
		}
		more = res.More && err == nil
	}
	for _, l := range a.lanes {
		if err := l.judge(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sizedRows is the lane of one type.
type sizedRows[N number] struct {
	w      *world
	t      integer
	name   string
	most   uint64 // of an amount
	draws  []N
	files  *repo.Repo[sized[N]]
	rules  [2]*limit.Rule
	number atomic.Int64
}

func (l *sizedRows[N]) begin() {}

// fits says whether an amount is one.
func (l *sizedRows[N]) fits(n N) bool { return n >= 0 && uint64(n) <= l.most }

// call runs a verb, or several in a transaction.
func (l *sizedRows[N]) call(ctx context.Context, r *rand.Rand) {
	db := l.w.pick(r)
	if r.IntN(4) > 0 {
		_ = l.verb(ctx, db, r) //nolint:errcheck // it has noted what the verb answered
		return
	}
	seed := r.Uint64()
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not a secret
		for range 1 + r.IntN(3) {
			if err := l.verb(ctx, tx, r); err != nil && (tx.Err() != nil || onerow.Retryable(err) || errors.Is(err, limit.ErrAmount)) {
				return err // of a maximum that was not to be: it is written
			}
		}
		if r.IntN(4) == 0 {
			return errChanged
		}
		return nil
	})
	l.w.note(l.name+" in a transaction", err, errChanged, limit.ErrAmount)
}

// refusals are errors that verbs of rows below limits name.
var refusals = []error{
	limit.ErrLimit, onerow.ErrNotFound, repo.ErrNotActive, repo.ErrTooLate, onerow.ErrMoved, limit.ErrOtherReservation, repo.ErrConflict,
}

// verb runs one.
func (l *sizedRows[N]) verb(ctx context.Context, db onerow.DB, r *rand.Rand) (err error) {
	owner, size := edgeOwners[r.IntN(len(edgeOwners))], l.draws[r.IntN(len(l.draws))]
	kind := r.IntN(16)
	fits, takes := l.fits(size), true
	switch kind {
	case 0, 1, 2, 3, 4:
		_, err = l.files.Create(ctx, db, sized[N]{UserID: owner, Name: l.fresh(), Size: size})
	case 5:
		_, err = l.files.Create(ctx, db, sized[N]{UserID: owner, Name: l.fresh(), Size: size}, repo.UseReservation(l.rules[1], fmt.Sprint("key ", r.IntN(4))))
	case 6:
		key, amount := fmt.Sprint("key ", r.IntN(4)), []int64{-1, math.MinInt64, 0, 1, 7, limit.MaxAmount, limit.MaxAmount + 1, math.MaxInt64}[r.IntN(8)]
		fits = amount > 0 && amount <= limit.MaxAmount
		_, err = l.rules[1].Reserve(ctx, db, key, amount, time.Hour, owner)
	case 7:
		takes = false
		err = l.rules[1].Cancel(ctx, db, fmt.Sprint("key ", r.IntN(4)), owner)
	case 8, 9:
		err = l.allow(ctx, db, r, owner)
	default:
		id, found := l.any(ctx, r)
		if !found {
			return nil
		}
		if kind == 10 {
			_, err = l.files.Update(ctx, db, id, func(row *sized[N]) error { row.Size = size; return nil })
			break
		}
		takes = false
		err = l.change(ctx, db, r, kind, id, owner)
	}
	l.judgeAnswer(kind, fits, takes, size, err)
	return err
}

func (l *sizedRows[N]) judgeAnswer(kind int, fits, takes bool, size N, err error) {
	known := refusals
	if kind == 8 || kind == 9 {
		known = []error{limit.ErrAmount} // of a maximum
	} else if takes && !fits {
		known = append([]error{limit.ErrAmount}, refusals...)
		if err == nil || kind < 7 && !errors.Is(err, limit.ErrAmount) {
			l.w.found.Add(brokenAmount, "%s: %v (verb %d): %v", l.name, size, kind, err)
		}
	}
	var over *limit.Error
	if errors.As(err, &over) && over.Max >= over.Used && over.Max-over.Used >= over.Wanted {
		l.w.found.Add(brokenOver, "%s: refused, though there is room: %+v", l.name, *over)
	}
	l.w.note(fmt.Sprint(l.name, ": verb ", kind), err, known...)
}

// fresh is a name that no row has.
func (l *sizedRows[N]) fresh() string { return fmt.Sprint("n", l.number.Add(1)) }

// change runs a verb on a row.
func (l *sizedRows[N]) change(ctx context.Context, db onerow.DB, r *rand.Rand, kind int, id, owner int64) (err error) {
	switch kind {
	case 11:
		_, err = l.files.Archive(ctx, db, id)
	case 12:
		_, err = l.files.Activate(ctx, db, id)
	case 13:
		_, err = l.files.Delete(ctx, db, id, repo.Grace([]time.Duration{time.Millisecond, time.Hour}[r.IntN(2)]))
	case 14:
		if r.IntN(2) == 0 {
			_, err = l.files.CancelDelete(ctx, db, id)
		} else {
			_, err = l.files.Delete(ctx, db, id)
		}
	default:
		_, err = l.files.Move(ctx, db, id, func(row *sized[N]) error { row.UserID = owner; return nil })
	}
	return err //nolint:wrapcheck // it is looked at
}

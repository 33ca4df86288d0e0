package edgefuzz

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

const brokenFlag = "not as many rows are flagged as there are beyond the quota, or the wrong ones"

// ranked is a row that may be over the quota.
type ranked struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
	Rank   uint64 `db:"place"`
	Over   bool   `db:"is_over_quota"`
}

// flags are rows in the order of a column that holds 0 and 2^64-1.
type flags struct {
	w      *world
	rule   *quota.Rule
	rows   *repo.Repo[ranked]
	number atomic.Int64
}

func (*flags) resources() []schema.Resource {
	return []schema.Resource{{
		Name: "flagged", Archive: "flagged_archive", Owner: "user_id", Label: schema.Label{Column: "name"},
		Quota:   schema.Quota{Flag: "is_over_quota", By: "place", Descending: true},
		Columns: []schema.Column{{Name: "place", Type: "BIGINT UNSIGNED NOT NULL DEFAULT 0"}},
		Trash:   schema.NoTrash,
	}}
}

func (f *flags) init(_ context.Context, w *world) (err error) {
	f.w = w
	if f.rule, err = quota.New(w.plan, "flagged", quota.LimitQuery("SELECT size FROM allowed WHERE lane = 'flagged' AND user_id = ? ORDER BY version DESC LIMIT 1")); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	f.rows, err = repo.New[ranked](w.plan, "flagged")
	return err //nolint:wrapcheck // it says all
}

var (
	ranks  = []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64}
	quotas = []any{int64(0), int64(1), int64(2), int64(5), int64(math.MaxInt32), int64(math.MaxInt32 + 1), int64(math.MaxInt64), int64(-1), int64(math.MinInt64), nil}
)

func (f *flags) begin(ctx context.Context, r *rand.Rand) error {
	for _, owner := range edgeOwners {
		if _, err := f.w.admin.ExecContext(ctx, sqlAllow, "flagged", owner, nil, quotas[r.IntN(len(quotas))]); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
	}
	return nil
}

func (f *flags) act(ctx context.Context, seed uint64) error {
	var callers sync.WaitGroup
	for i := range f.w.Clients {
		r := f.w.Rand(seed<<16 | uint64(i)) //nolint:gosec // small
		callers.Go(func() {
			for range 30 {
				what, err := f.call(ctx, f.w.pick(r), r)
				f.w.note("flagged: "+what, err, onerow.ErrNotFound, repo.ErrNotActive, onerow.ErrMoved, repo.ErrConflict)
			}
		})
	}
	callers.Wait()
	return nil
}

func (f *flags) call(ctx context.Context, db *sql.DB, r *rand.Rand) (what string, err error) {
	owner, rank := edgeOwners[r.IntN(len(edgeOwners))], ranks[r.IntN(len(ranks))]
	var id int64
	kind := r.IntN(9)
	if kind > 3 && f.w.admin.QueryRowContext(ctx, fmt.Sprintf(sqlAnySize, "flagged"), r.Int32()).Scan(&id) != nil {
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		_, err = f.rows.Create(ctx, db, ranked{UserID: owner, Name: fmt.Sprint("n", f.number.Add(1)), Rank: rank})
		return "Create", err //nolint:wrapcheck // it is looked at
	case 3:
		return "Mark", onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := onerow.AffectOne(ctx, tx, sqlAllow, "flagged", owner, nil, quotas[r.IntN(len(quotas))]); err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
			return quota.Mark(ctx, tx, "flagged", owner)
		})
	case 4:
		_, err = f.rows.Archive(ctx, db, id)
	case 5:
		_, err = f.rows.Activate(ctx, db, id)
	case 6:
		_, err = f.rows.Delete(ctx, db, id)
	case 7:
		_, err = f.rows.Update(ctx, db, id, func(row *ranked) error { row.Rank = rank; return nil })
	default:
		err = f.rule.Settle(ctx, db, owner)
	}
	return fmt.Sprint("verb ", kind), err //nolint:wrapcheck // it is looked at
}

// sqlFlagged counts an owner's rows, those that are flagged, and pairs of which the wrong one is.
const sqlFlagged = `SELECT COUNT(*), COALESCE(SUM(is_over_quota), 0),
 (SELECT COUNT(*) FROM flagged AS a JOIN flagged AS b ON a.user_id = b.user_id AND a.is_over_quota = 1 AND b.is_over_quota = 0 AND a.place > b.place WHERE a.user_id = ?),
 COALESCE((SELECT size FROM allowed WHERE lane = 'flagged' AND user_id = ? ORDER BY version DESC LIMIT 1), -1)
 FROM flagged WHERE user_id = ?`

func (f *flags) judge(ctx context.Context) error {
	for _, owner := range edgeOwners {
		if err := f.rule.Settle(ctx, f.w.pools[0], owner); err != nil {
			f.w.found.Add(brokenError, "settle: %v", err)
		}
		var rows, flagged, wrong, most int64
		if err := f.w.admin.QueryRowContext(ctx, sqlFlagged, owner, owner, owner).Scan(&rows, &flagged, &wrong, &most); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		want := max(rows-most, 0)
		if most < 0 {
			want = 0
		}
		if flagged != want || wrong > 0 {
			f.w.found.Add(brokenFlag, "owner %d: %d of %d rows, the quota is %d; %d pairs are the wrong way round", owner, flagged, rows, most, wrong)
		}
	}
	return nil
}

package edgefuzz

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
)

// Kinds of findings of amounts.
const (
	brokenAmount = "what is no amount is not refused as one"
	brokenRoom   = "what is in use is not what the rows sum up to"
	brokenCount  = "a count changes what is in use"
	brokenOver   = "a limit does not hold, or refuses what fits"
	brokenPlace  = "a row is in both tables, or its amount is none"
)

// allow changes the maxima of an owner. One that is too large is refused, unless another came behind it.
func (l *sizedRows[N]) allow(ctx context.Context, db onerow.DB, r *rand.Rand, owner int64) error {
	files, size := maxima(r, l.t)
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := onerow.AffectOne(ctx, tx, sqlAllow, l.name, owner, files, size); err != nil {
			return err //nolint:wrapcheck // it is looked at
		}
		for _, rule := range l.rules {
			if err := rule.Changed(ctx, tx, owner); err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
		}
		return nil
	})
}

const sqlAnySize = `SELECT id FROM (SELECT id FROM %[1]s UNION ALL SELECT id FROM %[1]s_archive) AS f ORDER BY RAND(?) LIMIT 1`

// any draws a row.
func (l *sizedRows[N]) any(ctx context.Context, r *rand.Rand) (id int64, found bool) {
	err := l.w.admin.QueryRowContext(ctx, fmt.Sprintf(sqlAnySize, l.name), r.Int32()).Scan(&id)
	return id, err == nil
}

const sqlInUse = `SELECT (SELECT %[1]s FROM %[2]s WHERE user_id = ?) + (SELECT %[1]s FROM %[2]s_archive WHERE user_id = ? AND deleted_from = 'active')
 + (SELECT COALESCE(SUM(amount), 0) FROM onerow_reservation WHERE name = ? AND owner = ?)`

// inUse is what the rows and reservations of an owner sum up to, however large.
func (l *sizedRows[N]) inUse(ctx context.Context, i int, owner int64) (*big.Int, error) {
	key, err := onerow.EncodeKey(owner)
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	what := []string{"COUNT(*)", "COALESCE(SUM(size), 0)"}[i]
	var text string
	err = l.w.admin.QueryRowContext(ctx, fmt.Sprintf(sqlInUse, what, l.name), owner, owner, l.rules[i].Name(), []byte(key)).Scan(&text)
	n, ok := new(big.Int).SetString(text, 10)
	if err == nil && !ok {
		err = fmt.Errorf("soak: a sum of %q", text)
	}
	return n, err
}

// sqlMost is the largest maximum of the round; -1: there was none.
const sqlMost = `SELECT IF(SUM(%[1]s IS NULL OR %[1]s < 0) > 0, -1, MAX(%[1]s)) FROM allowed WHERE lane = ? AND user_id = ?`

const sqlNow = `SELECT COALESCE(%[1]s, -1) FROM allowed WHERE lane = ? AND user_id = ? ORDER BY version DESC LIMIT 1`

func (l *sizedRows[N]) judge(ctx context.Context) error {
	var odd int
	query := fmt.Sprintf( //nolint:gosec // the lane's table
		`SELECT (SELECT COUNT(*) FROM %[1]s JOIN %[1]s_archive USING (id)) + (SELECT COUNT(*) FROM %[1]s WHERE NOT size BETWEEN 0 AND ?)
 + (SELECT COUNT(*) FROM %[1]s_archive WHERE NOT size BETWEEN 0 AND ?)`, l.name)
	if err := l.w.admin.QueryRowContext(ctx, query, l.most, l.most).Scan(&odd); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if odd > 0 {
		l.w.found.Add(brokenPlace, "%s: %d rows", l.name, odd)
	}
	for _, owner := range edgeOwners {
		for i := range l.rules {
			if err := l.judgeOwner(ctx, i, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeOwner holds a limit of an owner against the rows.
func (l *sizedRows[N]) judgeOwner(ctx context.Context, i int, owner int64) error {
	rule, column := l.rules[i], []string{"files", "size"}[i]
	used, err := l.inUse(ctx, i, owner)
	if err != nil {
		return err
	}
	var most, now int64
	err = l.w.admin.QueryRowContext(ctx, fmt.Sprintf(sqlMost, column), l.name, owner).Scan(&most)
	if err == nil {
		err = l.w.admin.QueryRowContext(ctx, fmt.Sprintf(sqlNow, column), l.name, owner).Scan(&now)
	}
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if now = max(now, -1); now > limit.MaxAmount {
		l.w.found.Add(brokenAmount, "%s of owner %d: a maximum of %d", rule.Name(), owner, now)
	}
	name := fmt.Sprintf("%s of owner %d", rule.Name(), owner)
	if most >= 0 && used.Cmp(big.NewInt(most)) > 0 {
		l.w.found.Add(brokenOver, "%s: %v in use, the largest maximum was %d", name, used, most)
	}
	db := l.w.pools[1]
	before, err := rule.Look(ctx, db, owner)
	if err == nil && before.Known && (used.Cmp(big.NewInt(before.Used)) != 0 || before.Max != now) {
		l.w.found.Add(brokenRoom, "%s: %v in use of %d, and %+v is known", name, used, now, before)
	}
	if err == nil {
		err = rule.Recount(ctx, db, owner)
	}
	if err != nil {
		l.w.found.Add(brokenError, "%s: look and count: %v", name, err)
		return nil
	}
	after, err := rule.Look(ctx, db, owner)
	if err == nil && after.Known && (used.Cmp(big.NewInt(after.Used)) != 0 || after.Max != now) || err == nil && before.Known && before != after {
		l.w.found.Add(brokenCount, "%s: %v in use of %d, before %+v, after %+v", name, used, now, before, after)
	}
	return err //nolint:wrapcheck // it says all
}

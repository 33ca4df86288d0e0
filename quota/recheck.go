package quota

import (
	"context"
	"database/sql"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/recount"
)

// Owners that changed lately, in the order of their change, a page from the last one's key on. The index
// changed_at ends with the primary key. Plain read.
const sqlChangedOwners = `SELECT owner, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', changed_at) AS at FROM onerow_quota_owner FORCE INDEX (changed_at)
 WHERE resource = ? AND changed_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
 AND (changed_at > TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND OR changed_at = TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ? MICROSECOND AND owner > ?)
 ORDER BY changed_at, owner LIMIT ?`

func (s *Sweeper) recheck(ctx context.Context, l *lap, res *SweepResult) error {
	if s.config.Recheck < 0 || !l.running && !l.began.IsZero() && time.Since(l.began) < s.config.RecheckEvery {
		return nil
	}
	if !l.running {
		l.running, l.began, l.changedAt, l.owner = true, time.Now(), 0, ""
	}
	var owners []string
	err := onerow.Query(ctx, s.db, sqlChangedOwners, []any{l.rule.resource, s.config.Recheck.Microseconds(),
		l.changedAt, l.changedAt, l.owner, s.config.Batch}, func(rows *sql.Rows) error {
		err := rows.Scan(&l.owner, &l.changedAt)
		owners = append(owners, l.owner)
		return err
	})
	if err != nil {
		return errtext.Wrap(err, "quota: owners of %s that changed lately", l.rule.resource)
	}
	if l.running = len(owners) == s.config.Batch; l.running {
		res.More = true
	}
	return recount.Each(ctx, owners, &res.Failed, func(key string) error {
		corrected, err := s.recheckOwner(ctx, l.rule, key)
		if err == nil {
			res.Rechecked++
		}
		if corrected {
			res.Corrected++
		}
		return err
	})
}

// recheckOwner looks by plain reads and recalculates only if something seems wrong. At READ COMMITTED a
// change between two reads may look wrong; then the recalculation knows better.
func (s *Sweeper) recheckOwner(ctx context.Context, rule *Rule, key string) (corrected bool, err error) {
	o, err := rule.owner.Decode(key)
	if err != nil {
		return false, errtext.Wrap(err, "quota: owner of %s", rule.resource)
	}
	var wrong wrongRows
	// It writes nothing, so it may run again after a lost COMMIT, too.
	err = onerow.InIdempotentTx(ctx, s.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		wrong, err = rule.survey(ctx, tx, o)
		return err
	})
	if err != nil {
		return false, errtext.Wrap(err, "quota: check owner %s of %s", key, rule.resource)
	}
	if wrong.count() == 0 {
		return false, nil
	}
	res, err := rule.recalculateAll(ctx, s.db, o)
	return res.Changed > 0 && res.Marks == 0, err
}

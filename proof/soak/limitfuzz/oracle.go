package limitfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Kinds of findings.
const (
	brokenRoom  = "the room is not what the rows leave"
	brokenOver  = "more was admitted than the maximum"
	brokenTwice = "a row is in both tables"
	brokenNoted = "an owner who is to be counted is not counted"
	brokenCount = "a count changes the room"
	brokenLost  = "what is left of the room cannot be taken"
)

// unlimited is the maximum of an owner without one.
const unlimited = math.MaxInt64

// sight is what one snapshot shows of an owner and a limit.
type sight struct {
	version int64 // of the maxima
	used    int64 // by rows, hidden rows and reservations
	room    int64 // what the room says of it
	known   bool  // there is room stored
	noted   bool  // it is to be counted
	maximum int64 // at the version
}

// ledger follows the snapshots of one owner and limit.
type ledger struct {
	name string
	last sight
}

// look judges the next snapshot. most is the largest maximum from the last one's version to this one's.
func (l *ledger) look(s sight, most int64, found *fuzz.Findings) {
	switch {
	case s.known && !s.noted && s.room != s.used:
		found.Add(brokenRoom, "%s: %d in use, the room says %d", l.name, s.used, s.room)
	case s.known && s.noted && s.room < s.used:
		found.Add(brokenRoom, "%s, to be counted: %d in use, the room says %d, which lets too much in", l.name, s.used, s.room)
	}
	if s.used > max(l.last.used, most) {
		found.Add(brokenOver, "%s: %d in use at version %d (maximum %d), after %d at version %d; the largest maximum between was %d",
			l.name, s.used, s.version, s.maximum, l.last.used, l.last.version, most)
	}
	l.last = s
}

const (
	sqlUser  = `SELECT version, %s FROM user WHERE id = ?`
	sqlInUse = `SELECT (SELECT %[1]s FROM file WHERE user_id = ?) + (SELECT %[1]s FROM file_archive WHERE user_id = ? AND deleted_from = 'active')
 + (SELECT COALESCE(SUM(amount), 0) FROM onerow_reservation WHERE name = ? AND owner = ?)`
	sqlNoted = `SELECT COALESCE(SUM(stripe = 0 AND counted_at IS NULL), 0) FROM onerow_limit WHERE name = ? AND owner = ?`
	sqlMost  = `SELECT %s FROM maximum WHERE user_id = ? AND version BETWEEN ? AND ?`
	sqlTwice = `SELECT COUNT(*) FROM file JOIN file_archive USING (id)`
)

// see reads a sight in a snapshot, and the largest maximum since a version.
func (s *shop) see(ctx context.Context, tx onerow.DB, i int, owner, since int64) (now sight, most int64, err error) {
	key := fmt.Sprint(owner)
	rule := s.rules[i]
	var maximum sql.NullInt64
	err = onerow.QueryRow(ctx, tx, fmt.Sprintf(sqlUser, columns[i]), []any{owner}, &now.version, &maximum)
	now.maximum = orUnlimited(maximum)
	if err == nil {
		err = onerow.QueryRow(ctx, tx, fmt.Sprintf(sqlInUse, sums[i]), []any{owner, owner, rule.Name(), []byte(key)}, &now.used)
	}
	if err == nil {
		err = onerow.QueryRow(ctx, tx, sqlNoted, []any{rule.Name(), []byte(key)}, &now.noted)
	}
	if err == nil {
		err = onerow.Query(ctx, tx, fmt.Sprintf(sqlMost, columns[i]), []any{owner, since, now.version}, func(rows *sql.Rows) error {
			err := rows.Scan(&maximum)
			most = max(most, orUnlimited(maximum))
			return err //nolint:wrapcheck // it says all
		})
	}
	if err != nil {
		return now, 0, err //nolint:wrapcheck // it says all
	}
	state, err := rule.Look(ctx, tx, owner)
	now.room, now.known = state.Used, state.Known
	return now, most, err //nolint:wrapcheck // it says all
}

func orUnlimited(n sql.NullInt64) int64 {
	if !n.Valid {
		return unlimited
	}
	return n.Int64
}

// snapshot judges all owners and limits in one snapshot.
func (w *world) snapshot(ctx context.Context) (err error) {
	tx, err := w.straight.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	var twice int
	if err := onerow.QueryRow(ctx, tx, sqlTwice, nil, &twice); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	if twice > 0 {
		w.found.Add(brokenTwice, "%d of them", twice)
	}
	for owner := range int64(owners) {
		for i := range limits {
			l := &w.ledgers[owner][i]
			now, most, err := w.shop.see(ctx, tx, i, owner+1, l.last.version)
			if err != nil {
				return err
			}
			l.look(now, most, w.found)
		}
	}
	w.counts.looks.Add(1)
	return nil
}

package limit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

const (
	// stripes is in how many rows much room is dealt: 64 creates at once of one owner seldom meet.
	stripes = 64
	// spreadFrom is what much is: fewer in a row than this, and rows would soon be dealt anew.
	spreadFrom = stripes * 128
	// unlimited is the maximum of an owner without one.
	unlimited = 2 * MaxAmount
	// countable is the most that is counted: the largest maximum, and a row that is made in the transaction.
	countable = unlimited + MaxAmount
	// unknown is the room of an owner who has not been counted: nothing fits into it.
	unknown = recount.UnknownRoom
	// never is the maximum of an owner of whom the application has not been asked.
	never = recount.NoMaximum
)

// left is what there is of an owner's room, in rows that this transaction has locked.
type left struct {
	rows        int
	room        int64
	maximum     int64
	toBeCounted bool // it has never been, or rows have gone since
	counted     bool // by this transaction
	gone        bool // the owner, says the application
}

// sqlLock locks the owner's rows, by a range of the primary key. A current read.
const sqlLock = `SELECT room, maximum, stripe = 0 AND counted_at IS NULL FROM onerow_limit WHERE name = ? AND owner = ? ORDER BY stripe FOR UPDATE`

func (r *Rule) lock(ctx context.Context, tx *onerow.Tx, o recount.Owner) (l left, err error) {
	err = onerow.Query(ctx, tx, sqlLock, []any{r.name, []byte(o.Key)}, func(rows *sql.Rows) error {
		var room, maximum int64
		var toBeCounted bool
		err := rows.Scan(&room, &maximum, &toBeCounted)
		l.rows++
		l.room, l.maximum, l.toBeCounted = l.room+room, l.maximum+maximum, l.toBeCounted || toBeCounted
		return err
	})
	l.toBeCounted = l.toBeCounted || l.rows == 0
	r.remember(o.Key, l.rows > 1)
	return l, err
}

// sqlHold is the first statement of a transaction that counts: it locks the owner's first row, which it makes
// if need be, so two counts never overlap, and at REPEATABLE READ the snapshot is taken after the wait.
const sqlHold = `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version) VALUES (?, ?, 0, ?, ?, 1)
 ON DUPLICATE KEY UPDATE version = version + 1`

// hold locks all rows of an owner, who has one then. (A row that is not there cannot be locked, nor, at READ
// COMMITTED, one that a condition does not take.)
func (r *Rule) hold(ctx context.Context, tx *onerow.Tx, o recount.Owner) (left, error) {
	if _, err := tx.ExecContext(ctx, sqlHold, r.name, []byte(o.Key), unknown, never); err != nil {
		return left{}, err
	}
	return r.lock(ctx, tx, o)
}

// look is what is done about an owner with too little room, in a transaction of its own: it answers with the
// refusal, and whether there is room now. Right however often it runs.
func (r *Rule) look(ctx context.Context, db onerow.DB, o recount.Owner, amount int64) (refusal *Error, room bool, err error) {
	err = onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		now, _, err := r.renew(ctx, tx, o, false)
		if err != nil {
			return err
		}
		room = now.room >= amount
		refusal, err = r.refusal(ctx, tx, o, amount, now)
		return err
	})
	return refusal, room, errtext.Wrap(err, "limit: look at %q of owner %s", r.name, o.Key)
}

// renew brings an owner's room up to date: the maximum, expired reservations, and the count where it is due
// or asked for. Its first statement locks. It also says how the room was before.
func (r *Rule) renew(ctx context.Context, tx *onerow.Tx, o recount.Owner, always bool) (now, before left, err error) {
	if before, err = r.hold(ctx, tx, o); err != nil {
		return now, before, err
	}
	expired, err := r.expire(ctx, tx, o)
	if err != nil {
		return now, before, err
	}
	now = before
	if err := r.ask(ctx, tx, o, &now); err != nil {
		return now, before, err
	}
	if always || now.toBeCounted || expired {
		if now, err = r.count(ctx, tx, o, now); err != nil {
			return now, before, err
		}
	}
	switch {
	case now == before:
		return now, before, nil
	case now.gone && now.counted && now.room == 0: // nothing is left of the owner, whom the application does not know
		_, err = tx.ExecContext(ctx, sqlForget, r.name, []byte(o.Key))
		return now, before, err
	}
	return now, before, r.deal(ctx, tx, o, now)
}

// sqlForget takes all rows of an owner away, by a range of the primary key.
const sqlForget = `DELETE FROM onerow_limit WHERE name = ? AND owner = ?`

// ask takes the application's maximum over.
func (r *Rule) ask(ctx context.Context, tx *onerow.Tx, o recount.Owner, l *left) error {
	n, err := r.maximum(ctx, tx, o.Value())
	maximum := int64(n)
	switch {
	case errors.Is(err, quota.ErrNoOwner):
		maximum, l.gone = 0, true
	case err != nil:
		return fmt.Errorf("the maximum of %q: %w", r.name, err)
	case n < 0:
		maximum = unlimited
	case maximum > MaxAmount:
		return fmt.Errorf("%w: the maximum of %q is %d; a negative one is none", ErrAmount, r.name, n)
	}
	l.room += maximum - max(l.maximum, 0)
	l.maximum = maximum
	return nil
}

// count makes the room what the rows say. A joined transaction, whose snapshot may be older than the lock,
// reads what is committed now, and locks it; the maximum that was last seen stays, and where there is none
// what it reads of it is for now: the sweep counts again.
func (r *Rule) count(ctx context.Context, tx *onerow.Tx, o recount.Owner, l left) (left, error) {
	query := r.sql.used
	if tx.Joined() {
		query = r.sql.usedCurrent
	}
	asked := !tx.Joined() || l.maximum != never
	if !asked {
		if err := r.ask(ctx, tx, o, &l); err != nil {
			return l, err
		}
	}
	u, err := r.read(ctx, tx, query, o)
	if err != nil {
		return l, err
	}
	l.room, l.toBeCounted, l.counted = l.maximum-u.total(), !asked, asked
	return l, nil
}

// refusal says what the room is taken by.
func (r *Rule) refusal(ctx context.Context, tx *onerow.Tx, o recount.Owner, amount int64, l left) (*Error, error) {
	kept, err := r.read(ctx, tx, r.sql.kept, o)
	if err != nil {
		return nil, err
	}
	return &Error{Limit: r.name, Owner: o.Key, Wanted: amount, Used: l.maximum - l.room, Max: l.maximum, Hidden: kept.hidden, Reserved: kept.reserved}, nil
}

// sqlDeal writes the first row, by the primary key, which is locked or inserted here.
const sqlDeal = `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at)
 VALUES (?, ?, 0, ?, ?, 1, IF(?, UTC_TIMESTAMP(6), NULL))
 ON DUPLICATE KEY UPDATE counted_at = IF(?, UTC_TIMESTAMP(6), counted_at), room = ?, maximum = ?, version = version + 1`

// sqlGather takes the other rows away, by a range of the primary key.
const sqlGather = `DELETE FROM onerow_limit WHERE name = ? AND owner = ? AND stripe > 0`

// sqlSpread makes them anew; the sweep, which goes by counted_at, does not meet them.
const sqlSpread = `INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES `

// deal writes what is left: in one row, or in many where rows are counted and there is much.
func (r *Rule) deal(ctx context.Context, tx *onerow.Tx, o recount.Owner, l left) error {
	spread := r.counts && l.room >= spreadFrom
	first, each := l.room, int64(0)
	if spread {
		each = l.room / stripes
		first -= (stripes - 1) * each
	}
	key := []byte(o.Key)
	if _, err := tx.ExecContext(ctx, sqlDeal, r.name, key, first, l.maximum, l.counted, l.counted, first, l.maximum); err != nil {
		return err
	}
	if l.rows > 1 {
		if _, err := tx.ExecContext(ctx, sqlGather, r.name, key); err != nil {
			return err
		}
	}
	if spread {
		var args []any
		for stripe := 1; stripe < stripes; stripe++ {
			args = append(args, r.name, key, stripe, each)
		}
		values := strings.Repeat("(?, ?, ?, ?, 0, 1, TIMESTAMP'9999-12-31 00:00:00'), ", stripes-1)
		if _, err := tx.ExecContext(ctx, sqlSpread+strings.TrimSuffix(values, ", "), args...); err != nil {
			return err
		}
	}
	r.remember(o.Key, spread)
	return nil
}

// text is a statement that says what there is of an owner, and how often it has the owner's values.
type text struct {
	query  string
	owners int
}

// texts are the statements that depend on the plan: what counts; the same by current reads; and only what
// does not show among the active rows.
type texts struct{ used, usedCurrent, kept text }

// textsFor: each part reads a range of an index that begins with the owner, a sum the rows too; the archive's
// begins with owner and deletion_id, so rows that are merely archived are passed over.
func textsFor(res schema.Resource, l schema.Limit, types []keytype.Type) texts {
	what := "COUNT(*)"
	if l.Sum != "" { // of each row what giving it back gives
		what = atMost(fmt.Sprintf("COALESCE(SUM(LEAST(GREATEST(%s, 0), %d)), 0)", ident.Quote(l.Sum), MaxAmount))
	}
	var own []string
	for i, column := range l.Owners {
		column = ident.Quote(column)
		own = append(own, column+" = ?")
		if types[i].Class == keytype.Text { // a collation may take other spellings for the same, whose room is another
			if types[i].Fixed { // a sql_mode fills it up with spaces
				column = "RTRIM(" + column + ")"
			}
			own = append(own, "CAST(CONVERT("+column+" USING utf8mb4) AS BINARY) = ?")
		}
	}
	owner := strings.Join(own, " AND ")
	active := "(SELECT " + what + " FROM " + ident.Quote(res.Active) + " WHERE " + owner + "{lock})"
	hidden, archives := "0", 0
	if res.Archive != "" {
		hidden, archives = "(SELECT "+what+" FROM "+ident.Quote(res.Archive)+" WHERE "+owner+" AND deletion_id IS NOT NULL AND deleted_from = 'active'{lock})", 1
	}
	reserved := "(SELECT " + atMost("COALESCE(SUM(amount), 0)") + " FROM onerow_reservation WHERE name = ? AND owner = ?{lock})"
	list := func(lock string, owners int, parts ...string) text {
		return text{strings.ReplaceAll("SELECT "+strings.Join(parts, ", "), "{lock}", lock), owners}
	}
	return texts{
		used: list("", 1+archives, reserved, "0", active, hidden),
		// In the order in which rows may move without the room: what was seen is locked, and hidden rows are
		// looked at again, for one that was active may have become hidden.
		usedCurrent: list(" LOCK IN SHARE MODE", 1+2*archives, reserved, hidden, active, hidden),
		kept:        list("", archives, reserved, "0", "0", hidden),
	}
}

// atMost keeps a sum in a BIGINT; one that is too large to be counted stays so.
func atMost(sum string) string { return fmt.Sprintf("LEAST(%s, %d)", sum, countable+1) }

// use is what there is of an owner: active rows, rows that a deletion hides, reservations.
type use struct{ active, hidden, reserved int64 }

func (u use) total() int64 { return u.active + u.hidden + u.reserved }

func (r *Rule) read(ctx context.Context, tx *onerow.Tx, t text, o recount.Owner) (u use, err error) {
	args := []any{r.name, []byte(o.Key)}
	for range t.owners {
		for _, value := range o.Values {
			args = append(args, value)
			if text, isText := value.(string); isText {
				args = append(args, []byte(text))
			}
		}
	}
	var before int64
	err = onerow.QueryRow(ctx, tx, t.query, args, &u.reserved, &before, &u.active, &u.hidden)
	if err == nil && u.active > countable-u.hidden-u.reserved { // without an overflow
		err = fmt.Errorf("%w: what owner %s has of %q sums up to more than %d", ErrAmount, o.Key, r.name, countable)
	}
	return u, err
}

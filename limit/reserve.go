package limit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/internal/trace"
)

// maxKey is the length in bytes of the column for the keys of reservations.
const maxKey = 255

// sqlReserve: the primary key (name, owner, key) decides whether the reservation is new.
const sqlReserve = `INSERT INTO onerow_reservation (name, owner, reservation_key, amount, expires_at)
 VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`

// sqlExtend lets it last longer, never shorter; by the primary key. A write, so that it waits for whoever
// uses it.
const sqlExtend = `UPDATE onerow_reservation SET expires_at = GREATEST(expires_at, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
 WHERE name = ? AND owner = ? AND reservation_key = ?`

// Reserve takes an amount of an owner's room for so long, for work in two steps: reserve, upload, create the
// row with repo.UseReservation. The key, 1 to 255 bytes that the caller chooses, makes it repeatable: a
// second call with it lets the same reservation last longer, also when it is over and nobody has taken its
// room since; replayed says so. After its time the room is given back by the sweep, or to whoever needs it; a
// create that comes later takes room like any other.
//
// Errors: [ErrLimit]; [ErrOtherReservation] where the key holds another amount; [ErrAmount];
// [onerow.ErrInvalidKey]. A COMMIT without an answer is run again. Statements on a pool: BEGIN, INSERT,
// UPDATE, COMMIT; see the package documentation for a refusal.
func (r *Rule) Reserve(ctx context.Context, db onerow.DB, key string, amount int64, lasts time.Duration, owner ...any) (replayed bool, err error) {
	ctx, span := trace.Start(ctx, "limit.Reserve", slog.String("onerow.limit", r.name))
	defer span.End(&err)
	o, err := r.amountOf(amount, owner)
	switch {
	case err != nil:
		return false, err
	case amount == 0:
		return false, fmt.Errorf("%w: a reservation of nothing", ErrAmount)
	case key == "" || len(key) > maxKey:
		return false, fmt.Errorf("%w: the key of a reservation has 1 to %d bytes, this one has %d", onerow.ErrInvalidKey, maxKey, len(key))
	case lasts <= 0:
		return false, fmt.Errorf("limit: a reservation that lasts %v", lasts)
	}
	err = Follow(ctx, db, func() error {
		return onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			return tx.Savepoint(ctx, savepoint, func() (err error) {
				replayed, err = r.reserve(ctx, tx, key, amount, lasts, o)
				return err
			})
		})
	})
	if err != nil {
		return false, errtext.Wrap(err, "limit: reserve %d of %q", amount, r.name)
	}
	return replayed, nil
}

// savepoint is where a verb of this package goes back to in a caller's transaction.
const savepoint = "onerow_limit"

func (r *Rule) reserve(ctx context.Context, tx *onerow.Tx, key string, amount int64, lasts time.Duration, o recount.Owner) (replayed bool, err error) {
	id := []any{r.name, []byte(o.Key), []byte(key)}
	_, err = tx.ExecContext(ctx, sqlReserve, append(id, amount, lasts.Microseconds())...)
	if err == nil {
		return false, r.Take(ctx, tx, amount, o.Values...)
	}
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, sqlExtend, append([]any{lasts.Microseconds()}, id...)...); err != nil {
		return false, err
	}
	held, found, err := look(ctx, tx, id, forUpdate)
	switch {
	case err == nil && !found: // it was used or cancelled since
		return false, errMoves
	case err == nil && held != amount:
		return false, fmt.Errorf("%w: %q holds %d; use a new key for other work", ErrOtherReservation, key, held)
	}
	return true, err
}

// sqlUse takes a reservation of exactly this amount away: whoever deletes the row has its room. By the
// primary key.
const sqlUse = `DELETE FROM onerow_reservation WHERE name = ? AND owner = ? AND reservation_key = ? AND amount = ?`

// Use takes an amount, as [Rule.Take], from the reservation of that key where it is still there: what it
// holds too much is given back, what it lacks is taken. Statements: 1 where it holds the right amount, else 2
// more and those of Take or Give.
func (r *Rule) Use(ctx context.Context, tx *onerow.Tx, key string, amount int64, owner ...any) error {
	o, err := r.amountOf(amount, owner)
	if err != nil {
		return err
	}
	id := []any{r.name, []byte(o.Key), []byte(key)}
	n, err := onerow.Affected(ctx, tx, sqlUse, append(id, amount)...)
	if err != nil || n == 1 {
		return err
	}
	held, found, err := look(ctx, tx, id, forUpdate)
	if found {
		err = onerow.AffectOne(ctx, tx, sqlUse, append(id, held)...)
	}
	switch {
	case err != nil:
		return err
	case held > amount:
		return r.give(ctx, tx, held-amount, o)
	}
	return r.Take(ctx, tx, amount-held, owner...)
}

// sqlHeld is a plain read; the deletion proves that the amount is still that.
const sqlHeld = `SELECT amount FROM onerow_reservation WHERE name = ? AND owner = ? AND reservation_key = ?`

const forUpdate = " FOR UPDATE"

// look says what a reservation holds, if it is there.
func look(ctx context.Context, tx *onerow.Tx, id []any, condition string) (held int64, found bool, err error) {
	err = onerow.QueryRow(ctx, tx, sqlHeld+condition, id, &held)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return held, err == nil, err
}

var errMoves = fmt.Errorf("limit: the reservation moves: %w", onerow.ErrMoved)

// ifOver is for reservations that are over: another call may have let one last longer.
const ifOver = ` AND expires_at <= UTC_TIMESTAMP(6)`

// Cancel gives a reservation's room back. One that was used, cancelled or is over is a no-op. Statements on a
// pool: BEGIN, SELECT, UPDATE, DELETE, COMMIT.
func (r *Rule) Cancel(ctx context.Context, db onerow.DB, key string, owner ...any) (err error) {
	ctx, span := trace.Start(ctx, "limit.Cancel", slog.String("onerow.limit", r.name))
	defer span.End(&err)
	o, err := r.encode(owner)
	if err == nil {
		err = r.drop(ctx, db, o, key, "")
	}
	return errtext.Wrap(err, "limit: cancel a reservation of %q", r.name)
}

// drop gives the room back first and deletes then: in the order in which a look locks.
func (r *Rule) drop(ctx context.Context, db onerow.DB, o recount.Owner, key, condition string) error {
	id := []any{r.name, []byte(o.Key), []byte(key)}
	return onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, savepoint, func() error {
			over := condition
			if tx.Joined() {
				over += forUpdate // the snapshot may be older than the reservation
			}
			held, found, err := look(ctx, tx, id, over)
			if !found {
				return err
			}
			if err = r.give(ctx, tx, held, o); err != nil {
				return err
			}
			n, err := onerow.Affected(ctx, tx, sqlUse+condition, append(id, held)...)
			if err == nil && n != 1 {
				err = errMoves
			}
			return err
		})
	})
}

// atOnce is how many reservations one statement deletes.
const atOnce = 100

// sqlOver finds what is over, by a range of the primary key. A plain read, so that it waits for no
// reservation that is just being made.
const sqlOver = `SELECT reservation_key FROM onerow_reservation WHERE name = ? AND owner = ?` + ifOver + ` LIMIT 100`

// expire gives up an owner's reservations that are over, and says whether there were any: a count finds what
// they held. One statement, 2 where there are some.
func (r *Rule) expire(ctx context.Context, tx *onerow.Tx, o recount.Owner) (some bool, err error) {
	id := []any{r.name, []byte(o.Key)}
	for n := int64(atOnce); n == atOnce; some = some || n > 0 {
		args := id[:2:2]
		err := onerow.Query(ctx, tx, sqlOver, id, func(rows *sql.Rows) error {
			var key []byte
			err := rows.Scan(&key)
			args = append(args, key)
			return err
		})
		if err != nil || len(args) == len(id) {
			return some, err
		}
		keys := strings.Repeat(", ?", len(args)-len(id))[2:]
		n, err = onerow.Affected(ctx, tx, "DELETE FROM onerow_reservation WHERE name = ? AND owner = ? AND reservation_key IN ("+keys+")"+ifOver, args...)
		if err != nil {
			return some, err
		}
	}
	return some, nil
}

package limitfuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/repo"
)

const sqlAnyFile = `SELECT id FROM (SELECT id FROM file UNION ALL SELECT id FROM file_archive) AS f ORDER BY RAND() LIMIT 1`

// client is one of those who use the shop.
type client struct {
	*world
	number int
	r      *rand.Rand
	calls  int
}

// erInterrupted is what KILL QUERY leads to.
const erInterrupted = 1317

var errBusiness = errors.New("the function changed its mind")

// act runs a verb, or several in one transaction, with a context that may end within.
func (c *client) act(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if c.r.IntN(6) == 0 {
		defer time.AfterFunc(time.Duration(c.r.Int64N(int64(60*time.Millisecond))), cancel).Stop()
	}
	db := c.pools[c.r.IntN(len(c.pools))]
	var err error
	if c.r.IntN(3) > 0 {
		err = c.verb(ctx, db, c.r)
	} else {
		seed := c.r.Uint64()
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return c.together(ctx, tx, seed) })
	}
	c.note(err)
}

// together is several verbs in a transaction. One that failed for good has written nothing, so the next may
// run.
func (c *client) together(ctx context.Context, tx *onerow.Tx, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not a secret
	for range 1 + r.IntN(3) {
		err := c.verb(ctx, tx, r)
		if err != nil && (ctx.Err() != nil || tx.Err() != nil || onerow.Retryable(err) || errors.Is(err, onerow.ErrNotUndone) || !refusal(err)) {
			return err
		}
	}
	if r.IntN(4) == 0 {
		return errBusiness
	}
	return nil
}

// refusal says whether a verb answered that what is wanted cannot be.
func refusal(err error) bool {
	for _, e := range []error{
		limit.ErrLimit, limit.ErrOtherReservation, onerow.ErrNotFound, repo.ErrNotActive, repo.ErrTooLate, repo.ErrNameTaken, errBusiness,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (c *client) note(err error) {
	var n *atomic.Int64
	switch {
	case err == nil:
		n = &c.counts.done
	case errors.Is(err, limit.ErrLimit):
		n = &c.counts.refused
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		n = &c.counts.unknown
	default:
		n = &c.counts.failed
		var killed *mysql.MySQLError
		if errors.As(err, &killed) && killed.Number == erInterrupted {
			break
		}
		if !refusal(err) && !onerow.Retryable(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			c.oddity(err)
		}
	}
	n.Add(1)
}

// verb runs one.
func (c *client) verb(ctx context.Context, db onerow.DB, r *rand.Rand) error {
	c.calls++
	name := fmt.Sprint(c.number, "-", c.calls)
	me := 1 + r.Int64N(owners)
	kind := r.IntN(15)
	if kind == 0 {
		return c.shop.allow(ctx, db, me, maximum(r, 25), maximum(r, 1500))
	}
	var id int64
	if err := c.admin.QueryRowContext(ctx, sqlAnyFile).Scan(&id); err != nil || kind < 5 {
		if err != nil && !errors.Is(err, sql.ErrNoRows) && ctx.Err() != nil {
			return ctx.Err()
		}
		_, err := c.shop.files.Create(ctx, db, file{UserID: me, Name: name, Bytes: r.Int64N(150)}, repo.RequestID(name))
		return err //nolint:wrapcheck // it is counted
	}
	return c.change(ctx, db, r, kind, id, me, name)
}

// change runs a verb on a row, or with a reservation.
func (c *client) change(ctx context.Context, db onerow.DB, r *rand.Rand, kind int, id, me int64, name string) (err error) {
	files := c.shop.files
	switch kind {
	case 5:
		_, err = files.Archive(ctx, db, id)
	case 6:
		_, err = files.Activate(ctx, db, id)
	case 7:
		_, err = files.Delete(ctx, db, id, repo.Grace([]time.Duration{time.Millisecond, 300 * time.Millisecond, 3 * time.Second}[r.IntN(3)]))
	case 8:
		_, err = files.CancelDelete(ctx, db, id)
	case 9:
		_, err = files.Delete(ctx, db, id)
	case 10, 11:
		bytes := r.Int64N(150)
		_, err = files.Update(ctx, db, id, func(f *file) error { f.Bytes = bytes; return nil })
	case 12:
		_, err = files.Move(ctx, db, id, func(f *file) error { f.UserID = me; return nil })
	default:
		return c.reserve(ctx, db, r, me, name)
	}
	return err //nolint:wrapcheck // it is counted
}

// reserve holds room, and then uses it, gives it back, or forgets it.
func (c *client) reserve(ctx context.Context, db onerow.DB, r *rand.Rand, me int64, key string) error {
	bytes := c.shop.rules[1]
	_, err := bytes.Reserve(ctx, db, key, 30, time.Duration(1+r.Int64N(int64(2*time.Second))), me)
	if err != nil {
		return err //nolint:wrapcheck // it is counted
	}
	switch r.IntN(4) {
	case 0:
		return bytes.Cancel(ctx, db, key, me) //nolint:wrapcheck // it is counted
	case 1:
		return nil
	}
	_, err = c.shop.files.Create(ctx, db, file{UserID: me, Name: key, Bytes: 25 + r.Int64N(10)}, repo.UseReservation(bytes, key))
	return err //nolint:wrapcheck // it is counted
}

// maximum draws one; nil is none.
func maximum(r *rand.Rand, most int64) any {
	if r.IntN(15) == 0 {
		return nil
	}
	return r.Int64N(most)
}

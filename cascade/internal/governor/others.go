package governor

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/wire"
)

// How a worker gives way by itself.
const (
	feelEvery    = 500 * time.Millisecond
	yieldPercent = 25                   // of the time, for the batches of all workers together
	yieldBatch   = 3 * time.Millisecond // how long one should take then, but see Pace.Took
	minPerSecond = 20                   // statements in a second: what monitoring sends is less
	alive        = 15 * time.Second     // a worker that was not seen for so long has ended
)

// others are those who use the server beside the workers, as the server's count of statements shows them:
// what the workers have sent is subtracted. They are users, mostly, and the worker gives way to them: it
// cannot wait for its own statements to become slow, for on a server with a processor to spare they never do.
type others struct {
	own atomic.Int64 // of statements that this worker has sent

	at        time.Time // when the server was asked last
	questions int64     // what it said; 0 before the first time
	sent      int64     // own then
	busy      bool      // own grows
	blind     bool      // own is not counted
	seen      map[string]beaten
	told      int64 // of own, in the worker's row
	beats     int64 // that this worker has added there

	yields atomic.Bool
	crowd  atomic.Int32 // other workers that are busy
}

// beaten is what another worker has said: how many statements it had sent until when.
type beaten struct {
	count     int64
	at        int64   // by the database's clock, in microseconds
	perSecond float64 // between that and the time before; NaN: not known yet
}

// Count returns a context whose statements are known to be the worker's own. Only guarded pools count them.
func (g *Governor) Count(ctx context.Context) context.Context {
	return wire.CountSent(ctx, &g.others.own)
}

// sqlQuestions touches no table.
const sqlQuestions = `SHOW GLOBAL STATUS LIKE 'Questions'`

// feel asks what the server has to do beside this worker and others of its kind, unless somebody has said
// what share of the time the worker may have. One statement, two if that is something; none the first time,
// for many a worker does not live that long. What is not known changes nothing.
func (g *Governor) feel(ctx context.Context) {
	o := &g.others
	switch {
	case o.blind || g.given() > 0 || !o.at.IsZero() && time.Since(o.at) < feelEvery:
		return
	case o.at.IsZero():
		o.at = time.Now()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, g.patience())
	defer cancel()
	all, mine, took, err := o.since(ctx, g.db)
	if err != nil || all < 0 { // it begins anew, and so does the server's count when it starts
		return
	}
	o.busy = mine/took > minPerSecond
	foreign := (all - mine) / took
	if foreign < minPerSecond/2 {
		o.yields.Store(false)
		return
	}
	fellows, err := g.Fellows(ctx)
	if err != nil || math.IsNaN(fellows) {
		return
	}
	foreign -= fellows
	switch tolerated := fellows / 4; { // they have told of a while, and not of the last half second
	case foreign > minPerSecond+tolerated:
		o.yields.Store(true)
	case foreign < minPerSecond/2+tolerated:
		o.yields.Store(false)
	}
}

// errAnew: there is nothing to compare with.
var errAnew = errors.New("cascade: the count of statements begins")

// since asks how many statements the server was sent since it was asked last, how many of them were this
// worker's, and for how many seconds that is.
func (o *others) since(ctx context.Context, db *sql.DB) (all, mine, took float64, err error) {
	before, questions, own := o.own.Load(), o.questions, o.sent
	var variable string
	err = onerow.QueryRow(ctx, db, sqlQuestions, nil, &variable, &o.questions)
	if err != nil {
		o.at, o.questions = time.Now(), 0
		return 0, 0, 0, err
	}
	took = time.Since(o.at).Seconds()
	o.at, o.sent = time.Now(), o.own.Load()
	o.blind = o.sent == before // the pool is not guarded
	if questions == 0 || o.blind {
		return 0, 0, 0, errAnew
	}
	return float64(o.questions - questions), float64(o.sent - own), took, nil
}

// sqlFellows reads the table, which has a row for each name of a worker of the last hour.
const sqlFellows = `SELECT name, beats, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', seen_at) FROM onerow_worker
WHERE seen_at >= UTC_TIMESTAMP(6) - INTERVAL ? SECOND ORDER BY name LIMIT 1000`

// Fellows is how many statements other workers send in a second; NaN if one of them is too new to say. One
// statement.
func (g *Governor) Fellows(ctx context.Context) (perSecond float64, err error) {
	o := &g.others
	seen, crowd := map[string]beaten{}, int32(0)
	err = onerow.Query(ctx, g.db, sqlFellows, []any{int(alive.Seconds())}, func(rows *sql.Rows) error {
		var name []byte
		var now beaten
		if err := rows.Scan(&name, &now.count, &now.at); err != nil {
			return err
		}
		before, known := o.seen[string(name)]
		isOwn := string(name) == g.name
		if isOwn { // what is left is another's of that name
			now.count -= o.beats
		}
		switch {
		case !known && isOwn:
		case !known || before.count > now.count:
			now.perSecond = math.NaN()
		case before.at == now.at:
			now.perSecond = before.perSecond
		default:
			now.perSecond = float64(now.count-before.count) * 1e6 / float64(now.at-before.at)
		}
		if now.perSecond > minPerSecond {
			crowd++
		}
		seen[string(name)] = now
		perSecond += now.perSecond
		return nil
	})
	if err == nil {
		o.seen = seen
		o.crowd.Store(crowd)
	}
	return perSecond, err
}

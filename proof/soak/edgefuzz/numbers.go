package edgefuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// Kinds of findings of numbers.
const (
	brokenSeries  = "a series is not its numbers from the first on, once each"
	brokenClaim   = "a claim has not what was answered"
	brokenRefused = "numbers that were left were refused"
)

// lastNumber is the last one of every series.
const lastNumber = math.MaxInt64 - 1

var (
	firsts = []int64{0, 1, 1 << 62, lastNumber, lastNumber - 1, lastNumber - 7, lastNumber - 60, lastNumber - 3_000_000_000, math.MaxInt64}
	sizes  = []int64{1, 1, 2, 3, 7, 50, 999_999_999, 1_000_000_000}
)

// numbers are series in which callers claim.
type numbers struct {
	w   *world
	now []*line
}

// line is one series of a round.
type line struct {
	*serial.Series
	first int64

	mu      sync.Mutex
	claims  map[string]serial.Claim // what was answered, by key
	voided  map[string]bool
	refused int64 // the least amount that was refused as exhausted; 0: none
}

func (*numbers) resources() []schema.Resource { return nil }

func (n *numbers) init(_ context.Context, w *world) error { n.w = w; return nil }

func (n *numbers) begin(_ context.Context, r *rand.Rand) error {
	n.now = nil
	for i := range 4 {
		l := &line{first: firsts[r.IntN(len(firsts))], claims: map[string]serial.Claim{}, voided: map[string]bool{}}
		var err error
		if l.Series, err = serial.New(fmt.Sprint("series ", i), serial.First(l.first)); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
		n.now = append(n.now, l)
	}
	return nil
}

func (n *numbers) act(ctx context.Context, seed uint64) error {
	var callers sync.WaitGroup
	for i := range n.w.Clients {
		r := n.w.Rand(seed<<16 | uint64(i)) //nolint:gosec // small
		callers.Go(func() {
			for range 25 {
				n.call(ctx, n.now[r.IntN(len(n.now))], r)
			}
		})
	}
	callers.Wait()
	return nil
}

var errChanged = errors.New("the business changed its mind")

// call claims, repeats, voids, or claims and is rolled back.
func (n *numbers) call(ctx context.Context, l *line, r *rand.Rand) {
	db, key, amount := n.w.pick(r), fmt.Sprint("key ", r.IntN(40)), sizes[r.IntN(len(sizes))]
	var got onerow.Result[serial.Claim]
	var err error
	what := "Claim"
	switch r.IntN(8) {
	case 0:
		what = "Void"
		if _, err = l.Void(ctx, db, key, "not wanted"); err == nil {
			l.mu.Lock()
			l.voided[key] = true
			l.mu.Unlock()
		}
		n.w.note(what, err, serial.ErrNoClaim)
		return
	case 1:
		what = "Claim, rolled back"
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := l.Claim(ctx, tx, key, amount); err != nil {
				return err //nolint:wrapcheck // it is looked at
			}
			return errChanged
		})
		n.judgeRefusal(l, amount, err)
		n.w.note(what, err, errChanged, serial.ErrExhausted, serial.ErrMismatch, serial.ErrVoided)
		return
	case 2:
		what = "ClaimWith"
		got, err = l.ClaimWith(ctx, db, key, amount, onerow.Stmt{Query: "INSERT INTO numbered (series, no) VALUES (?, LAST_INSERT_ID())", Args: []any{l.Name()}})
	case 3:
		what = "Claim in a transaction"
		err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			got, err = l.Claim(ctx, tx, key, amount)
			return err //nolint:wrapcheck // it is looked at
		})
	default:
		got, err = l.Claim(ctx, db, key, amount)
	}
	n.judgeRefusal(l, amount, err)
	n.w.note(what, err, serial.ErrExhausted, serial.ErrMismatch, serial.ErrVoided)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first, there := l.claims[key]
	if there && (first.From != got.Row.From || first.To != got.Row.To) || got.Row.Amount() != amount {
		n.w.found.Add(brokenClaim, "%s of %d: %q has %+v, before %+v", what, amount, key, got.Row, first)
	}
	l.claims[key] = got.Row
}

func (n *numbers) judgeRefusal(l *line, amount int64, err error) {
	if !errors.Is(err, serial.ErrExhausted) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == 0 || amount < l.refused {
		l.refused = amount
	}
}

const (
	sqlClaims  = "SELECT claim_key, from_no, amount, voided_at IS NOT NULL FROM onerow_serial_claim WHERE series = ? ORDER BY from_no"
	sqlNumbers = "SELECT COUNT(*) FROM numbered AS n LEFT JOIN onerow_serial_claim AS c ON c.series = n.series AND c.from_no = n.no WHERE n.series = ? AND c.series IS NULL"
)

func (n *numbers) judge(ctx context.Context) error {
	for _, l := range n.now {
		next, err := n.claims(ctx, l)
		if err != nil {
			return err
		}
		left := int64(lastNumber) - next + 1
		if l.refused != 0 && left >= l.refused {
			n.w.found.Add(brokenRefused, "%s from %d: %d were refused, %d are left", l.Name(), l.first, l.refused, left)
		}
		if err := n.rest(ctx, l, left); err != nil {
			return err
		}
		found, err := gaps.Find(ctx, n.w.pools[0], l.Series)
		if err != nil {
			return fmt.Errorf("soak: gaps: %w", err)
		}
		if !gaps.Complete(found) {
			n.w.found.Add(brokenSeries, "%s from %d: %+v", l.Name(), l.first, found)
		}
	}
	return nil
}

// claims holds what is stored of a series against what was answered, and returns its next number.
func (n *numbers) claims(ctx context.Context, l *line) (next int64, err error) {
	next, seen := l.first, map[string]bool{}
	err = onerow.Query(ctx, n.w.admin, sqlClaims, []any{l.Name()}, func(rows *sql.Rows) error {
		var key string
		var from sql.NullInt64
		var amount int64
		var voided bool
		if err := rows.Scan(&key, &from, &amount, &voided); err != nil {
			return err //nolint:wrapcheck // it says all
		}
		if !from.Valid || from.Int64 != next || amount <= 0 || amount > lastNumber-next+1 {
			n.w.found.Add(brokenSeries, "%s from %d: %q has %v and %d more, the next is %d", l.Name(), l.first, key, from, amount-1, next)
		}
		if said, there := l.claims[key]; there && (said.From != from.Int64 || said.Amount() != amount) || voided != l.voided[key] {
			n.w.found.Add(brokenClaim, "%s: %q has %v and %d more (voided: %t), %+v was answered", l.Name(), key, from, amount-1, voided, said)
		}
		next, seen[key] = from.Int64+amount, true
		return nil
	})
	for key, said := range l.claims {
		if !seen[key] {
			n.w.found.Add(brokenClaim, "%s: %q was answered %+v, and is not there", l.Name(), key, said)
		}
	}
	var stray int
	if err == nil {
		err = n.w.admin.QueryRowContext(ctx, sqlNumbers, l.Name()).Scan(&stray)
	}
	if stray > 0 {
		n.w.found.Add(brokenClaim, "%s: %d numbers are used that no claim has", l.Name(), stray)
	}
	return next, err //nolint:wrapcheck // it says all
}

// rest claims all that is left of a series, where that is not too much for a claim, and then one more.
func (n *numbers) rest(ctx context.Context, l *line, left int64) error {
	for _, db := range n.w.pools {
		if left < 1_000_000_000 {
			if got, err := l.Claim(ctx, db, "too much", left+1); !errors.Is(err, serial.ErrExhausted) {
				n.w.found.Add(brokenSeries, "%s from %d: %d of %d numbers were claimed: %+v, %v", l.Name(), l.first, left+1, left, got.Row, err)
			}
		}
		if left > 0 && left <= 1_000_000_000 {
			got, err := l.Claim(ctx, db, "rest", left)
			if err != nil || got.Row.To != lastNumber || got.Row.From != lastNumber-left+1 {
				n.w.found.Add(brokenRefused, "%s from %d: the rest of %d numbers: %+v, %v", l.Name(), l.first, left, got.Row, err)
			}
			left = 0
		}
	}
	return nil
}

package txfuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// op is one transaction that a client wants, over all its attempts.
type op struct {
	*world
	id     int64
	seed   uint64
	pool   *shared
	attack string // "" or the one that it draws

	idempotent bool // by InIdempotentTx: it returns each error, and takes its own row for an answer
	careful    bool // it returns each error

	// Of the attempt that runs now.
	r        *rand.Rand
	n        int // rows that it named
	cur      *expect
	dropped  error // that the server refused it, and that was not returned
	deferred bool  // statements wait for COMMIT, so an error may be another statement's
	joined   bool  // the transaction is the caller's
	story    []string
	replayed bool

	attempts int
	busy     int     // attempts that met what cannot succeed
	done     *expect // of the last attempt that came to its end
	lost     error   // what that attempt dropped
}

var (
	errBusiness = errors.New("the function changed its mind")
	errNothing  = errors.New("an update affected no row")
)

// attempt begins one: the same is drawn as in the one before.
func (o *op) attempt() {
	kept := map[int]bool{}
	if o.cur != nil {
		kept = o.cur.kept
	}
	o.r = rand.New(rand.NewPCG(o.seed, 1)) //nolint:gosec // not a secret
	o.n, o.cur, o.dropped, o.deferred, o.replayed = 0, newExpect(), nil, false, false
	o.cur.kept = kept
	o.attempts++
	o.story = o.story[:0]
	o.tell("on %s%s, attempt %d:", o.pool.name, map[bool]string{true: ", attack " + o.attack}[o.attack != ""], o.attempts)
}

// end notes that the function returns nil.
func (o *op) end() error {
	o.done, o.lost = o.cur.clone(), o.dropped
	return nil
}

func (o *op) tell(format string, args ...any) {
	o.story = append(o.story, fmt.Sprintf(format, args...))
}

// one is true once in n times.
func (o *op) one(n int) bool { return o.r.IntN(n) == 0 }

// shy are the server's errors of a single statement that did nothing, and after which a transaction goes on.
var shy = map[uint16]bool{1062: true, 1064: true, 1054: true, 1146: true, 1065: true}

const (
	erDuplicate   = 1062
	erInterrupted = 1317
	erReadOnly    = 1290
)

func number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

func isShy(err error) bool {
	return (shy[number(err)] || errors.Is(err, onerow.ErrNotOneRow)) && !errors.Is(err, onerow.ErrTxPoisoned)
}

// told notes what the answer to statements means, and returns the error unless it is dropped.
// Where several travelled together, which one the error is of is not known.
func (o *op) told(ctx context.Context, err error, atoms ...atom) error {
	if err == nil {
		for _, a := range atoms {
			o.cur.wrote(a)
		}
		return nil
	}
	o.tell("→ %s", short(err))
	if !isShy(err) || len(atoms) > 1 || o.deferred {
		for _, a := range atoms {
			o.cur.maybe(a)
		}
	}
	switch {
	case o.careful || o.deferred || ctx.Err() != nil:
		return err
	case isShy(err) && o.one(2):
		o.tell("dropped")
		return nil
	case !isShy(err) && o.attack == "drops" && !o.one(3):
		o.tell("dropped")
		o.dropped = err
		return nil
	}
	return err
}

// unsure is told for an error that may be of a statement behind these.
func (o *op) unsure(ctx context.Context, err error, atoms []atom) error {
	for _, a := range atoms {
		o.cur.maybe(a)
	}
	return o.told(ctx, err)
}

func short(err error) string {
	if n := number(err); n != 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.60s", strings.TrimPrefix(err.Error(), "onerow: "))
}

// verdictOf says what InTx told.
func verdictOf(err error) verdict {
	switch {
	case err == nil:
		return acked
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return unknown
	}
	return failed
}

// record is what the tables are held against.
func (o *op) record(v verdict, err error) *record {
	want := o.cur
	switch {
	case v != failed && o.done != nil:
		want = o.done
		for n := range o.cur.kept {
			want.kept[n] = true
		}
	case v == acked:
		o.found.Add(brokenDisguise, "the function never came to its end: %s", strings.Join(o.story, " "))
	}
	rec := &record{id: o.id, verdict: v, err: err, want: want, story: strings.Join(o.story, " ")}
	if v == acked && o.lost != nil {
		o.found.Add(brokenDropped, "%s", rec)
	}
	return rec
}

package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// heard is what the calls of one schedule were answered beside their errors, in words, and the claim that the
// setup made.
type heard struct {
	racetest.Answers
	claim idempotency.Claim
}

// condition is asked after every schedule; call is one of the calls at once.
type (
	condition func(context.Context, *sql.DB) error
	call      = func(context.Context, *sql.DB) error
)

var errReplayed = errors.New("replayed")

// reason maps an error to the sentinel that it is: the texts carry ages.
func reason(err error) error {
	for _, want := range []error{
		idempotency.ErrMismatch, idempotency.ErrFailed, idempotency.ErrInProgress, idempotency.ErrLost, keyadmin.ErrChanged, errReplayed, errOutage,
	} {
		if errors.Is(err, want) {
			return want
		}
	}
	return err
}

var errOutage = errors.New("not now")

// race is two or three calls at once.
type race struct {
	name  string
	setup func(ctx context.Context, db *sql.DB) (idempotency.Claim, error)
	calls []call
	once  bool
	check condition
	judge func(ctx context.Context, db *sql.DB, answers []error) error
}

// paid is a condition: the charge was made so often, and the balance says the same. The receipt that all
// callers have is that of the charge.
func (h *heard) paid(times int) condition {
	return func(ctx context.Context, db *sql.DB) error {
		var charges, balance, id int
		err := onerow.QueryRow(ctx, db, "SELECT (SELECT COUNT(*) FROM charge), (SELECT balance FROM account), (SELECT COALESCE(MAX(id), 0) FROM charge)", nil, &charges, &balance, &id)
		if err != nil || charges != times || balance != 5*times {
			return fmt.Errorf("%d charges, the balance is %d, want %d charges of 5, %w", charges, balance, times, err)
		}
		fresh := 0
		for _, what := range h.List() {
			switch what {
			case fmt.Sprint("fresh ", id):
				fresh++
			case fmt.Sprint("replayed ", id):
			default:
				return fmt.Errorf("the charge is %d, and the answers are %q", id, h.List())
			}
		}
		if len(h.List()) > 0 && fresh != times {
			return fmt.Errorf("%d calls say that they made the charge: %q", fresh, h.List())
		}
		return nil
	}
}

// do is a call of Do.
func (h *heard) do(k *idempotency.Keys, fn func(context.Context, *onerow.Tx) (receipt, error), opts ...idempotency.Options) call {
	return func(ctx context.Context, db *sql.DB) error {
		out, err := idempotency.Do(ctx, db, k, key("a"), fn, opts...)
		h.answered(out, err)
		return reason(err)
	}
}

func (h *heard) answered(out onerow.Result[receipt], err error) {
	switch {
	case err != nil:
	case out.Replayed: // waited for or not
		h.Add(fmt.Sprint("replayed ", out.Row.ID))
	default:
		h.Add(fmt.Sprint("fresh ", out.Row.ID))
	}
}

func doRaces(k *idempotency.Keys, h *heard) []race {
	table := setups(k)
	inside := func(ctx context.Context, db *sql.DB) error {
		var out onerow.Result[receipt]
		err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM onerow_key", nil, new(int)); err != nil { // takes the snapshot
				return err
			}
			out, err = idempotency.Do(ctx, tx, k, key("a"), pay)
			return err
		})
		h.answered(out, err)
		return reason(err)
	}
	permanent := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		r, err := pay(ctx, tx)
		return r, errors.Join(err, idempotency.Permanent(errors.New("refused")))
	}
	outage := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		r, err := pay(ctx, tx)
		return r, errors.Join(err, errOutage)
	}
	// A verdict is stored in a commit of its own: who comes between gets the key, and both are answered with what
	// that one stored.
	asOne := func(ctx context.Context, db *sql.DB, answers []error) error {
		failed := 0
		for _, err := range answers {
			if errors.Is(err, idempotency.ErrFailed) {
				failed++
			} else if err != nil {
				return err
			}
		}
		switch failed {
		case 0:
			return h.paid(1)(ctx, db)
		case len(answers):
			return h.paid(0)(ctx, db)
		}
		return fmt.Errorf("the answers are %v", answers)
	}
	undone := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		_, err := pay(ctx, tx)
		return receipt{ID: 7}, errors.Join(err, idempotency.ErrUndone)
	}
	kept := func(ctx context.Context, db *sql.DB) error {
		var charges int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM charge", nil, &charges)
		if answers := strings.Join(h.List(), ", "); err != nil || charges != 0 || answers != "fresh 7, replayed 7" && answers != "replayed 7, fresh 7" {
			return fmt.Errorf("%d charges, the answers are %q, %w", charges, answers, err)
		}
		return nil
	}
	purge := func(ctx context.Context, db *sql.DB) error {
		_, err := keyadmin.Purge(ctx, db, k, 10)
		return err
	}
	again := func(ctx context.Context, db *sql.DB) error {
		return errors.Join(purge(ctx, db), h.do(k, pay)(ctx, db))
	}
	begin := h.begin(k)
	one, two := idempotency.Options{Payload: "1"}, idempotency.Options{Payload: "2"}
	twice := func(c call) []call { return []call{c, c} }
	return []race{
		{"do, twice", table.empty, twice(h.do(k, pay)), true, h.paid(1), nil},
		{"do, three times", table.empty, []call{h.do(k, pay), h.do(k, pay), h.do(k, pay)}, true, h.paid(1), nil},
		{"do, in callers' transactions, twice", table.empty, twice(inside), true, h.paid(1), nil},
		{"do, failed for good, twice", table.empty, twice(h.do(k, permanent)), true, h.paid(0), nil},
		{"do, failed for good, and do", table.empty, []call{h.do(k, permanent), h.do(k, pay)}, false, nil, asOne},
		{"do, failed for good, expired, and do", table.expired, []call{h.do(k, permanent), h.do(k, pay)}, false, nil, asOne},
		{"do, undone, twice", table.empty, twice(h.do(k, undone)), false, kept, nil},
		{"do, one is rolled back", table.empty, []call{h.do(k, outage), h.do(k, pay)}, false, h.paid(1), nil},
		{"do, one is rolled back, two wait", table.empty, []call{h.do(k, outage), h.do(k, pay), h.do(k, pay)}, false, h.paid(1), nil},
		{"do, two payloads", table.empty, []call{h.do(k, pay, one), h.do(k, pay, two)}, false, h.paid(1), nil},
		{"do, replay, twice", table.complete, twice(h.do(k, pay)), true, nil, nil},
		{"do, expired, twice", table.expired, twice(h.do(k, pay)), true, h.paid(1), nil},
		{"do, expired, and purge", table.expired, []call{h.do(k, pay), purge}, false, h.paid(1), nil},
		{"do, expired, and purge and do", table.expired, []call{h.do(k, pay), again}, false, h.paid(1), nil},
		{"do, failed for good, expired once, and purge and do", table.undone, []call{h.do(k, permanent), again}, false, nil, asOne},
		{"do, replay of what was seen, twice", table.seen, twice(h.do(k, pay)), true, nil, nil},
		{"do, what was seen has expired, and purge and do", table.seenExpired, []call{h.do(k, pay), again}, false, h.paid(1), nil},
		{"do, and begin", table.empty, []call{h.do(k, pay), begin}, false, nil, nil},
		{"purge, twice", table.expired, twice(purge), true, nil, nil},
	}
}

// workflow is a race as crashtest takes it.
func (r race) workflow(dsn string, h *heard) crashtest.Race {
	w := workflow(verb{setup: func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		claim, err := r.setup(ctx, db)
		h.claim = claim
		h.Clear()
		return claim, err
	}}, dsn)
	w.Check = r.check
	// Of three copies the schedules with two preemptions are too many.
	race := crashtest.Race{Workflow: w, Calls: r.calls, AsOnce: r.once, Judge: r.judge, Every: 100, Preemptions: 4 - len(r.calls)}
	if race.Stops = strings.HasSuffix(r.name, "with stops"); race.Stops {
		race.Preemptions = 1
		race.Expire = func(ctx context.Context, db *sql.DB) error { // the lease that it held is over
			_, err := db.ExecContext(ctx, "UPDATE onerow_key SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE status = 'in_progress'")
			return err
		}
	}
	return race
}

// TestInterleave steps every verb, and the pairs that meet at a key, through the interleavings of their
// statements.
func TestInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			keys := newKeys(t, idempotency.Config{})
			_, dsn := open(t, dbtest.Isolation(level))
			h := &heard{}
			for _, r := range append(doRaces(keys, h), stepRaces(keys, h)...) {
				t.Run(r.name, func(t *testing.T) { crashtest.Interleave(t, r.workflow(dsn, h)) })
			}
		})
	}
}

// TestInterleaveTogether does so where statements travel together.
func TestInterleaveTogether(t *testing.T) {
	t.Parallel()
	_, dsn := open(t, dbtest.Isolation(levels[0]))
	h := &heard{}
	for _, r := range doRaces(newKeys(t, idempotency.Config{}), h) {
		t.Run(r.name, func(t *testing.T) {
			race := r.workflow(dsn, h)
			race.Workflow = racetest.Together(race.Workflow)
			crashtest.Interleave(t, race)
		})
	}
}

// states are the states before a race. Of seen the callers know that it has ended, as who has seen it end.
type states struct {
	empty, begun, released, leased, complete, expired, undone, seen, seenExpired func(ctx context.Context, db *sql.DB) (idempotency.Claim, error)
}

func setups(k *idempotency.Keys) states {
	type setup = func(ctx context.Context, db *sql.DB) (idempotency.Claim, error)
	begin := func(opts ...idempotency.Options) setup {
		return func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			k.ForgetEnded()
			claim, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"), opts...)
			return claim, err
		}
	}
	complete := func(keep time.Duration) setup {
		return func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			claim, err := begin()(ctx, db)
			return claim, errors.Join(err, k.Complete(ctx, db, claim, receipt{ID: 1}, idempotency.Options{Keep: keep}))
		}
	}
	unseen := func(of setup) setup {
		return func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			claim, err := of(ctx, db)
			k.ForgetEnded()
			return claim, err
		}
	}
	return states{
		empty: unseen(func(context.Context, *sql.DB) (c idempotency.Claim, err error) { return c, nil }),
		begun: begin(),
		released: func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			claim, err := begin()(ctx, db)
			return claim, errors.Join(err, k.Release(ctx, db, claim))
		},
		leased:   begin(idempotency.Options{Lease: time.Microsecond}), // over before the next statement
		complete: unseen(complete(time.Hour)),
		expired:  unseen(complete(time.Microsecond)),
		// Of a key that was appended the version is the same as of the next one.
		undone: unseen(func(ctx context.Context, db *sql.DB) (c idempotency.Claim, err error) {
			undone := func(context.Context, *onerow.Tx) (receipt, error) { return receipt{ID: 1}, idempotency.ErrUndone }
			_, err = idempotency.Do(ctx, db, k, key("a"), undone, idempotency.Options{Keep: time.Microsecond})
			return c, err
		}),
		seen:        complete(time.Hour),
		seenExpired: complete(time.Microsecond),
	}
}

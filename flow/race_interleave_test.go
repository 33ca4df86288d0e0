package flow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

type call = func(context.Context, *sql.DB) error

// heard is what the calls of one schedule were answered.
type heard struct{ racetest.Answers }

// reason maps an error to the sentinel that it is.
func reason(err error) error {
	for _, want := range []error{flow.ErrOwned, flow.ErrSuperseded, flow.ErrFinished, flow.ErrLost, flow.ErrNoStep} {
		if errors.Is(err, want) {
			return want
		}
	}
	return err
}

// oneOwner is a condition: each stage has at most one owner (that is the key's), and exactly the owners are
// running.
func oneOwner(ctx context.Context, db *sql.DB) error {
	var owners, running, matching int
	err := onerow.QueryRow(ctx, db, `SELECT (SELECT COUNT(*) FROM onerow_flow), (SELECT COUNT(*) FROM onerow_flow_request WHERE status = 'running'),
		(SELECT COUNT(*) FROM onerow_flow JOIN onerow_flow_request USING (flow, stage, request_id) WHERE status = 'running')`, nil, &owners, &running, &matching)
	if err == nil && (owners != running || owners != matching) {
		err = fmt.Errorf("%d stages are owned, %d requests are running, %d of them by their owners", owners, running, matching)
	}
	return err
}

// race is two or three calls at once.
type race struct {
	name  string
	setup call
	calls []call
	once  bool
	check call
	stops bool
}

// The calls.
func (h *heard) claim(r flow.Run) call {
	return h.outcome(func(ctx context.Context, db *sql.DB) (flow.Result, error) { return flow.Claim(ctx, db, r) })
}

func (h *heard) claimAfter(r, cause flow.Run) call {
	return h.outcome(func(ctx context.Context, db *sql.DB) (flow.Result, error) { return flow.ClaimAfter(ctx, db, r, cause) })
}

func (h *heard) outcome(verb func(context.Context, *sql.DB) (flow.Result, error)) call {
	return func(ctx context.Context, db *sql.DB) error {
		res, err := verb(ctx, db)
		if err == nil {
			h.Add(string(res.Outcome))
		}
		return reason(err)
	}
}

func (h *heard) supersede(r flow.Run) call {
	return func(ctx context.Context, db *sql.DB) error {
		res, err := flow.Supersede(ctx, db, r)
		if err == nil {
			h.Add(string(res.Outcome))
		}
		return reason(err)
	}
}

func (h *heard) finish(r flow.Run) call {
	return func(ctx context.Context, db *sql.DB) error {
		res, err := flow.Finish(ctx, db, r)
		if err == nil {
			h.Add(fmt.Sprint("changed ", res.Changed))
		}
		return reason(err)
	}
}

// write is a proven write.
func write(r flow.Run, total int) call {
	return func(ctx context.Context, db *sql.DB) error {
		return reason(onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := flow.Prove(ctx, tx, r); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE cart SET total = ?, version = version + 1 WHERE id = 42", total)
			return err
		}))
	}
}

// conditional is a write with the proof in its condition.
func conditional(r flow.Run, total int) call {
	return func(ctx context.Context, db *sql.DB) error {
		owns, args := r.Owns()
		n, err := onerow.Affected(ctx, db, "UPDATE cart SET total = ?, version = version + 1 WHERE id = 42 AND "+owns, append([]any{total}, args...)...)
		if err == nil && n == 0 {
			err = flow.ErrLost
		}
		return err
	}
}

// then is one call after another, as one process makes them.
func then(calls ...call) call {
	return func(ctx context.Context, db *sql.DB) error {
		for _, c := range calls {
			if err := c(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

func races(h *heard) []race {
	a, b, pay, ship := run("", "a"), run("", "b"), run("pay", "a2"), run("ship", "a3")
	step := must(flow.StepID(a, "price"))
	await := func(ctx context.Context, db *sql.DB) error {
		s, err := flow.Await(ctx, db, a, "price", []byte("?"))
		if err == nil {
			h.Add(fmt.Sprint("replayed ", s.Replayed))
		}
		return reason(err)
	}
	// inside is await in a caller's transaction that has looked before, so that its snapshot is older than
	// the other one's step.
	inside := func(ctx context.Context, db *sql.DB) error {
		var s flow.Step
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			if err := onerow.QueryRow(ctx, tx, "SELECT COUNT(*) FROM onerow_flow_step", nil, new(int)); err != nil {
				return err
			}
			s, err = flow.Await(ctx, tx, a, "price", []byte("?"))
			return err
		})
		if err == nil {
			h.Add(fmt.Sprint("replayed ", s.Replayed))
		}
		return reason(err)
	}
	answer := func(text string) call {
		return func(ctx context.Context, db *sql.DB) error {
			s, err := flow.Answer(ctx, db, step, []byte(text))
			if err == nil {
				h.Add(fmt.Sprint("replayed ", s.Replayed))
			}
			return reason(err)
		}
	}
	forget := func(ctx context.Context, db *sql.DB) error { return second(flow.Forget(ctx, db, -time.Second, 10)) }
	finished := then(staged, func(ctx context.Context, db *sql.DB) error { return second(flow.Finish(ctx, db, a)) })
	// whole is a message's work; who finds it finished drops the message.
	whole := func(ctx context.Context, db *sql.DB) error {
		err := validate(ctx, db)
		if errors.Is(err, flow.ErrFinished) {
			return nil
		}
		return reason(err)
	}
	total := func(want int) call {
		return func(ctx context.Context, db *sql.DB) error {
			var got int
			if err := onerow.QueryRow(ctx, db, "SELECT total FROM cart", nil, &got); err != nil || got != want {
				return fmt.Errorf("the total is %d, want %d, %w", got, want, err)
			}
			return nil
		}
	}
	takeOver := then(h.supersede(b), write(b, 9)) // the new run's write must stay
	twice := func(c call) []call { return []call{c, c} }
	return []race{
		{"claim, one id", nothing, twice(h.claim(a)), true, h.Exactly("admitted", "redelivered"), false},
		{"claim, one id, three times", nothing, []call{h.claim(a), h.claim(a), h.claim(a)}, true, h.Exactly("admitted", "redelivered", "redelivered"), false},
		{"claim, two ids", nothing, []call{h.claim(a), h.claim(b)}, false, h.Exactly("admitted"), false},
		{"claim, after a cause that is superseded", claimed, []call{h.claimAfter(pay, a), h.supersede(b)}, false, nil, false},
		{"claim, after a cause that finishes", claimed, []call{h.claimAfter(pay, a), h.finish(a)}, false, nil, false},
		{"claim refused, and finish", claimed, []call{h.claim(b), h.finish(a)}, false, nil, false},
		{"claim of a stage, and finish", claimed, []call{h.claim(ship), h.finish(a)}, false, nil, false},
		{"claim of a stage and a write, and finish", staged, []call{write(pay, 7), h.claim(ship), h.finish(a)}, false, nil, false},
		{"claim of a stage and a write, and supersede", staged, []call{write(pay, 7), h.claim(ship), h.supersede(b)}, false, nil, false},
		{"redelivered, and finish", claimed, []call{h.claim(a), h.finish(a)}, false, nil, false},
		{"redelivered, and forget", finished, []call{h.claim(a), forget}, false, nil, false},
		{"write, and supersede", claimed, []call{write(a, 7), takeOver}, false, total(9), false},
		{"conditional write, and supersede", claimed, []call{conditional(a, 7), takeOver}, false, total(9), false},
		{"write, and finish", staged, []call{write(pay, 7), h.finish(a)}, false, nil, false},
		{"a whole run, twice", nothing, twice(whole), true, total(5), false},
		{"a whole run, twice, with stops", nothing, twice(whole), true, total(5), true}, // a claim, and a transaction; nobody holds a lease
		{"a whole run, redelivered twice", claimed, twice(whole), true, total(5), false},
		{"a whole run, and supersede", claimed, []call{whole, h.supersede(b)}, false, nil, false},
		{"finish, twice", staged, twice(h.finish(a)), true, h.Exactly("changed true", "changed false"), false},
		{"finish, by the owners of two stages", staged, []call{h.finish(a), h.finish(pay)}, false, nil, false},
		{"finish, and supersede", staged, []call{h.finish(a), h.supersede(b)}, false, nil, false},
		{"supersede, one id", staged, twice(h.supersede(b)), true, h.Exactly("admitted", "redelivered"), false},
		{"supersede, two ids", staged, []call{h.supersede(b), h.supersede(run("", "c"))}, false, nil, false},
		{"supersede, two ids, nobody runs", nothing, []call{h.supersede(b), h.supersede(run("", "c"))}, false, nil, false},
		{"supersede, at two stages", staged, []call{h.supersede(b), h.supersede(run("pay", "c"))}, false, nil, false},
		{"supersede, and claim", nothing, []call{h.supersede(b), h.claim(a)}, false, nil, false},
		{"await, twice", claimed, twice(await), true, h.Exactly("replayed false", "replayed true"), false},
		{"await, in callers' transactions, twice", claimed, twice(inside), true, h.Exactly("replayed false", "replayed true"), false},
		{"await, and answer", claimed, []call{await, answer("5")}, false, nil, false},
		{"answer, twice", waiting, twice(answer("5")), true, h.Exactly("replayed false", "replayed true"), false},
		{"answer, two answers", waiting, []call{answer("5"), answer("6")}, false, nil, false},
		{"answer, and supersede", waiting, []call{answer("5"), h.supersede(b)}, false, nil, false},
		{"answer, and finish", waiting, []call{answer("5"), h.finish(a)}, false, nil, false},
		{"forget, twice", finished, twice(forget), true, nil, false},
	}
}

// workflow is a race as crashtest takes it.
func (r race) workflow(dsn string, h *heard) crashtest.Race {
	w := faulty(dsn, r.setup, nil)
	setup := w.Setup
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		err := setup(ctx, db)
		h.Clear()
		return err
	}
	w.Check = func(ctx context.Context, db *sql.DB) error {
		if err := oneOwner(ctx, db); err != nil || r.check == nil {
			return err
		}
		return r.check(ctx, db)
	}
	// Of three copies the schedules with two preemptions are too many.
	race := crashtest.Race{Workflow: w, Calls: r.calls, AsOnce: r.once, Every: 100, Preemptions: 4 - len(r.calls), Stops: r.stops}
	if r.stops {
		race.Preemptions = 1
	}
	return race
}

// TestInterleave steps every verb, and the pairs that meet at a flow, through the interleavings of their
// statements.
func TestInterleave(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			h := &heard{}
			for _, r := range races(h) {
				t.Run(r.name, func(t *testing.T) { crashtest.Interleave(t, r.workflow(dsn, h)) })
			}
		})
	}
}

// TestInterleaveCatchesTheNaiveTwins: who owns the stage is read, and then it is claimed, or written for.
func TestInterleaveCatchesTheNaiveTwins(t *testing.T) {
	owner := func(ctx context.Context, db onerow.DB) (id string, err error) {
		err = onerow.QueryRow(ctx, db, "SELECT request_id FROM onerow_flow WHERE flow = 'cart/42' AND stage = ''", nil, &id)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return id, err
	}
	claim := func(request string) call {
		return func(ctx context.Context, db *sql.DB) error {
			id, err := owner(ctx, db)
			switch {
			case err != nil:
				return err
			case id != "" && id != request:
				return flow.ErrOwned
			}
			_, err = db.ExecContext(ctx, `REPLACE INTO onerow_flow (flow, stage, request_id, call_token, claimed_at)
				VALUES ('cart/42', '', ?, REPEAT('x', 16), UTC_TIMESTAMP(6))`, request)
			return err
		}
	}
	zombie := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if id, err := owner(ctx, tx); err != nil || id != "a" {
				return errors.Join(err, flow.ErrLost)
			}
			_, err := tx.ExecContext(ctx, "UPDATE cart SET total = 7 WHERE id = 42")
			return err
		})
	}
	h := &heard{}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			for _, twin := range []struct {
				name   string
				setup  call
				calls  []call
				racing []string // in the order in which they come
			}{
				{"look who owns, then claim", nothing, []call{claim("a"), claim("b")},
					[]string{"SELECT request_id FROM onerow_flow", "SELECT request_id FROM onerow_flow", "REPLACE INTO onerow_flow", "REPLACE INTO onerow_flow"}},
				{"look who owns, then write", claimed, []call{zombie, then(h.supersede(run("", "b")), write(run("", "b"), 9))},
					[]string{"SELECT request_id FROM onerow_flow", "UPDATE onerow_flow SET request_id", "UPDATE cart SET total = ?", "UPDATE cart SET total = 7"}},
			} {
				t.Run(twin.name, func(t *testing.T) {
					racetest.Caught(t, crashtest.Race{Workflow: faulty(dsn, twin.setup, nil), Calls: twin.calls, Every: -1}, twin.racing...)
				})
			}
		})
	}
}

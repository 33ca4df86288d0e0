package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const (
	clients    = 16
	operations = 10000
	keysUsed   = 256
)

// in and out are an operation on one key; state is what the key's row means.
type in struct {
	verb  string // begin, complete, fail, release, owned
	id    int
	token int64
	value int
	lease bool
}

type out struct {
	what  string // acquired, in progress, complete, failed, ok, lost, unknown
	token int64
	value int
	over  bool // taken over
}

type state struct {
	status string // "", in progress, complete, failed, released
	token  int64  // 0: that of a Begin that was not answered
	low    int64  // every later token is larger
	lease  bool   // it may be taken over, sooner or later
	value  int
}

// step gives the states in which an operation with this answer may leave a key; none
// means that it cannot be.
func step(s state, i in, o out) []state {
	free := s.status == "" || s.status == "released" || s.status == "in progress" && s.lease
	if i.verb == "begin" {
		began := state{status: "in progress", token: o.token, low: max(s.low, o.token), lease: i.lease}
		switch o.what {
		case "acquired":
			if free && o.token > s.low && (o.over || s.status != "in progress") {
				return []state{began}
			}
		case "in progress":
			if s.status == "in progress" && (s.token == o.token || s.token == 0 && o.token > s.low) {
				s.token, s.low = o.token, o.token
				return []state{s}
			}
		case "complete", "failed":
			if s.status == o.what && s.value == o.value {
				return []state{s}
			}
		case "unknown":
			if free {
				return []state{s, began}
			}
			return []state{s}
		}
		return nil
	}
	ended := map[string]string{"complete": "complete", "fail": "failed", "release": "released", "owned": "in progress"}[i.verb]
	done := s
	holds := s.token == i.token && s.status == "in progress"
	if holds && i.verb != "owned" {
		done.status, done.value, done.lease = ended, i.value, false
	}
	already := s.token == i.token && s.status == ended && s.value == i.value
	switch {
	case o.what == "unknown" && holds:
		return []state{s, done}
	case o.what == "unknown", o.what == "ok" && already && !holds, o.what == "lost" && !already && !holds:
		return []state{s}
	case o.what == "ok" && holds:
		return []state{done}
	}
	return nil
}

var model = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[int][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(in).id
			byKey[id] = append(byKey[id], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{state{}} },
	Step: func(s, i, o any) []any {
		var next []any
		for _, n := range step(s.(state), i.(in), o.(out)) {
			next = append(next, n)
		}
		return next
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(i, o any) string { return fmt.Sprintf("%+v %+v", i, o) },
}

// TestLinearizable: 16 clients work on 256 keys while their connections are killed and some contexts end
// early; then the whole history must be one that the keys could have had one operation at a time.
func TestLinearizable(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, dbtest.Isolation(level))
			db := quiet(t, dsn)
			db.SetMaxOpenConns(clients)
			db.SetMaxIdleConns(clients)
			stop := make(chan struct{})
			var killer sync.WaitGroup
			var kills int
			killer.Go(func() { kills = kill(t, dsn, stop) })
			var mu sync.Mutex
			var history []porcupine.Operation
			var left atomic.Int64
			left.Store(operations)
			start := time.Now()
			var wg sync.WaitGroup
			for n := range clients {
				wg.Go(func() {
					c := &client{n: n, db: db, keys: newKeys(t, idempotency.Config{Name: fmt.Sprint(n)}), rng: rand.New(rand.NewPCG(uint64(n), 1))}
					for left.Add(-1) >= 0 {
						i := c.next()
						call := time.Since(start).Nanoseconds()
						o := c.run(t, i)
						op := porcupine.Operation{ClientId: n, Input: i, Call: call, Output: o, Return: time.Since(start).Nanoseconds()}
						if o.what == "unknown" { // it may still happen, at any later time
							op.Return = time.Hour.Nanoseconds()
						}
						mu.Lock()
						history = append(history, op)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			close(stop)
			killer.Wait()
			counts := map[string]int{}
			for _, op := range history {
				counts[op.Input.(in).verb+": "+op.Output.(out).what]++
			}
			t.Logf("%d operations in %s, %d connections killed: %v", len(history), time.Since(start).Round(time.Millisecond), kills, counts)
			if got := porcupine.CheckOperationsTimeout(model.ToModel(), history, 30*time.Second); got != porcupine.Ok {
				t.Errorf("the history is %s", got)
			}
			if kills == 0 || counts["begin: acquired"] == 0 || counts["complete: lost"] == 0 || counts["release: ok"] == 0 {
				t.Error("too little happened")
			}
		})
	}
}

// TestModel is the negative control: histories that must not be accepted.
func TestModel(t *testing.T) {
	type call struct {
		i in
		o out
	}
	begin, got := in{verb: "begin", lease: true}, out{what: "acquired", token: 5}
	heir := out{what: "acquired", token: 6, over: true}
	done := func(token int64, v int) in { return in{verb: "complete", token: token, value: v} }
	for name, c := range map[string]struct {
		calls []call
		want  porcupine.CheckResult
	}{
		"as it should be":             {[]call{{begin, got}, {begin, heir}, {done(6, 1), out{what: "ok"}}, {done(5, 2), out{what: "lost"}}, {begin, out{what: "complete", value: 1}}}, porcupine.Ok},
		"a zombie completes":          {[]call{{begin, got}, {begin, heir}, {done(5, 2), out{what: "ok"}}}, porcupine.Illegal},
		"a token goes backwards":      {[]call{{begin, heir}, {begin, got}}, porcupine.Illegal},
		"another's result":            {[]call{{begin, got}, {done(5, 1), out{what: "ok"}}, {begin, out{what: "complete", value: 2}}}, porcupine.Illegal},
		"two holders without a lease": {[]call{{in{verb: "begin"}, got}, {begin, heir}}, porcupine.Illegal},
		"lost without a reason":       {[]call{{begin, got}, {done(5, 1), out{what: "lost"}}}, porcupine.Illegal},
	} {
		var history []porcupine.Operation
		for n, call := range c.calls {
			history = append(history, porcupine.Operation{Input: call.i, Output: call.o, Call: int64(2 * n), Return: int64(2*n + 1)})
		}
		if got := porcupine.CheckOperationsTimeout(model.ToModel(), history, 10*time.Second); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// client is one of the 16. It keeps the claims that it has won, the lost ones too.
type client struct {
	n      int
	db     *sql.DB
	keys   *idempotency.Keys
	rng    *rand.Rand
	claims []in
	values int
}

func (c *client) next() in {
	if len(c.claims) == 0 || c.rng.IntN(100) < 45 {
		return in{verb: "begin", id: c.rng.IntN(keysUsed), lease: c.rng.IntN(2) == 0}
	}
	at := c.rng.IntN(len(c.claims))
	i := c.claims[at]
	i.verb, i.value = "release", 0
	switch p := c.rng.IntN(100); {
	case p < 12:
		i.verb = "complete"
	case p < 18:
		i.verb = "fail"
	case p < 30:
		i.verb = "owned"
	}
	if i.verb == "complete" || i.verb == "fail" {
		c.values++
		i.value = c.values*clients + c.n
	}
	if i.verb != "owned" && c.rng.IntN(4) > 0 { // else it comes again as a zombie
		c.claims = append(c.claims[:at], c.claims[at+1:]...)
	}
	return i
}

func (c *client) run(t *testing.T, i in) out {
	ctx := t.Context()
	if c.rng.IntN(40) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.rng.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	k := idempotency.Key{Operation: "linear", ID: fmt.Sprint(i.id)}
	claim := idempotency.Claim{Key: k, Token: i.token}
	var err error
	switch i.verb {
	case "begin":
		return c.begin(ctx, t, i, k)
	case "complete":
		err = c.keys.Complete(ctx, c.db, claim, i.value)
	case "fail":
		err = c.keys.Fail(ctx, c.db, claim, errors.New(fmt.Sprint(i.value)))
	case "release":
		err = c.keys.Release(ctx, c.db, claim)
	case "owned":
		err = c.keys.Owned(ctx, c.db, claim, func(context.Context, *onerow.Tx) error { return nil })
	}
	switch {
	case err == nil:
		return out{what: "ok"}
	case errors.Is(err, idempotency.ErrLost) && !errors.Is(err, idempotency.ErrCompletionLost):
		return out{what: "lost"}
	case i.verb == "owned" || errors.Is(err, idempotency.ErrCompletionLost):
		return out{what: "unknown"}
	}
	t.Errorf("%+v: %v", i, err)
	return out{what: "unknown"}
}

func (c *client) begin(ctx context.Context, t *testing.T, i in, k idempotency.Key) out {
	var opts []idempotency.Options
	if i.lease {
		opts = append(opts, idempotency.Options{Lease: time.Microsecond})
	}
	claim, done, err := idempotency.Begin[int](ctx, c.db, c.keys, k, opts...)
	var e *idempotency.Error
	switch {
	case err == nil && done != nil:
		return out{what: "complete", value: done.Row}
	case err == nil:
		i.token = claim.Token
		c.claims = append(c.claims, i)
		return out{what: "acquired", token: claim.Token, over: claim.TakenOver}
	case errors.Is(err, idempotency.ErrInProgress) && errors.As(err, &e):
		return out{what: "in progress", token: e.Entry.Token}
	case errors.Is(err, idempotency.ErrFailed) && errors.As(err, &e):
		var value int
		if _, err := fmt.Sscan(e.Entry.Error, &value); err != nil {
			t.Errorf("the stored error %q: %v", e.Entry.Error, err)
		}
		return out{what: "failed", value: value}
	}
	if _, short := ctx.Deadline(); !short && !errors.Is(err, onerow.ErrOutcomeUnknown) {
		t.Errorf("begin: %v", err)
	}
	return out{what: "unknown"}
}

// kill ends a connection of the schema every few milliseconds, until stop.
func kill(t *testing.T, dsn string, stop <-chan struct{}) (kills int) {
	db := dbtest.OpenDSN(t, dsn)
	db.SetMaxOpenConns(1)
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return kills
		case <-tick.C:
		}
		var id int64
		err := db.QueryRow("SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() ORDER BY RAND() LIMIT 1").Scan(&id)
		if err == nil {
			_, err = db.Exec(fmt.Sprintf("KILL CONNECTION %d", id))
		}
		if err == nil {
			kills++
		}
	}
}

package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func renamed(id string) idempotency.Key {
	return idempotency.Key{Tenant: "7", Operation: "pay", ID: id}
}

// TestFormerly: work that was begun under an earlier name goes on under that name, whatever state it is in.
func TestFormerly(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		was := func(id string) idempotency.Option {
			return idempotency.Formerly(idempotency.Key{Tenant: "7", Operation: "bill", ID: id}, key(id))
		}
		first := must(idempotency.Do(ctx, db, keys, key("done"), charge(1), idempotency.Payload(1)))
		if out, err := idempotency.Do(ctx, db, keys, renamed("done"), charge(1), idempotency.Payload(1), was("done")); err != nil || out.Row != first.Row || !out.Replayed {
			t.Errorf("done: %+v, %v", out, err)
		}
		if _, out, err := idempotency.Begin[receipt](ctx, db, keys, renamed("done"), was("done"), idempotency.LookFirst()); err != nil || out == nil || out.Row != first.Row {
			t.Errorf("done, Begin: %+v, %v", out, err)
		}
		if _, err := idempotency.Do(ctx, db, keys, renamed("done"), charge(2), idempotency.Payload(2), was("done")); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("another payload: %v", err)
		}
		zombie := begun(t, db, keys, key("open"), idempotency.Lease(time.Hour))
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, renamed("open"), was("open")); !errors.Is(err, idempotency.ErrInProgress) {
			t.Errorf("in progress: %v", err)
		}
		if err := keys.Extend(ctx, db, zombie, idempotency.Lease(time.Microsecond)); err != nil {
			t.Fatal(err)
		}
		leaseEnded(t, db, key("open"))
		heir := begun(t, db, keys, renamed("open"), was("open"))
		if heir.Key != key("open") || heir.Token != zombie.Token+1 || !heir.TakenOver {
			t.Errorf("the heir %+v of %+v", heir, zombie)
		}
		if err := keys.Complete(ctx, db, zombie, receipt{}); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("the zombie: %v", err)
		}
		fresh := begun(t, db, keys, renamed("new"), was("new"))
		if fresh.Key != renamed("new") {
			t.Errorf("fresh work: %+v", fresh)
		}
		dbtest.Exec(t, db, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) WHERE idem_key = 'done'")
		if out := must(idempotency.Do(ctx, db, keys, renamed("done"), charge(3), was("done"))); out.Replayed || out.Row.Amount != 3 {
			t.Errorf("expired: %+v", out)
		}
		if _, err := idempotency.Do(ctx, db, keys, renamed("x"), charge(3), idempotency.Formerly(idempotency.Key{})); !errors.Is(err, idempotency.ErrInvalidKey) {
			t.Errorf("no key: %v", err)
		}
	})
}

// TestFormerlyWaits: a call of Do that runs under the old name is waited for, and its result is the answer.
func TestFormerlyWaits(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		entered, leave := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			_, err := idempotency.Do(ctx, db, keys, key("a"), func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				close(entered)
				<-leave
				return charge(1)(ctx, tx)
			})
			done <- err
		}()
		<-entered
		_, err := within(t, 100*time.Millisecond, func(ctx context.Context) error {
			return second(idempotency.Do(ctx, db, keys, renamed("a"), charge(2), idempotency.Formerly(key("a"))))
		})
		if !errors.Is(err, idempotency.ErrBusy) {
			t.Errorf("while it runs: %v", err)
		}
		close(leave)
		out, err := idempotency.Do(ctx, db, keys, renamed("a"), charge(2), idempotency.Formerly(key("a")))
		if err := errors.Join(err, <-done); err != nil || out.Row.Amount != 1 || charges(t, db) != 1 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// TestFailWithResult: what was stored beside an error comes back with it.
func TestFailWithResult(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{MaxResult: 100}), t.Context()
	claim := begun(t, db, keys, key("a"))
	for range 2 { // the second one finds what the first has stored
		if err := keys.Fail(ctx, db, claim, errors.New("half done"), idempotency.Attention(), idempotency.Result(receipt{ID: 9})); err != nil {
			t.Fatal(err)
		}
	}
	if err := keys.Fail(ctx, db, claim, errors.New("half done"), idempotency.Attention(), idempotency.Result(receipt{ID: 10})); !errors.Is(err, idempotency.ErrLost) {
		t.Errorf("another result: %v", err)
	}
	var failed *idempotency.FailedError
	_, out, err := idempotency.Begin[receipt](ctx, db, keys, key("a"))
	if !errors.As(err, &failed) || failed.Result != (receipt{ID: 9}) || failed.Message != "half done" || out != nil {
		t.Errorf("%+v, %v", failed, err)
	}
	if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1)); !errors.As(err, &failed) || failed.Result != (receipt{ID: 9}) {
		t.Errorf("Do: %v", err)
	}
	if _, _, err := idempotency.Begin[int](ctx, db, keys, key("a")); !errors.Is(err, idempotency.ErrFailed) || !errors.Is(err, idempotency.ErrCodec) {
		t.Errorf("as another type: %v", err)
	}
	large := begun(t, db, keys, key("b"))
	if err := keys.Fail(ctx, db, large, errors.New("x"), idempotency.Result(make([]int, 1000))); !errors.Is(err, idempotency.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := keys.Fail(ctx, db, large, errors.New("x")); err != nil {
		t.Error(err)
	}
	if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("b")); !errors.As(err, &failed) || failed.Result != nil {
		t.Errorf("without: %+v", failed)
	}
	ann := must(keys.Operator("ann", "x"))
	if err := ann.Release(ctx, db, must(keys.Find(ctx, db, key("a"))).Seen()); err != nil {
		t.Fatal(err)
	}
	if err := keys.Fail(ctx, db, begun(t, db, keys, key("a")), errors.New("again")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a")); !errors.As(err, &failed) || failed.Result != nil || failed.Message != "again" {
		t.Errorf("claimed anew: %+v", failed)
	}
}

// TestTrigger: with a trigger on the table the server does not tell the token with its answer; the claim has
// it all the same.
func TestTrigger(t *testing.T) {
	db, _ := open(t)
	dbtest.Exec(t, db, "CREATE TRIGGER seen BEFORE INSERT ON onerow_key FOR EACH ROW SET @seen = NEW.idem_key")
	keys := newKeys(t, idempotency.Config{})
	claim := begun(t, db, keys, key("a"))
	if err := keys.Complete(t.Context(), db, claim, receipt{ID: 1}); err != nil || claim.Token == 0 {
		t.Errorf("%+v, %v", claim, err)
	}
}

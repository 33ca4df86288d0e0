package idempotency_test

import (
	"errors"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestFailWithResult: what was stored beside an error comes back with it.
func TestFailWithResult(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{MaxResult: 100}), t.Context()
	claim := begun(t, db, keys, key("a"))
	for range 2 { // the second one finds what the first has stored
		if err := keys.Fail(ctx, db, claim, errors.New("half done"), idempotency.Options{Attention: true, Result: receipt{ID: 9}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := keys.Fail(ctx, db, claim, errors.New("half done"), idempotency.Options{Attention: true, Result: receipt{ID: 10}}); !errors.Is(err, idempotency.ErrLost) {
		t.Errorf("another result: %v", err)
	}
	var failed *idempotency.Error
	_, out, err := idempotency.Begin[receipt](ctx, db, keys, key("a"))
	if !errors.As(err, &failed) || failed.Result != (receipt{ID: 9}) || failed.Entry.Error != "half done" || out != nil {
		t.Errorf("%+v, %v", failed, err)
	}
	if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1)); !errors.As(err, &failed) || failed.Result != (receipt{ID: 9}) {
		t.Errorf("Do: %v", err)
	}
	if _, _, err := idempotency.Begin[int](ctx, db, keys, key("a")); !errors.Is(err, idempotency.ErrFailed) || !errors.Is(err, idempotency.ErrCodec) {
		t.Errorf("as another type: %v", err)
	}
	large := begun(t, db, keys, key("b"))
	if err := keys.Fail(ctx, db, large, errors.New("x"), idempotency.Options{Result: make([]int, 1000)}); !errors.Is(err, idempotency.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := keys.Fail(ctx, db, large, errors.New("x")); err != nil {
		t.Error(err)
	}
	if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("b")); !errors.As(err, &failed) || failed.Result != nil {
		t.Errorf("without: %+v", failed)
	}
	ann := must(keyadmin.NewOperator(keys, "ann", "x"))
	if err := ann.Release(ctx, db, must(keyadmin.Find(ctx, db, key("a")))); err != nil {
		t.Fatal(err)
	}
	if err := keys.Fail(ctx, db, begun(t, db, keys, key("a")), errors.New("again")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a")); !errors.As(err, &failed) || failed.Result != nil || failed.Entry.Error != "again" {
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

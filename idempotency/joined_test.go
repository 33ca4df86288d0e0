package idempotency_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// errOutside is what an HTTP client answers; it looks like a lost connection of the database.
var errOutside = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// TestJoinedLeavesNothing: however a function fails in its caller's transaction, the caller may commit what
// it has itself written, and neither the key nor the function's rows are there.
func TestJoinedLeavesNothing(t *testing.T) {
	db, _ := open(t)
	keys := newKeys(t, idempotency.Config{})
	type fn = func(context.Context, *onerow.Tx) (receipt, error)
	{
		try := func(what string, call func(ctx context.Context, tx *onerow.Tx, do func(context.Context, fn) error)) {
			t.Run(what, func(t *testing.T) {
				k := key(what)
				before := charges(t, db)
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					dbtest.Exec(t, tx, "UPDATE account SET balance = balance + 1")
					call(ctx, tx, func(ctx context.Context, f fn) error {
						_, err := idempotency.Do(ctx, tx, keys, k, f)
						return err
					})
					return nil
				})
				if err != nil || charges(t, db) != before {
					t.Errorf("%v, %d charges, there were %d", err, charges(t, db), before)
				}
				if _, err := keyadmin.Find(t.Context(), db, k); !errors.Is(err, keyadmin.ErrNoKey) {
					t.Errorf("the key: %v", err)
				}
			})
		}
		try("network", func(ctx context.Context, _ *onerow.Tx, do func(context.Context, fn) error) {
			if err := do(ctx, func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				must(charge(1)(ctx, tx))
				return receipt{}, errOutside
			}); !errors.Is(err, errOutside) {
				t.Error(err)
			}
		})
		try("deadline", func(ctx context.Context, _ *onerow.Tx, do func(context.Context, fn) error) {
			ctx, cancel := context.WithCancel(ctx)
			if err := do(ctx, func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				must(charge(1)(ctx, tx))
				cancel()
				return receipt{}, ctx.Err()
			}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		try("panic", func(ctx context.Context, _ *onerow.Tx, do func(context.Context, fn) error) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			t.Error(do(ctx, func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				must(charge(1)(ctx, tx))
				panic("no")
			}))
		})
		try("own key", func(ctx context.Context, _ *onerow.Tx, do func(context.Context, fn) error) {
			no := errors.New("no")
			if err := do(ctx, func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				must(charge(1)(ctx, tx))
				_, err := idempotency.Do(ctx, tx, keys, key("own key"), charge(2))
				return receipt{}, errors.Join(no, err)
			}); !errors.Is(err, no) {
				t.Error(err)
			}
		})
	}
}

// TestPermanentOutside: a permanent error that is a network's is stored as any other.
func TestPermanentOutside(t *testing.T) {
	db, _ := open(t)
	keys := newKeys(t, idempotency.Config{})
	{
		for _, replayed := range []bool{false, true} {
			_, err := idempotency.Do(t.Context(), db, keys, key("k"), func(context.Context, *onerow.Tx) (receipt, error) {
				return receipt{}, idempotency.Permanent(errOutside)
			})
			var failed *idempotency.Error
			if !errors.As(err, &failed) || failed.Replayed != replayed {
				t.Error(err)
			}
		}
	}
}

// TestTrailing: what follows the JSON value does not go unseen.
func TestTrailing(t *testing.T) {
	for _, text := range []string{`{"a":1}}`, `{"a":1}]`, `{"a":1} {"a":2}`, `{"a":1}x`} {
		if _, err := idempotency.KeyOf([]byte(text), "a"); !errors.Is(err, idempotency.ErrField) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := idempotency.KeyOf([]byte("{\"a\":1}\n "), "a"); err != nil {
		t.Error(err)
	}
}

// brokenReferences cannot store.
type brokenReferences struct{}

func (brokenReferences) Store(context.Context, onerow.DB, idempotency.Key, []byte) (string, error) {
	return "", errOutside
}

func (brokenReferences) Load(context.Context, onerow.DB, string) ([]byte, error) {
	return nil, errOutside
}

// TestReferenceNotStored: the work was done and its result has no place to go: the completion is lost.
func TestReferenceNotStored(t *testing.T) {
	db, _ := open(t)
	keys := newKeys(t, idempotency.Config{MaxResult: 1, References: brokenReferences{}})
	out, err := idempotency.Work(t.Context(), db, keys, begun(t, db, keys, key("k")), func(context.Context) (receipt, error) {
		return receipt{ID: 4}, nil
	})
	if !errors.Is(err, idempotency.ErrCompletionLost) || !errors.Is(err, errOutside) || out.Row.ID != 4 {
		t.Errorf("%+v, %v", out, err)
	}
}

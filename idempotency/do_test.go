package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestDo(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		first, err := idempotency.Do(ctx, db, keys, key("a"), charge(5))
		if err != nil || !first.Changed || first.Replayed || first.Row.Amount != 5 {
			t.Fatalf("first: %+v, %v", first, err)
		}
		again, err := idempotency.Do(ctx, db, keys, key("a"), charge(6))
		if err != nil || again.Changed || !again.Replayed || again.Row != first.Row {
			t.Fatalf("again: %+v, %v", again, err)
		}
		elsewhere, err := idempotency.Do(ctx, db, newKeys(t, idempotency.Config{}), key("a"), charge(6))
		if err != nil || !elsewhere.Replayed || elsewhere.Row != first.Row {
			t.Fatalf("in another process: %+v, %v", elsewhere, err)
		}
		if n := charges(t, db); n != 1 {
			t.Fatalf("%d charges", n)
		}
	})
}

func TestErrors(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		boom := errors.New("boom")
		failing := func(mark func(error) error) func(context.Context, *onerow.Tx) (receipt, error) {
			return func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				if _, err := charge(1)(ctx, tx); err != nil {
					return receipt{}, err
				}
				return receipt{}, mark(boom)
			}
		}
		same := func(err error) error { return err }
		if _, err := idempotency.Do(ctx, db, keys, key("a"), failing(same)); !errors.Is(err, boom) || errors.Is(err, idempotency.ErrFailed) {
			t.Fatalf("an error: %v", err)
		}
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key"); n != 0 {
			t.Fatalf("%d keys after an error", n)
		}
		if out, err := idempotency.Do(ctx, db, keys, key("a"), charge(5)); err != nil || out.Replayed {
			t.Fatalf("after an error: %+v, %v", out, err)
		}
		_, err := idempotency.Do(ctx, db, keys, key("b"), failing(idempotency.Permanent))
		var failed *idempotency.Error
		if !errors.As(err, &failed) || !errors.Is(err, boom) || !errors.Is(err, idempotency.ErrFailed) || failed.Replayed || failed.Entry.Error != "boom" {
			t.Fatalf("failed for good: %v", err)
		}
		_, err = idempotency.Do(ctx, db, keys, key("b"), charge(5))
		if !errors.As(err, &failed) || errors.Is(err, boom) || !failed.Replayed || failed.Entry.Error != "boom" || failed.Entry.CompletedAt.IsZero() {
			t.Fatalf("the stored error: %v", err)
		}
		if n := charges(t, db); n != 1 {
			t.Fatalf("%d charges", n)
		}
	})
}

func TestMismatch(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		with := func(v any) idempotency.Options { return idempotency.Options{Payload: v} }
		must(idempotency.Do(ctx, db, keys, key("a"), charge(5), with(map[string]any{"a": 1, "b": []int{2}})))
		_, err := idempotency.Do(ctx, db, keys, key("a"), charge(6), with(map[string]any{"a": 2}))
		var mismatch *idempotency.Error
		if !errors.As(err, &mismatch) || !errors.Is(err, idempotency.ErrMismatch) || mismatch.Entry.Since.IsZero() {
			t.Fatalf("another payload: %v", err)
		}
		for _, same := range []any{[]byte(`{"b":[2.0], "a":1}`), struct {
			B [1]int `json:"b"`
			A int    `json:"a"`
		}{[1]int{2}, 1}} {
			if out, err := idempotency.Do(ctx, db, keys, key("a"), charge(6), with(same)); err != nil || !out.Replayed {
				t.Fatalf("the same payload: %v, %v", out, err)
			}
		}
		if out, err := idempotency.Do(ctx, db, keys, key("a"), charge(6)); err != nil || !out.Replayed {
			t.Fatalf("without a payload: %v, %v", out, err)
		}
		if n := charges(t, db); n != 1 {
			t.Fatalf("%d charges", n)
		}
	})
}

// TestEmptyResults: nil and empty results replay as they were.
func TestEmptyResults(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys := newKeys(t, idempotency.Config{})
		replays(t, db, keys, "pointer", (*receipt)(nil), func(r *receipt) bool { return r == nil })
		replays(t, db, keys, "any", any(nil), func(v any) bool { return v == nil })
		replays(t, db, keys, "nil bytes", []byte(nil), func(b []byte) bool { return b == nil })
		replays(t, db, keys, "no bytes", []byte{}, func(b []byte) bool { return b != nil && len(b) == 0 })
		replays(t, db, keys, "text", "", func(s string) bool { return s == "" })
		replays(t, db, keys, "struct", struct{}{}, func(struct{}) bool { return true })
	})
}

func replays[T any](t *testing.T, db *sql.DB, keys *idempotency.Keys, id string, v T, same func(T) bool) {
	t.Helper()
	for _, replayed := range []bool{false, true} {
		out, err := idempotency.Do(t.Context(), db, keys, key(id), func(context.Context, *onerow.Tx) (T, error) { return v, nil })
		if err != nil || out.Replayed != replayed || !same(out.Row) {
			t.Errorf("%s: %+v, %v, replayed %t", id, out, err, replayed)
		}
	}
}

func TestKeysAreApart(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		long := strings.Repeat("x", idempotency.MaxKey)
		list := []idempotency.Key{
			{"", "o", "k"}, {"", "o", "K"}, {"", "o", "k "}, {"", "o", "k\x00"}, {"", "O", "k"}, {"t", "o", "k"}, {"T", "o", "k"},
			{"", "o", "\xff"}, {"", "o", "ä"}, {"", "o", "Ä"}, {"to", "o", "k"}, {long, long, long}, {long, long, long[1:]},
		}
		for _, k := range list {
			if out, err := idempotency.Do(ctx, db, keys, k, charge(1)); err != nil || out.Replayed {
				t.Fatalf("%s: %+v, %v", k, out, err)
			}
		}
		for _, k := range list {
			if out, err := idempotency.Do(ctx, db, keys, k, charge(1)); err != nil || !out.Replayed {
				t.Fatalf("%s again: %+v, %v", k, out, err)
			}
		}
		for _, k := range []idempotency.Key{{"", "", "k"}, {"", "o", ""}, {long + "x", "o", "k"}, {"", long + "x", "k"}, {"", "o", long + "x"}} {
			if _, err := idempotency.Do(ctx, db, keys, k, charge(1)); !errors.Is(err, idempotency.ErrInvalid) {
				t.Errorf("%s: %v", k, err)
			}
		}
	})
}

func TestExpiry(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{Keep: time.Hour}), t.Context()
		must(idempotency.Do(ctx, db, keys, key("a"), charge(1)))
		if out := must(idempotency.Do(ctx, db, keys, key("a"), charge(2))); !out.Replayed {
			t.Fatal("not replayed within the hour")
		}
		dbtest.Exec(t, db, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6)")
		out, err := idempotency.Do(ctx, db, keys, key("a"), charge(3), idempotency.Options{Payload: "another", Keep: 2 * time.Hour})
		if err != nil || out.Replayed || out.Row.Amount != 3 {
			t.Fatalf("after an hour: %+v, %v", out, err)
		}
		if e := must(keyadmin.Find(ctx, db, key("a"))); e.ExpiresAt.Sub(e.CompletedAt) != 2*time.Hour || e.Status != idempotency.Completed {
			t.Fatalf("kept for two hours: %+v", e)
		}
		if out := must(idempotency.Do(ctx, db, keys, key("a"), charge(4))); !out.Replayed || out.Row.Amount != 3 {
			t.Fatalf("the new result: %+v", out)
		}
	})
}

// TestJoined: Do in the caller's transaction commits with it, and leaves nothing of
// itself behind after an error.
func TestJoined(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{Keep: time.Hour}), t.Context()
		must(idempotency.Do(ctx, db, keys, key("expired"), charge(1)))
		dbtest.Exec(t, db, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6)")
		must(idempotency.Do(ctx, db, keys, key("there"), charge(1)))
		tx := must(db.BeginTx(ctx, nil))
		dbtest.Exec(t, tx, "INSERT INTO charge (amount) VALUES (100)")
		inner := func(ctx context.Context, tx *onerow.Tx) (int, error) { // a call within a call
			out, err := idempotency.Do(ctx, tx, keys, key("inner"), charge(1))
			return out.Row.Amount, errors.Join(err, idempotency.Permanent(errors.New("outer")))
		}
		if _, err := idempotency.Do(ctx, tx, keys, key("outer"), inner); !errors.Is(err, idempotency.ErrFailed) {
			t.Fatalf("outer: %v", err)
		}
		for _, id := range []string{"fails", "expired", "there"} {
			_, err := idempotency.Do(ctx, tx, keys, key(id), func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				r, err := charge(7)(ctx, tx)
				return r, errors.Join(err, errors.New("no"))
			})
			if (err == nil) != (id == "there") {
				t.Fatalf("%s: %v", id, err)
			}
		}
		must(idempotency.Do(ctx, tx, keys, key("works"), charge(8)))
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(amount ORDER BY id) FROM charge"); got != "1,1,100,8" {
			t.Errorf("charges %s", got)
		}
		got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(idem_key, ':', status, IF(expires_at <= UTC_TIMESTAMP(6), '!', '') ORDER BY idem_key) FROM onerow_key")
		if want := "expired:complete!,outer:error,there:complete,works:complete"; got != want {
			t.Errorf("keys %s, want %s", got, want)
		}
	})
}

// within makes a call that is to wait until its deadline: a longer one, which it returns, where a busy
// machine needed all of it to connect and begin.
func within(t *testing.T, d time.Duration, call func(ctx context.Context) error) (time.Duration, error) {
	for ; ; d *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		err := call(ctx)
		cancel()
		if d > time.Minute || errors.Is(err, idempotency.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
			return d, err
		}
	}
}

// TestBusy: a second caller waits as long as its context, then says so.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]dbtest.Option{
		{dbtest.Isolation(sql.LevelReadCommitted)},
		{dbtest.Isolation(sql.LevelRepeatableRead)},
		{dbtest.Param("innodb_lock_wait_timeout", "1"), dbtest.Param("interpolateParams", "false")}, // 1205 within the deadline
	} {
		db, _ := open(t, opts...)
		keys := newKeys(t, idempotency.Config{})
		entered, leave, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := idempotency.Do(t.Context(), db, keys, key("a"), func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
				close(entered)
				<-leave
				return charge(1)(ctx, tx)
			})
			first <- err
		}()
		<-entered
		for _, d := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond} {
			start := time.Now()
			d, err := within(t, d, func(ctx context.Context) error { return second(idempotency.Do(ctx, db, keys, key("a"), charge(1))) })
			var busy *idempotency.Error
			if !errors.As(err, &busy) || !errors.Is(err, idempotency.ErrBusy) || time.Since(start) < d/2 { // the deadline runs from before the call
				t.Errorf("Do: %v", err)
			}
		}
		if _, err := within(t, 500*time.Millisecond, func(ctx context.Context) error {
			_, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a"))
			return err
		}); !errors.Is(err, idempotency.ErrBusy) {
			t.Errorf("Begin: %v", err)
		}
		type answer struct {
			out onerow.Result[receipt]
			err error
		}
		gone := dbtest.Waiting(t, db)
		done := make(chan answer, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			out, err := idempotency.Do(ctx, db, keys, key("a"), charge(2))
			done <- answer{out, err}
		}()
		dbtest.AwaitLock(t, db, gone...)
		close(leave)
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.err != nil || !got.out.Replayed || got.out.Row.Amount != 1 {
			t.Errorf("after waiting: %+v", got)
		}
	}
}

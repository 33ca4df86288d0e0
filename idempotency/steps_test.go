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

func TestTwoSteps(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		claim := begun(t, db, keys, key("a"), idempotency.Options{Expected: time.Hour})

		_, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a"))
		var running *idempotency.Error
		if !errors.As(err, &running) || !errors.Is(err, idempotency.ErrInProgress) {
			t.Fatalf("in progress: %v", err)
		}
		if running.Entry.Holder != "tester" || running.Entry.Token != claim.Token || running.Entry.Overdue || running.RetryAfter < 59*time.Minute || running.Entry.Age > time.Minute {
			t.Errorf("in progress: %+v", running)
		}
		if age := dbtest.Scan[int](t, db, "SELECT TIMESTAMPDIFF(SECOND, ?, UTC_TIMESTAMP())", running.Entry.Since.Format("2006-01-02 15:04:05")); age < 0 || age > 60 {
			t.Errorf("since %s, %d s ago", running.Entry.Since, age)
		}
		if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1)); !errors.Is(err, idempotency.ErrInProgress) {
			t.Errorf("Do of a key in progress: %v", err)
		}
		if err := keys.Release(ctx, db, claim); err != nil {
			t.Fatal(err)
		}
		second := begun(t, db, keys, key("a"))
		if second.Token <= claim.Token {
			t.Errorf("the token went from %d to %d", claim.Token, second.Token)
		}
		var lost *idempotency.Error
		for name, err := range map[string]error{
			"complete": keys.Complete(ctx, db, claim, receipt{}), "fail": keys.Fail(ctx, db, claim, errors.New("x")),
			"release": keys.Release(ctx, db, claim), "extend": keys.Extend(ctx, db, claim),
			"owned": keys.Owned(ctx, db, claim, func(context.Context, *onerow.Tx) error { t.Error("called"); return nil }),
		} {
			if !errors.As(err, &lost) || !errors.Is(err, idempotency.ErrLost) || lost.Entry.Token != second.Token {
				t.Errorf("%s with the old claim: %v", name, err)
			}
		}
		if err := keys.Extend(ctx, db, second, idempotency.Options{Expected: time.Minute}); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := keys.Complete(ctx, db, second, receipt{ID: 9}); err != nil {
				t.Fatal(err)
			}
		}
		if err := keys.Complete(ctx, db, second, receipt{ID: 10}); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("completed twice: %v", err)
		}
		again, out, err := idempotency.Begin[receipt](ctx, db, keys, key("a"))
		if err != nil || out == nil || out.Row.ID != 9 || !out.Replayed || again.Token != 0 {
			t.Fatalf("replay: %+v, %v", out, err)
		}
		failing := begun(t, db, keys, key("b"), idempotency.Options{Payload: 1})
		if err := keys.Fail(ctx, db, failing, errors.New("card refused"), idempotency.Options{Attention: true}); err != nil {
			t.Fatal(err)
		}
		_, _, err = idempotency.Begin[receipt](ctx, db, keys, key("b"))
		var failed *idempotency.Error
		if !errors.As(err, &failed) || failed.Entry.Error != "card refused" || !failed.Entry.Attention || !failed.Replayed {
			t.Errorf("failed: %v", err)
		}
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("b"), idempotency.Options{Payload: 2}); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("another payload: %v", err)
		}
	})
}

// TestLeaseEnded: the first holder still runs when its lease has ended and another
// has taken over: its late completion is refused, its late business write too.
func TestLeaseEnded(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		write := func(amount int) func(context.Context, *onerow.Tx) error {
			return func(ctx context.Context, tx *onerow.Tx) error {
				_, err := charge(amount)(ctx, tx)
				return err
			}
		}
		plain := begun(t, db, keys, key("plain"), idempotency.Options{Expected: time.Microsecond})
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("plain")); !errors.Is(err, idempotency.ErrInProgress) {
			t.Fatalf("overdue, without a lease: %v", err)
		}
		zombie := begun(t, db, keys, key("a"), idempotency.Options{Lease: time.Millisecond, Payload: 1})
		leaseEnded(t, db, key("a"))
		if err := keys.Owned(ctx, db, zombie, write(1)); err != nil {
			t.Fatalf("the lease has ended and nobody has taken over: %v", err)
		}
		if err := keys.Extend(ctx, db, zombie, idempotency.Options{Lease: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a")); !errors.Is(err, idempotency.ErrInProgress) {
			t.Fatalf("extended: %v", err)
		}
		if err := keys.Extend(ctx, db, zombie, idempotency.Options{Lease: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		leaseEnded(t, db, key("a"))
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("a"), idempotency.Options{Payload: 2}); !errors.Is(err, idempotency.ErrMismatch) {
			t.Fatalf("taken over with another payload: %v", err)
		}
		heir := begun(t, db, keys, key("a"), idempotency.Options{Payload: 1})
		if !heir.TakenOver || heir.Token <= zombie.Token {
			t.Fatalf("taken over: %+v after %+v", heir, zombie)
		}
		if err := keys.Complete(ctx, db, zombie, receipt{ID: 1}); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("late completion: %v", err)
		}
		if err := keys.Owned(ctx, db, zombie, write(2)); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("late write: %v", err)
		}
		err := keys.Owned(ctx, db, heir, func(ctx context.Context, tx *onerow.Tx) error {
			return errors.Join(write(3)(ctx, tx), keys.Complete(ctx, tx, heir, receipt{ID: 3}))
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(amount ORDER BY id) FROM charge"); got != "1,3" {
			t.Errorf("charges %s", got)
		}
		if _, out, err := idempotency.Begin[receipt](ctx, db, keys, key("a")); err != nil || out.Row.ID != 3 {
			t.Errorf("replay: %+v, %v", out, err)
		}
		if err := keys.Complete(ctx, db, plain, receipt{}); err != nil {
			t.Error(err)
		}
	})
}

// TestWork: what a function answers becomes the state of its key.
func TestWork(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{MaxResult: 200}), t.Context()
	boom := errors.New("boom")
	for _, c := range []struct {
		id        string
		err       error // of the function
		want      error
		status    idempotency.Status
		attention bool
		size      int
	}{
		{"done", nil, nil, idempotency.Completed, false, 0},
		{"not done", idempotency.NotDone(boom), boom, idempotency.Released, false, 0},
		{"permanent", idempotency.Permanent(boom), idempotency.ErrFailed, idempotency.Failed, false, 0},
		{"unclear", boom, idempotency.ErrFailed, idempotency.Failed, true, 0},
		{"too large", nil, idempotency.ErrTooLarge, idempotency.Failed, true, 1000},
	} {
		claim := begun(t, db, keys, key(c.id))
		work, cancel := context.WithCancel(ctx)
		out, err := idempotency.Work(work, db, keys, claim, func(context.Context) (receipt, error) {
			cancel() // the outcome is written all the same
			return receipt{ID: 4, Note: strings.Repeat("x", c.size)}, c.err
		})
		if !errors.Is(err, c.want) || (c.err == nil) != (out.Row.ID == 4) {
			t.Errorf("%s: %+v, %v", c.id, out, err)
		}
		if e := must(keyadmin.Find(ctx, db, key(c.id))); e.Status != c.status || e.Attention != c.attention {
			t.Errorf("%s: %+v", c.id, e)
		}
	}
	claim := begun(t, db, keys, key("panics"))
	func() {
		defer func() {
			if p := recover(); p != "oh" {
				t.Errorf("recovered %v", p)
			}
		}()
		_, _ = idempotency.Work(ctx, db, keys, claim, func(context.Context) (receipt, error) { panic("oh") })
	}()
	if e := must(keyadmin.Find(ctx, db, key("panics"))); e.Status != idempotency.Failed || !e.Attention {
		t.Errorf("after a panic: %+v", e)
	}
}

// TestCompletionLost: the database is away when the work is done. The caller has its result, and an error
// that says so.
func TestCompletionLost(t *testing.T) {
	db, dsn := open(t)
	log := &memory{}
	keys, ctx := newKeys(t, idempotency.Config{Log: log.logger()}), t.Context()
	claim := begun(t, db, keys, key("a"))
	away := must(sql.Open("mysql", dsn))
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := idempotency.Work(ctx, away, keys, claim, func(context.Context) (receipt, error) { return receipt{ID: 4}, nil })
	var lost *idempotency.Error
	if !errors.As(err, &lost) || !errors.Is(err, idempotency.ErrCompletionLost) || !errors.Is(lost.Kind, idempotency.ErrCompletionLost) || out.Row.ID != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := log.String(); !strings.Contains(got, "idempotency: outcome") || !strings.Contains(got, "completion lost") ||
		strings.Index(got, "outcome") > strings.Index(got, "completion lost") {
		t.Errorf("the log: %s", got)
	}
	if e := must(keyadmin.Find(ctx, db, key("a"))); e.Status != idempotency.InProgress {
		t.Errorf("the key: %+v", e)
	}
}

// TestTokenSurvivesPurge: a key that is made again after its row was purged gets a larger token.
func TestTokenSurvivesPurge(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	old := begun(t, db, keys, key("a"))
	for range 5 {
		if err := keys.Release(ctx, db, old); err != nil {
			t.Fatal(err)
		}
		old = begun(t, db, keys, key("a"))
	}
	if err := keys.Release(ctx, db, old); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6)")
	if n, err := keyadmin.Purge(ctx, db, keys, 10); n != 1 || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	if err := keys.Complete(ctx, db, old, receipt{}); !errors.Is(err, idempotency.ErrLost) {
		t.Errorf("a purged key: %v", err)
	}
	if claim := begun(t, db, keys, key("a")); claim.Token <= old.Token {
		t.Errorf("the token went from %d to %d", old.Token, claim.Token)
	}
}

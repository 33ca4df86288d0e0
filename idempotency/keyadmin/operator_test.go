package keyadmin_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// gauges is Metrics that keeps the gauges.
type gauges map[string]int64

func (gauges) Add(string, string, int)     {}
func (g gauges) Set(gauge string, n int64) { g[gauge] = n }

func TestOperator(t *testing.T) {
	for _, level := range levels {
		db, _ := open(t, dbtest.Isolation(level))
		counts := gauges{}
		keys, ctx := newKeys(t, idempotency.Config{Metrics: counts}), t.Context()
		ann := must(keyadmin.NewOperator(keys, "ann", "ticket 12"))
		claims := map[string]idempotency.Claim{}
		for _, id := range []string{"done", "failed", "late", "late too", "runs"} {
			d := time.Hour
			if id[0] == 'l' {
				d = time.Microsecond
			}
			claims[id] = begun(t, db, keys, key(id), idempotency.Options{Expected: d})
		}
		if err := errors.Join(keys.Complete(ctx, db, claims["done"], 1),
			keys.Fail(ctx, db, claims["failed"], errors.New("x"), idempotency.Options{Attention: true})); err != nil {
			t.Fatal(err)
		}
		for what, want := range map[keyadmin.ListOptions]string{{Status: idempotency.InProgress, Waiting: true}: "late late too", {Status: idempotency.InProgress}: "late late too runs",
			{Status: idempotency.Failed, Waiting: true}: "failed", {Status: idempotency.Failed}: "failed"} {
			got, after := "", idempotency.Entry{}
			for {
				page := must(keyadmin.List(ctx, db, keyadmin.ListOptions{Status: what.Status, Waiting: what.Waiting, Limit: 1, After: after}))
				if len(page) == 0 {
					break
				}
				got, after = got+" "+page[0].Key.ID, page[0]
			}
			if got != " "+want {
				t.Errorf("list %+v:%s, want %s", what, got, want)
			}
		}
		if m := must(keyadmin.Measure(ctx, db, keys)); m != (keyadmin.Measures{InProgress: 3, Overdue: 2, Errored: 1}) || counts["overdue"] != 2 {
			t.Errorf("measured %+v, gauges %v", m, counts)
		}

		seen := func(id string) idempotency.Entry { return must(keyadmin.Find(ctx, db, key(id))) }
		old := seen("late")
		if err := keys.Extend(ctx, db, claims["late"]); err != nil { // it is alive, and as it was seen
			t.Fatal(err)
		}
		for range 2 { // the second one changes nothing
			if err := ann.Release(ctx, db, old); err != nil {
				t.Fatal(err)
			}
		}
		if err := keys.Complete(ctx, db, claims["late"], 0); !errors.Is(err, idempotency.ErrLost) {
			t.Errorf("the holder of a released key: %v", err)
		}
		next := begun(t, db, keys, key("late"))
		var changed *keyadmin.ChangedError
		bob := must(keyadmin.NewOperator(keys, "bob", "me too"))
		for name, err := range map[string]error{
			"release what was seen": bob.Release(ctx, db, old), "complete what was seen": ann.Complete(ctx, db, old, 0), "expire what was seen": ann.Expire(ctx, db, old),
			"expire what runs": ann.Expire(ctx, db, seen("runs")), "release what is done": ann.Release(ctx, db, seen("done")),
			"no such key": ann.Release(ctx, db, idempotency.Entry{Key: key("none"), Token: 1, Status: idempotency.InProgress}),
		} {
			if !errors.As(err, &changed) || !errors.Is(err, keyadmin.ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(ann.Complete(ctx, db, seen("late too"), 77), ann.Complete(ctx, db, seen("failed"), 78),
			ann.Expire(ctx, db, seen("done")), keys.Complete(ctx, db, next, 79)); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]int{"late too": 77, "failed": 78, "late": 79} {
			if _, out, err := idempotency.Begin[int](ctx, db, keys, key(id)); err != nil || out == nil || out.Row != want {
				t.Errorf("%s: %+v, %v", id, out, err)
			}
		}
		begun(t, db, keys, key("done")) // expired
		audit := ""
		for _, id := range []string{"done", "failed", "late", "late too", "runs"} {
			for _, a := range must(keyadmin.Audit(ctx, db, key(id))) {
				audit += fmt.Sprintf("%s:%s:%s:%s ", id, a.Action, a.Seen, a.Actor)
				if a.Token != claims[id].Token || a.Reason != "ticket 12" || a.At.IsZero() {
					t.Errorf("%+v", a)
				}
			}
		}
		if want := "done:expire:complete:ann failed:complete:error:ann late:release:in_progress:ann late too:complete:in_progress:ann "; audit != want {
			t.Errorf("audit %q", audit)
		}
		if _, err := keyadmin.NewOperator(keys, "", "x"); !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("nobody: %v", err)
		}
	}
}

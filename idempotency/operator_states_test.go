package idempotency_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// keyStates are all the states that an operator can see, and how a key gets there. It was claimed with a
// payload.
var keyStates = []struct {
	name string
	o    idempotency.Options
	make func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error
}{
	{"in_progress", idempotency.Options{}, nil},
	{"overdue", idempotency.Options{Expected: time.Microsecond}, nil},
	{"lease ended", idempotency.Options{Lease: time.Microsecond}, func(t *testing.T, db *sql.DB, _ *idempotency.Keys, c idempotency.Claim) error {
		leaseEnded(t, db, c.Key)
		return nil
	}},
	{"complete", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return k.Complete(t.Context(), db, c, receipt{ID: 1})
	}},
	{"error", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return k.Fail(t.Context(), db, c, errOutage)
	}},
	{"attention", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return k.Fail(t.Context(), db, c, errOutage, idempotency.Options{Attention: true})
	}},
	{"released", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return k.Release(t.Context(), db, c)
	}},
	{"complete, expired", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return errors.Join(k.Complete(t.Context(), db, c, receipt{ID: 1}), expireNow(t, db, c))
	}},
	{"error, expired", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return errors.Join(k.Fail(t.Context(), db, c, errOutage), expireNow(t, db, c))
	}},
	// As an operator's Expire of an earlier version left it.
	{"attention, expired", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return errors.Join(k.Fail(t.Context(), db, c, errOutage, idempotency.Options{Attention: true}), expireNow(t, db, c))
	}},
	{"released, expired", idempotency.Options{}, func(t *testing.T, db *sql.DB, k *idempotency.Keys, c idempotency.Claim) error {
		return errors.Join(k.Release(t.Context(), db, c), expireNow(t, db, c))
	}},
}

func expireNow(t *testing.T, db *sql.DB, c idempotency.Claim) error {
	_, err := db.ExecContext(t.Context(), "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) WHERE idem_key = ?", []byte(c.Key.ID))
	return err
}

// shownAs is an entry, the lists it is in and what the next Begin with its payload and with another one
// answers.
func shownAs(t *testing.T, db *sql.DB, keys *idempotency.Keys, k idempotency.Key) string {
	t.Helper()
	e := must(keyadmin.Find(t.Context(), db, k))
	s := string(e.Status)
	for _, f := range []struct {
		on   bool
		name string
	}{{e.Attention, "attention"}, {e.Overdue, "overdue"}, {e.Expired, "expired"}, {e.Error != "", "text"}} {
		if f.on {
			s += " " + f.name
		}
	}
	m := must(keyadmin.Measure(t.Context(), db, keys))
	for what, n := range map[keyadmin.ListOptions]int64{{Status: idempotency.InProgress}: m.InProgress, {Status: idempotency.InProgress, Waiting: true}: m.Overdue, {Status: idempotency.Failed, Waiting: true}: m.Errored} {
		if list := must(keyadmin.List(t.Context(), db, what)); int64(len(list)) != n {
			t.Errorf("%s: %d in the list %+v, the gauge is %d", k, len(list), what, n)
		}
	}
	if m.Overdue+m.Errored > 0 {
		s += " ALARM"
	}
	return s
}

// TestOperatorInEveryState: what each action makes of each state, what still alarms, and what the key is then
// good for: its own payload, then another one.
func TestOperatorInEveryState(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	ann := must(keyadmin.NewOperator(keys, "ann", "ticket 12"))
	const refused = "-"
	want := map[string][3]string{ // release, complete, expire
		"in_progress":        {"released; mismatch, claimed", "complete; mismatch, replayed", refused},
		"overdue":            {"released; mismatch, claimed", "complete; mismatch, replayed", refused},
		"lease ended":        {"released; mismatch, claimed", "complete; mismatch, replayed", refused},
		"complete":           {refused, refused, "complete expired; claimed"},
		"error":              {"released text; mismatch, claimed", "complete; mismatch, replayed", "error expired text; claimed"},
		"attention":          {"released text; mismatch, claimed", "complete; mismatch, replayed", "error expired text; claimed"},
		"released":           {refused, refused, "released expired; claimed"},
		"complete, expired":  {refused, refused, refused},
		"error, expired":     {refused, refused, refused},
		"attention, expired": {refused, refused, refused},
		"released, expired":  {refused, refused, refused},
	}
	begin := func(k idempotency.Key, payload int) string {
		claim, out, err := idempotency.Begin[receipt](ctx, db, keys, k, idempotency.Options{Payload: payload})
		switch {
		case errors.Is(err, idempotency.ErrMismatch):
			return "mismatch"
		case err != nil:
			return err.Error()
		case out != nil:
			return "replayed"
		}
		if err := keys.Complete(ctx, db, claim, receipt{}); err != nil {
			t.Error(err)
		}
		return "claimed"
	}
	for _, state := range keyStates {
		for n, action := range []string{"release", "complete", "expire"} {
			t.Run(action+" "+state.name, func(t *testing.T) {
				dbtest.Exec(t, db, "DELETE FROM onerow_key")
				k := key("a")
				claim := begun(t, db, keys, k, idempotency.Options{Payload: 1, Expected: state.o.Expected, Lease: state.o.Lease})
				if state.make != nil {
					if err := state.make(t, db, keys, claim); err != nil {
						t.Fatal(err)
					}
				}
				before, seen := must(keyadmin.Find(ctx, db, k)), must(keyadmin.Find(ctx, db, k))
				act := func(o *keyadmin.Operator) error {
					switch action {
					case "release":
						return o.Release(ctx, db, seen)
					case "complete":
						return o.Complete(ctx, db, seen, receipt{ID: 7})
					}
					return o.Expire(ctx, db, seen)
				}
				err := act(ann)
				if want[state.name][n] == refused {
					after := must(keyadmin.Find(ctx, db, k))
					before.Age, after.Age = 0, 0
					if !errors.Is(err, keyadmin.ErrChanged) || before != after {
						t.Fatalf("%v, before %+v, after %+v", err, before, after)
					}
					if got := shownAs(t, db, keys, k); before.Expired && strings.Contains(got, "ALARM") {
						t.Errorf("%s: it is as if it were absent", got)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got := shownAs(t, db, keys, k)
				if err := act(ann); err != nil {
					t.Errorf("again: %v", err)
				}
				if again := shownAs(t, db, keys, k); again != got {
					t.Errorf("%s, and when done again %s", got, again)
				}
				got += "; " + begin(k, 2)
				if got[len(got)-len("mismatch"):] == "mismatch" {
					got += ", " + begin(k, 1)
				}
				if got != want[state.name][n] {
					t.Errorf("%s, want %s", got, want[state.name][n])
				}
				if err := keys.Complete(ctx, db, claim, receipt{ID: 1}); !errors.Is(err, idempotency.ErrLost) && state.name[0] != 'c' {
					t.Errorf("the earlier holder: %v", err)
				}
				if audit := must(keyadmin.Audit(ctx, db, k)); fmt.Sprint(audit[len(audit)-1].Action) != action {
					t.Errorf("audit %+v", audit)
				}
				dbtest.Exec(t, db, "DELETE FROM onerow_key_audit")
			})
		}
	}
}

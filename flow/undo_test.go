package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestFailedVerbLeavesNothing: a verb that fails for good after its first write has written nothing, also
// when the caller commits the transaction that it joined.
func TestFailedVerbLeavesNothing(t *testing.T) {
	a, b := run("", "a"), run("", "b")
	for name, c := range map[string]struct {
		refuses string // what the trigger is on
		owned   bool
		call    func(ctx context.Context, db onerow.DB) error
	}{
		"claim":             {"INSERT ON onerow_flow_request", false, func(ctx context.Context, db onerow.DB) error { return second(flow.Claim(ctx, db, a)) }},
		"finish":            {"UPDATE ON onerow_flow_request", true, func(ctx context.Context, db onerow.DB) error { return second(flow.Finish(ctx, db, a)) }},
		"supersede":         {"UPDATE ON onerow_flow_request", true, func(ctx context.Context, db onerow.DB) error { return second(flow.Supersede(ctx, db, b)) }},
		"supersede, nobody": {"INSERT ON onerow_flow_request", false, func(ctx context.Context, db onerow.DB) error { return second(flow.Supersede(ctx, db, b)) }},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := open(t)
			ctx := t.Context()
			if c.owned {
				must(flow.Claim(ctx, db, a))
			}
			state := func() string {
				return fmt.Sprint(must(flow.Owners(ctx, db, a.Flow)), dbtest.Scan[string](t, db, "SELECT COALESCE(GROUP_CONCAT(request_id, status), '') FROM onerow_flow_request"))
			}
			before := state()
			must(db.ExecContext(ctx, "CREATE TRIGGER refuses BEFORE "+c.refuses+" FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'"))
			tx := must(db.BeginTx(ctx, nil))
			var my *mysql.MySQLError
			if err := c.call(ctx, tx); !errors.As(err, &my) || my.Number != 1644 {
				t.Error(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if after := state(); after != before {
				t.Errorf("it left %s, before %s", after, before)
			}
		})
	}
}

func TestMessageID(t *testing.T) {
	if a, b := flow.MessageID("ab", "c"), flow.MessageID("a", "bc"); a == b || len(a) != 64 || a != flow.MessageID("ab", "c") {
		t.Error(a, b)
	}
}

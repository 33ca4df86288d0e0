package onerow_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/floortest"
)

// TestUnknownStaysUnknown: when the COMMIT of one attempt is not answered and the next
// attempts settle nothing (they do not get through, are not let in, meet a server that does not write, or one
// that takes nothing), the error must not read as if nothing had happened, for it has.
func TestUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		connect func(session int) error
		opened  func(ctx context.Context, session int, conn driver.ExecerContext) error
		number  uint16
		or      uint16 // the other engine's
	}{
		"away":       {connect: func(session int) error { return onSecond(session, refused) }},
		"not let in": {connect: func(session int) error { return onSecond(session, serverError(1045)) }, number: 1045},
		"full":       {connect: func(session int) error { return onSecond(session, serverError(1040)) }, number: 1040},
		"read only":  {opened: readOnlyFrom(2), number: 1792},            // the server's own answer
		"no rights":  {opened: elsewhereFrom(2), number: 1044, or: 1109}, // and so is this
	} {
		t.Run(name, func(t *testing.T) {
			plain, dsn := floortest.Accounts(t)
			db := hookedPool(t, dsn, &hooked{before: lostCommit(), connect: c.connect, opened: c.opened})
			err := onerow.InIdempotentTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := tx.ExecContext(ctx, floortest.Add, 1)
				return err
			})
			if !errors.Is(err, onerow.ErrOutcomeUnknown) || !errors.Is(err, mysql.ErrInvalidConn) {
				t.Errorf("the answer was %v", err)
			}
			var my *mysql.MySQLError
			if c.number != 0 && (!errors.As(err, &my) || my.Number != c.number && my.Number != c.or) || c.number == 0 && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the second error is not to be seen: %v", err)
			}
			if onerow.Retryable(err) {
				t.Error("it says that it may be run again")
			}
			floortest.WantBalances(t, plain, "1,0")
		})
	}
}

func onSecond(session int, err error) error {
	if session > 1 {
		return err
	}
	return nil
}

// readOnlyFrom makes sessions read only, as those of a replica are.
func readOnlyFrom(first int) func(context.Context, int, driver.ExecerContext) error {
	return func(ctx context.Context, session int, conn driver.ExecerContext) error {
		if session < first {
			return nil
		}
		_, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION READ ONLY", nil)
		return err
	}
}

// elsewhereFrom makes sessions that look for the table where nobody may write.
func elsewhereFrom(first int) func(context.Context, int, driver.ExecerContext) error {
	return func(ctx context.Context, session int, conn driver.ExecerContext) error {
		if session < first {
			return nil
		}
		_, err := conn.ExecContext(ctx, "USE information_schema", nil)
		return err
	}
}

// TestUnknownIsSettled: an attempt that gets to an answer of the function's own settles what an earlier one
// left unknown.
func TestUnknownIsSettled(t *testing.T) {
	for name, answer := range map[string]error{"a business error": errBusiness, "a duplicate": serverError(1062)} {
		_, dsn := floortest.Accounts(t)
		db := hookedPool(t, dsn, &hooked{before: lostCommit()})
		runs := 0
		err := onerow.InIdempotentTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			if runs++; runs > 1 {
				return answer
			}
			_, err := tx.ExecContext(ctx, floortest.Add, 1)
			return err
		})
		if !errors.Is(err, answer) || errors.Is(err, onerow.ErrOutcomeUnknown) || runs != 2 {
			t.Errorf("%s: %v after %d runs", name, err, runs)
		}
	}
}

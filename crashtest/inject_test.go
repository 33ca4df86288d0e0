package crashtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// errAny stands for an error that is the driver's choice.
var errAny = errors.New("any error")

func sameError(got, want error) bool {
	var server *mysql.MySQLError
	switch {
	case want == nil:
		return got == nil
	case errors.Is(want, errAny):
		return got != nil
	case errors.As(want, &server):
		return number(got) == server.Number
	default:
		return errors.Is(got, want)
	}
}

// outcome is what a caller saw and what the server then held of the two rows inserted.
type outcome struct {
	answer error
	// seen is what the same transaction saw after the fault, -1: it could not look
	seen int
	left int
}

// TestFaultsLeaveTheServersState makes each fault happen to a transaction's second INSERT, to its COMMIT, and
// to an INSERT in autocommit, and looks at the server afterwards: rows, and whether a lock is left.
func TestFaultsLeaveTheServersState(t *testing.T) {
	server := func(code uint16) error { return &mysql.MySQLError{Number: code} }
	const blind = -1
	parts := []struct {
		name  string
		index int
		work  func(ctx context.Context, db *sql.DB, saw *outcome)
		want  map[Fault]outcome
	}{
		{"second insert", 4, func(ctx context.Context, db *sql.DB, saw *outcome) { twoInserts(ctx, t, db, saw, false) }, map[Fault]outcome{
			CutBefore:      {driver.ErrBadConn, blind, 0},
			CutLost:        {mysql.ErrInvalidConn, blind, 0},
			CutAfter:       {mysql.ErrInvalidConn, blind, 0},
			KillBefore:     {errAny, blind, 0},
			KillAfter:      {nil, blind, 0},
			CancelBefore:   {context.Canceled, blind, 0},
			CancelAfter:    {context.Canceled, blind, 0},
			DeadlockBefore: {server(1213), 0, 0},
			DeadlockAfter:  {server(1213), 0, 0},
			LockWait:       {server(1205), 1, 1},
		}},
		{"COMMIT", 6, func(ctx context.Context, db *sql.DB, saw *outcome) { twoInserts(ctx, t, db, saw, true) }, map[Fault]outcome{
			CutBefore:            {driver.ErrBadConn, 2, 0},
			CutLost:              {mysql.ErrInvalidConn, 2, 0},
			CutAfter:             {mysql.ErrInvalidConn, 2, 2},
			KillBefore:           {errAny, 2, 0},
			KillAfter:            {nil, 2, 2},
			CancelBefore:         {errAny, blind, 0}, // context.Canceled, or sql.ErrTxDone: database/sql says either
			CancelAfter:          {nil, 2, 2},
			DeadlockBefore:       {server(1213), 2, 0},
			RefusedCertification: {server(3101), 2, 0},
			RefusedCommit:        {server(1180), 2, 0},
		}},
		{"autocommit", 1, func(ctx context.Context, db *sql.DB, saw *outcome) {
			_, saw.answer = db.ExecContext(ctx, insertPurchase, "ann", "shoe")
		}, map[Fault]outcome{
			CutBefore:      {nil, 0, 1}, // database/sql sends it again
			CutLost:        {mysql.ErrInvalidConn, 0, 0},
			CutAfter:       {mysql.ErrInvalidConn, 0, 1},
			KillBefore:     {errAny, 0, 0},
			KillAfter:      {nil, 0, 1},
			CancelBefore:   {context.Canceled, 0, 0},
			CancelAfter:    {context.Canceled, 0, 1},
			DeadlockBefore: {server(1213), 0, 0},
			LockWait:       {server(1205), 0, 0},
		}},
	}
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			var saw outcome
			w := shop(shopDSN(t), func(ctx context.Context, db *sql.DB) error {
				saw = outcome{}
				part.work(ctx, db, &saw)
				return nil
			})
			x := explorerOf(t, w)
			if _, err := x.setup(t.Context()); err != nil {
				t.Fatal(err)
			}
			if answer, broken := x.call(t.Context(), nil); broken != nil || answer != nil || saw.answer != nil {
				t.Fatal(broken, answer, saw.answer)
			}
			learnt := x.connector.statements()
			offered := 0
			for _, p := range pointsOf(learnt, Abandoned) { // that one has a test of its own
				if p.Index != part.index {
					continue
				}
				offered++
				want, ok := part.want[p.Fault]
				if !ok {
					t.Fatalf("%s is not expected at %s", p.Fault, p.Statement)
				}
				got := faulted(t, x, p, &saw)
				if !sameError(got.answer, want.answer) || got.seen != want.seen || got.left != want.left {
					t.Errorf("%s\n got %+v\nwant %+v", p, got, want)
				}
			}
			if offered != len(part.want) {
				t.Errorf("%d faults were offered, %d expected", offered, len(part.want))
			}
		})
	}
}

// twoInserts locks bob's row, inserts two rows, looks, commits. saw gets the answer of the second INSERT or
// of COMMIT.
func twoInserts(ctx context.Context, t *testing.T, db *sql.DB, saw *outcome, commit bool) {
	t.Helper()
	saw.seen = -1
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE purchase SET item = 'cap' WHERE buyer = 'bob'"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, insertPurchase, "ann", "shoe"); err != nil {
		t.Fatal(err)
	}
	_, answer := tx.ExecContext(ctx, insertPurchase, "ann", "sock")
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM purchase WHERE buyer = 'ann'").Scan(&saw.seen); err != nil {
		saw.seen = -1
	}
	if commit {
		if saw.answer = tx.Commit(); saw.answer != nil && saw.seen == 2 && (errors.Is(saw.answer, context.Canceled) || errors.Is(saw.answer, sql.ErrTxDone)) {
			saw.seen = -1 // cancelled after the look; database/sql says either
		}
		return
	}
	saw.answer = answer
	if err := tx.Commit(); err != nil {
		t.Log("COMMIT after the fault:", err)
	}
}

func faulted(t *testing.T, x *explorer, p point, saw *outcome) outcome {
	t.Helper()
	if _, err := x.setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := &injector{point: p, server: x.server}
	if answer, broken := x.call(t.Context(), in); broken != nil || answer != nil || in.err != nil || !in.fired {
		t.Fatalf("%s: broken %v, answer %v, not made %v, fired %v", p, broken, answer, in.err, in.fired)
	}
	// No lock is left: this fails at once where one is.
	var item string
	if err := x.plain.QueryRowContext(t.Context(), "SELECT item FROM purchase WHERE buyer = 'bob' FOR UPDATE NOWAIT").Scan(&item); err != nil {
		t.Errorf("%s: a lock is left: %v", p, err)
	}
	if err := x.plain.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM purchase WHERE buyer = 'ann'").Scan(&saw.left); err != nil {
		t.Fatal(err)
	}
	return *saw
}

func explorerOf(t *testing.T, w Workflow) *explorer {
	t.Helper()
	x, err := newExplorer(t.Context(), w, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// A statement with a context of its own is not cancelled with the call, and a query that is cut gives up its
// rows.
func TestFaultsAtQueries(t *testing.T) {
	t.Parallel()
	w := shop(shopDSN(t), func(ctx context.Context, db *sql.DB) error {
		return inTx(context.WithoutCancel(ctx), db, func(tx *sql.Tx) error {
			for range 2 {
				rows, err := tx.Query("SELECT id, buyer FROM purchase WHERE buyer = ? FOR UPDATE", "bob")
				if err != nil {
					return err
				}
				for rows.Next() {
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if report := Run(t, w); report.FaultPoints != 8+2*11+11 {
		t.Errorf("%d fault points", report.FaultPoints)
	}
}

// A session with much to roll back is really gone, its locks too, when cut and kill return: with a small
// transaction the server may win by chance.
func TestEndedSessionsHoldNoLocks(t *testing.T) {
	t.Parallel()
	x := explorerOf(t, shop(shopDSN(t), buy))
	ctx := t.Context()
	mustExec(t, x.plain, "INSERT INTO purchase (buyer, item, created_at) VALUES ('bob', 'hat', UTC_TIMESTAMP(6))")
	for range 12 { // 4,096 rows
		mustExec(t, x.plain, "INSERT INTO purchase (buyer, item, created_at) SELECT buyer, item, created_at FROM purchase")
	}
	end := map[string]func(*conn) error{
		"closed": func(c *conn) error { return errors.Join(c.driverConn.Close(), x.server.awaitEnd(c.serverID)) },
		"killed": func(c *conn) error { return x.server.kill(c.serverID) },
	}
	for how, finish := range end {
		for range 5 {
			session, err := x.connector.Connect(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c := session.(*conn)
			for _, query := range []string{"BEGIN", "UPDATE purchase SET item = 'cap'"} {
				if err := sendPastLog(c, query); err != nil {
					t.Fatal(err)
				}
			}
			if err := finish(c); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := x.plain.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT id FROM purchase FOR UPDATE NOWAIT) locked").Scan(&n); err != nil {
				t.Fatalf("%s: a lock is left: %v", how, err)
			}
			if err := c.Close(); err != nil && how == "closed" {
				t.Error(err)
			}
		}
	}
}

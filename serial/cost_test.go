package serial_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// filled is a schema with as many series of one claim, and one series of as many claims.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	dbtest.Exec(t, db, "INSERT INTO onerow_serial (series, first_no, next_no) "+cost.Numbers(rows)+"SELECT CONCAT('s', i), 1, 2 FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_serial (series, first_no, next_no) VALUES ('big', 1, ?)", rows+1)
	for _, claim := range []string{"CONCAT('s', i), 'k', 1, 1, 1", "'big', CONCAT('k', i), 1, i, i"} {
		dbtest.Exec(t, db, "INSERT INTO onerow_serial_claim (series, claim_key, amount, from_no, to_no, call_token, claimed_at) "+cost.Numbers(rows)+
			"SELECT "+claim+", '', UTC_TIMESTAMP(6) FROM numbers")
	}
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_serial, onerow_serial_claim")
	return dsn
}

// TestCosts: what a claim reads and locks depends neither on its series' claims nor on the other series. The
// report of gaps reads its series, and none of the others.
func TestCosts(t *testing.T) {
	big, small := series(t, "big"), series(t, "s7")
	for _, level := range levels {
		c := cost.Compare(t, filled(t, cost.Few, level), filled(t, cost.Many(t), level), 60)
		c.Call("claim", func(ctx context.Context, db *sql.DB) error { return second(big.Claim(ctx, db, "new", 10)) })
		c.Call("again", func(ctx context.Context, db *sql.DB) error { return second(big.Claim(ctx, db, "new", 10)) })
		c.Call("a new series", func(ctx context.Context, db *sql.DB) error {
			return second(series(t, "other").Claim(ctx, db, "new", 10))
		})
		c.Call("with its range", func(ctx context.Context, db *sql.DB) error { // as a packet has it
			return second(db.ExecContext(ctx, `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, from_no, to_no, claimed_at)
 VALUES (?, ?, ?, ?, LAST_INSERT_ID(), LAST_INSERT_ID() + ?, UTC_TIMESTAMP(6))`, "big", "whole", 10, "", 9))
		})
		c.Call("exists", func(ctx context.Context, db *sql.DB) error { return second(big.Exists(ctx, db)) })
		c.Call("find", func(ctx context.Context, db *sql.DB) error { return second(big.Find(ctx, db, "k7")) })
		c.Call("void", func(ctx context.Context, db *sql.DB) error { return second(big.Void(ctx, db, "k7", "torn")) })
		c.Call("again", func(ctx context.Context, db *sql.DB) error { return second(big.Void(ctx, db, "k7", "torn")) })
		c.Call("list", func(ctx context.Context, db *sql.DB) error { return second(serial.List(ctx, db, "s4", 20)) })
		c.Call("gaps", func(ctx context.Context, db *sql.DB) error { return second(gaps.Find(ctx, db, small)) })
		c.Source(".", nil)
		c.Source("gaps", map[string]string{"AS claim_key, … AS from_no": "Table.Gaps reads the whole of a table of the caller"})
	}
}

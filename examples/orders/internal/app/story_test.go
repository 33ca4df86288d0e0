package app

import (
	"bytes"
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// The stories check their own steps; here is what they leave in the tables.
func TestStories(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) { testStories(t, dbtest.Open(t, dbtest.Isolation(level))) })
	}
}

func testStories(t *testing.T, db *sql.DB) {
	var told bytes.Buffer
	with(t, db, Config{Out: &told}, func(ctx context.Context, w World) {
		if err := Tell(ctx, w); err != nil {
			t.Fatalf("%v\n%s", err, &told)
		}
	})
	for _, tt := range []struct {
		query string
		want  int
	}{
		// One charge for each key but the declined one's; charge and order agree.
		{`SELECT COUNT(*) FROM bank_charge`, 6},
		{`SELECT COUNT(DISTINCT reference) FROM bank_charge`, 6},
		{`SELECT COUNT(*) FROM customer_order o JOIN bank_charge b ON b.reference = o.reference AND b.id = o.charge_id AND b.amount = o.amount WHERE o.status = 'paid'`, 6},
		{`SELECT COUNT(*) FROM customer_order WHERE status = 'declined' AND charge_id IS NULL AND idem_key = 'B'`, 1},
		{`SELECT COUNT(*) FROM customer_order`, 7},
		{`SELECT COUNT(*) FROM onerow_key WHERE status = 'complete' AND attention = 0`, 9}, // A to G, the cart and its change
		{`SELECT COUNT(*) FROM onerow_key`, 9},
		// The second operator wrote nothing.
		{`SELECT COUNT(*) FROM onerow_key_audit WHERE actor = 'olga' AND seen_status = 'error' AND (idem_key = 'E' AND action = 'complete' OR idem_key = 'F' AND action = 'release')`, 2},
		{`SELECT COUNT(*) FROM onerow_key_audit WHERE actor = 'bank' AND idem_key = 'G' AND action = 'complete'`, 1},
		{`SELECT COUNT(*) FROM onerow_key_audit`, 3},
		// The flow: three requests, none is running, the superseded one has no answer, the last one validated
		// the cart.
		{`SELECT COUNT(*) FROM cart`, 1},
		{`SELECT COUNT(*) FROM cart WHERE status = 'valid' AND validated_by = 'nightly-check' AND total > 0`, 1},
		{`SELECT COUNT(*) FROM onerow_flow`, 0},
		{`SELECT COUNT(*) FROM onerow_flow_request WHERE status = 'finished'`, 2},
		{`SELECT COUNT(*) FROM onerow_flow_request WHERE status = 'superseded'`, 1},
		{`SELECT COUNT(*) FROM onerow_flow_step WHERE answered_at IS NOT NULL`, 2},
		{`SELECT COUNT(*) FROM onerow_flow_step`, 3},
		// m1, m2, the nightly check and its two retries; m1's question was sent twice and is there once.
		{`SELECT COUNT(*) FROM message WHERE queue = 'carts' AND delivered_at IS NOT NULL`, 5},
		{`SELECT COUNT(*) FROM message WHERE queue = 'carts' AND delay_s IN (5, 10) AND attributes LIKE '%nightly-check%'`, 2},
		{`SELECT COUNT(*) FROM message WHERE queue = 'prices'`, 3},
		{`SELECT COUNT(*) FROM message WHERE queue = 'prices' AND sent = 2`, 1},
		{`SELECT COUNT(*) FROM message WHERE queue = 'mail'`, 2},
	} {
		if n := count(t, db, tt.query); n != tt.want {
			t.Errorf("%d, not %d: %s", n, tt.want, tt.query)
		}
	}
	for _, want := range []string{"409 Conflict (Retry-After", "422 Unprocessable Entity", "for attention", "Idempotency-Replayed: true", "redelivered", "superseded", "nightly-check", "One charge per key"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("the stories do not say %q", want)
		}
	}
}

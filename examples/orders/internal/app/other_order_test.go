package app

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// What the bank is asked for is what the order's row says, whichever way a key comes back: the order that was
// not charged is charged later under its key, another one under that key is not.
func TestOtherOrderUnderTheKey(t *testing.T) {
	const pen, piano = "item=pen&amount=100&card=%s", "item=piano&amount=99900&card=%s"
	for _, tt := range []struct {
		name, card  string
		first       int
		down, purge bool
	}{
		{"released", "ok", http.StatusServiceUnavailable, true, false},
		{"released and forgotten", "ok", http.StatusServiceUnavailable, true, true},
		{"unclear, resolved by an operator", "lost", http.StatusBadGateway, false, false},
		{"unclear, resolved and forgotten", "lost", http.StatusBadGateway, false, true},
		{"paid and forgotten", "ok", http.StatusCreated, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			with(t, db, Config{ChargeTime: 2 * time.Second}, func(ctx context.Context, w World) {
				order := func(body string, want int) {
					t.Helper()
					if status, err := call(ctx, http.MethodPost, w.URL+"/orders", "k", fmt.Sprintf(body, tt.card), nil); status != want || err != nil {
						t.Errorf("%s: %d %v, not %d", body, status, err, want)
					}
				}
				if tt.down {
					if err := w.Bank.Down(); err != nil {
						t.Fatal(err)
					}
				}
				order(pen, tt.first)
				if tt.down {
					if err := w.Bank.Up(ctx); err != nil {
						t.Fatal(err)
					}
				}
				for _, e := range must(w.Shop.Attention(ctx)) {
					must(w.Shop.Resolve(ctx, "olga", e))
				}
				forget := func() {
					if !tt.purge {
						return
					}
					if _, err := db.ExecContext(ctx, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"); err != nil {
						t.Fatal(err)
					}
					if n := must(keyadmin.Purge(ctx, db, w.Keys, 10)); n != 1 {
						t.Fatalf("%d keys purged", n)
					}
				}
				forget()
				order(piano, http.StatusUnprocessableEntity)
				forget()
				order(pen, http.StatusCreated)
				if n := count(t, db, `SELECT COUNT(*) FROM customer_order o JOIN bank_charge b ON b.reference = o.reference AND b.id = o.charge_id AND b.amount = o.amount
WHERE o.status = 'paid' AND o.item = 'pen' AND o.amount = 100`); n != 1 {
					t.Errorf("%d orders are paid as they are", n)
				}
				if n := count(t, db, `SELECT COUNT(*) FROM bank_charge`); n != 1 {
					t.Errorf("%d charges", n)
				}
			})
		})
	}
}

package demo

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlKeyTable joins the keys of orders with the orders and the bank's ledger, by the unique reference.
const sqlKeyTable = `SELECT k.idem_key, k.status, COALESCE(o.id, 0), COALESCE(o.status, ''), COALESCE(o.charge_id, 0),
  (SELECT COUNT(*) FROM bank_charge b WHERE b.reference = o.reference)
FROM onerow_key k LEFT JOIN customer_order o ON o.tenant = k.tenant AND o.operation = k.operation AND o.idem_key = k.idem_key
WHERE k.operation = 'POST /orders' ORDER BY k.idem_key`

// keyTable closes the key story: what the tables say.
func (t *teller) keyTable(ctx context.Context) error {
	t.title("The tables of the orders")
	t.step("%-5s %-10s %-6s %-12s %-8s %s", "key", "its row", "order", "its status", "charge", "charges in the bank's ledger")
	n := 0
	err := onerow.Query(ctx, t.DB, sqlKeyTable, nil, func(rows *sql.Rows) error {
		var key, status, orderStatus string
		var order, charge, charges int64
		if err := rows.Scan(&key, &status, &order, &orderStatus, &charge, &charges); err != nil {
			return err
		}
		n++
		t.step("%-5s %-10s %-6d %-12s %-8d %d", key, status, order, orderStatus, charge, charges)
		want := int64(1)
		if orderStatus == "declined" {
			want = 0
		}
		if status != "complete" || charges != want || (charge != 0) != (want == 1) {
			return wrong("key %s is %s with %d charges", key, status, charges)
		}
		return nil
	})
	if err == nil && n != 7 {
		err = wrong("%d keys, not 7", n)
	}
	return err
}

// sqlFlowTable: the requests of one flow, by the primary key's prefix.
const sqlFlowTable = `SELECT r.request_id, r.status, COALESCE(r.superseded_by, ''),
  (SELECT COUNT(*) FROM onerow_flow_step s WHERE s.step_id LIKE CONCAT('%', r.request_id, '%') AND s.answered_at IS NOT NULL)
FROM onerow_flow_request r WHERE r.flow = CONCAT('cart/', ?) ORDER BY r.admitted_at`

// flowTable closes the flow story.
func (t *teller) flowTable(ctx context.Context) error {
	t.title("The table of the cart's flow")
	t.step("%-28s %-11s %-28s %s", "request", "status", "superseded by", "answers")
	err := onerow.Query(ctx, t.DB, sqlFlowTable, []any{t.cart}, func(rows *sql.Rows) error {
		var request, status, by string
		var answers int
		if err := rows.Scan(&request, &status, &by, &answers); err != nil {
			return err
		}
		t.step("%-28s %-11s %-28s %d", request, status, by, answers)
		return nil
	})
	if err != nil {
		return err
	}
	a, err := t.send(ctx, "GET", fmt.Sprintf("/carts/%d", t.cart), "", "", "")
	if err != nil {
		return err
	}
	t.step("the cart: %s", a.body)
	t.title("One charge per key, one validation at a time.")
	return nil
}

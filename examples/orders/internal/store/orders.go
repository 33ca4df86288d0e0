package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// Status is where an order is, see the package documentation.
type Status string

// The statuses.
const (
	Charging   Status = "charging"
	Paid       Status = "paid"
	Declined   Status = "declined"
	NotCharged Status = "not_charged"
	Unclear    Status = "unclear"
)

// Order is what was ordered and what became of it.
type Order struct {
	ID        int64  `json:"id"`
	Reference string `json:"reference"`
	Item      string `json:"item"`
	Amount    int64  `json:"amount"` // cents
	Card      string `json:"card"`
	Status    Status `json:"status"`
	ChargeID  int64  `json:"charge_id,omitempty"`

	// Key is the idempotency key under which it was ordered.
	Key idempotency.Key `json:"-"`
}

// OwnedBy says whether the order is a customer's.
func (o Order) OwnedBy(customer string) bool { return o.Key.Tenant == customer }

// ErrNotFound means that there is no such row, or it is somebody else's.
var ErrNotFound = errors.New("store: not found")

// ErrOther means that another order was made under this key. Nothing was written.
var ErrOther = errors.New("store: another order was made under this key")

// Reference derives an order's reference from its key: the same for every request with that key, and
// no other's.
func Reference(key idempotency.Key) (string, error) {
	return idempotency.KeyOf(key, "tenant", "operation", "id")
}

// sqlBeginOrder inserts the order, or finds it by the unique reference: a request whose work was not done
// comes again. LAST_INSERT_ID(id) hands the id of the row that was there to the driver.
const sqlBeginOrder = `INSERT INTO customer_order (reference, tenant, operation, idem_key, item, amount, card, status, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, 'charging', UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), status = IF(status = 'paid', status, 'charging'), version = version + 1`

// Begin writes the order before the bank is asked, while the claim is the key's holder: idempotency.ErrLost
// otherwise. It may be called again with the same order. The order that it returns is the row's, and what is
// charged must come from there: the row is older than the claim where the key was released, or had expired.
// So another order is ErrOther, and one that is paid stays so, and must not be charged. Statements: 5.
func Begin(ctx context.Context, db onerow.DB, keys *idempotency.Keys, claim idempotency.Claim, o Order) (Order, error) {
	reference, err := Reference(claim.Key)
	if err != nil {
		return o, err
	}
	o.Reference, o.Key, o.Status = reference, claim.Key, Charging
	err = keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := tx.ExecContext(ctx, sqlBeginOrder, o.Reference, o.Key.Tenant, o.Key.Operation, o.Key.ID, o.Item, o.Amount, o.Card)
		if err != nil {
			return err
		}
		if o.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		row, err := OrderByID(ctx, tx, o.ID)
		if err != nil {
			return err
		}
		if row.Item != o.Item || row.Amount != o.Amount || row.Card != o.Card {
			return fmt.Errorf("%w: order %d", ErrOther, o.ID)
		}
		o = row
		return nil
	})
	return o, err
}

// Settle writes the outcome of the order, while the claim is the key's holder. Statements: 4.
func Settle(ctx context.Context, db onerow.DB, keys *idempotency.Keys, claim idempotency.Claim, o Order) error {
	return keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error { return Write(ctx, tx, o) })
}

// sqlSettleOrder writes by the primary key. What is paid stays paid.
const sqlSettleOrder = `UPDATE customer_order SET status = ?, charge_id = ?, version = version + 1 WHERE id = ? AND (status <> 'paid' OR charge_id = ?)`

// Write writes status and charge of the order, in the transaction that proves the right to.
func Write(ctx context.Context, tx *onerow.Tx, o Order) error {
	charge := sql.NullInt64{Int64: o.ChargeID, Valid: o.ChargeID != 0}
	n, err := onerow.Affected(ctx, tx, sqlSettleOrder, string(o.Status), charge, o.ID, charge)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: order %d, or it was paid by another charge", ErrNotFound, o.ID)
	}
	return err
}

const orderColumns = `SELECT id, reference, tenant, operation, idem_key, item, amount, card, status, COALESCE(charge_id, 0) FROM customer_order WHERE `

// Orders are read by the primary key, or by the unique reference.
const (
	sqlOrderByID        = orderColumns + `id = ?`
	sqlOrderByReference = orderColumns + `reference = ?`
)

// OrderByID reads an order. One statement.
func OrderByID(ctx context.Context, db onerow.DB, id int64) (Order, error) {
	return readOrder(ctx, db, sqlOrderByID, id)
}

// OrderByReference reads the order that the bank, or an operator, speaks of. One statement.
func OrderByReference(ctx context.Context, db onerow.DB, reference string) (Order, error) {
	return readOrder(ctx, db, sqlOrderByReference, reference)
}

func readOrder(ctx context.Context, db onerow.DB, query string, arg any) (o Order, err error) {
	err = onerow.QueryRow(ctx, db, query, []any{arg}, &o.ID, &o.Reference, &o.Key.Tenant, &o.Key.Operation, &o.Key.ID,
		&o.Item, &o.Amount, &o.Card, &o.Status, &o.ChargeID)
	if errors.Is(err, sql.ErrNoRows) {
		return o, fmt.Errorf("%w: order %v", ErrNotFound, arg)
	}
	return o, err
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
)

// The statuses of a cart.
const (
	CartOpen  = "open"
	CartValid = "valid"
)

// Cart is a list of items that is validated before it is ordered.
type Cart struct {
	ID     int64    `json:"id"`
	Items  []string `json:"items"`
	Status string   `json:"status"`
	Total  int64    `json:"total,omitempty"` // cents
	// ValidatedBy is the request id of the run that validated it.
	ValidatedBy string `json:"validated_by,omitempty"`
	Tenant      string `json:"-"`
}

// OwnedBy says whether the cart is a customer's.
func (c Cart) OwnedBy(customer string) bool { return c.Tenant == customer }

const sqlInsertCart = `INSERT INTO cart (tenant, items, status, created_at) VALUES (?, ?, 'open', UTC_TIMESTAMP(6))`

// InsertCart makes a cart. One statement.
func InsertCart(ctx context.Context, db onerow.DB, tenant string, items []string) (Cart, error) {
	c := Cart{Items: items, Status: CartOpen, Tenant: tenant}
	text, err := json.Marshal(items)
	if err != nil {
		return c, err
	}
	res, err := db.ExecContext(ctx, sqlInsertCart, tenant, string(text))
	if err != nil {
		return c, err
	}
	c.ID, err = res.LastInsertId()
	return c, err
}

// sqlChangeCart writes by the primary key.
const sqlChangeCart = `UPDATE cart SET items = ?, status = 'open', total = NULL, validated_by = NULL, version = version + 1 WHERE id = ? AND tenant = ?`

// ChangeCart replaces the items of a tenant's cart, which is open again then. One statement.
func ChangeCart(ctx context.Context, db onerow.DB, c Cart) error {
	text, err := json.Marshal(c.Items)
	if err != nil {
		return err
	}
	return changed(onerow.Affected(ctx, db, sqlChangeCart, string(text), c.ID, c.Tenant))
}

// sqlValidCart writes by the primary key. The transaction has proven who may.
const sqlValidCart = `UPDATE cart SET status = 'valid', total = ?, validated_by = ?, version = version + 1 WHERE id = ?`

// ValidateCart writes what a validation found. One statement.
func ValidateCart(ctx context.Context, tx *onerow.Tx, id, total int64, requestID string) error {
	return changed(onerow.Affected(ctx, tx, sqlValidCart, total, requestID, id))
}

func changed(n int64, err error) error {
	if err == nil && n == 0 {
		return fmt.Errorf("%w: the cart", ErrNotFound)
	}
	return err
}

// sqlCart reads by the primary key.
const sqlCart = `SELECT id, tenant, items, status, COALESCE(total, 0), COALESCE(validated_by, '') FROM cart WHERE id = ?`

// CartByID reads a cart. One statement.
func CartByID(ctx context.Context, db onerow.DB, id int64) (c Cart, err error) {
	var items []byte
	err = onerow.QueryRow(ctx, db, sqlCart, []any{id}, &c.ID, &c.Tenant, &items, &c.Status, &c.Total, &c.ValidatedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return c, fmt.Errorf("%w: cart %d", ErrNotFound, id)
	}
	if err == nil {
		err = json.Unmarshal(items, &c.Items)
	}
	return c, err
}

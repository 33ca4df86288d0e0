package r25

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// ErrOtherPayload says that the key came with another request before.
var ErrOtherPayload = errors.New("this key belongs to another request")

// Solution keeps a fingerprint of the request with its key.
func Solution(ctx context.Context, db *sql.DB, key string, p Payment) error {
	decoded, err := json.Marshal(p) // not the bytes that came: their spaces and the order of their fields may differ
	if err != nil {
		return fmt.Errorf("the fingerprint: %w", err)
	}
	fingerprint := sha256.Sum256(decoded)
	_, err = db.ExecContext(ctx, "INSERT INTO payment (idempotency_key, fingerprint, amount, currency) VALUES (?, ?, ?, ?)", key, fingerprint[:], p.Amount, p.Currency)
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != 1062 {
		return err
	}
	var first []byte
	err = db.QueryRowContext(ctx, "SELECT fingerprint FROM payment WHERE idempotency_key = ?", key).Scan(&first)
	if err == nil && !bytes.Equal(first, fingerprint[:]) {
		err = ErrOtherPayload
	}
	return err
}

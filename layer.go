package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
)

// What query layers want of a transaction besides [DB]. A *Tx implements DBTX of sqlc, ConnPool of gorm,
// IConn of bun and ExecQuerier of ent.

// PrepareContext prepares a statement, unless the transaction is poisoned. What the statement meets later
// does not poison the Tx: on a pool of package pool the session sees it, on another pool return its error.
func (tx *Tx) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if _, err := tx.ready(ctx, query); err != nil {
		return nil, err
	}
	h, ok := tx.db.(interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	})
	if !ok {
		return nil, tx.lacks("PrepareContext")
	}
	tx.escaped = true
	stmt, err := h.PrepareContext(ctx, query)
	return stmt, tx.note(err, query)
}

// QueryRowContext runs a query of which at most one row is wanted. In a poisoned transaction the row's error
// is [ErrTxPoisoned], and nothing is sent. What only Scan reports does not poison the Tx, as with
// [Tx.PrepareContext]; it does in [QueryRow].
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	kind, err := tx.ready(ctx, query)
	if err != nil {
		return failedRow(err)
	}
	h, ok := tx.db.(interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	})
	if !ok {
		return failedRow(tx.lacks("QueryRowContext"))
	}
	row := h.QueryRowContext(ctx, query, args...)
	tx.count(kind, nil, row.Err())
	_ = tx.note(row.Err(), query, args...) //nolint:errcheck // the row has it
	return row
}

// SQL is the *sql.Tx below, for a query layer that takes nothing else, as sqlx and squirrel do; nil where the
// transaction that was joined neither is one nor embeds one. Leave BEGIN, COMMIT and ROLLBACK to [InTx]. It
// knows nothing of what the Tx met: on a pool of package pool the session does.
func (tx *Tx) SQL() *sql.Tx {
	tx.escaped = true
	return within(tx.db)
}

func within(handle any) *sql.Tx {
	switch h := handle.(type) {
	case *sql.Tx:
		return h
	case *Tx:
		return h.SQL()
	}
	v := reflect.Indirect(reflect.ValueOf(handle))
	if v.Kind() != reflect.Struct {
		return nil
	}
	field, ok := v.Type().FieldByName("Tx") // of sqlx.Tx and bun.Tx
	if !ok || !field.IsExported() {
		return nil
	}
	embedded, err := v.FieldByIndexErr(field.Index)
	if err != nil || !embedded.CanInterface() {
		return nil
	}
	return within(embedded.Interface())
}

func (tx *Tx) lacks(method string) error {
	return fmt.Errorf("onerow: the transaction that was joined, a %T, has no %s: %w", tx.db, method, errors.ErrUnsupported)
}

// failedRow is a row that has only an error: database/sql makes one for a context that has ended, of which
// it asks the error.
func failedRow(err error) *sql.Row {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return new(sql.DB).QueryRowContext(spent{ended, err}, "")
}

// spent is a context that has ended with an error of ours.
type spent struct {
	context.Context
	err error
}

func (s spent) Err() error { return s.err }

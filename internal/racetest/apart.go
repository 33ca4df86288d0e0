package racetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// Verb is a call on the n-th of some rows that have nothing to do with each other.
type Verb struct {
	Name string
	// Setup makes the state before the call; nil: none is needed.
	Setup func(ctx context.Context, db *sql.DB, n int) error
	// Call gets a transaction or a pool.
	Call func(ctx context.Context, db onerow.DB, n int) error
}

// patience is longer than any call takes, and shorter than a wait for a lock may.
const patience = 10 * time.Second

var errApart = errors.New("a transaction that is rolled back")

// Apart calls each verb in a transaction and, before that ends, each of them on two other rows: none may
// wait. The tables, which are emptied each time, hold no others: where there are few rows an optimizer likes
// to read, and lock, more of them than the one that is asked for, which no test on big tables sees. Every row
// has its own n: an INSERT over an entry that was deleted just before locks the gap behind it, in InnoDB.
func Apart(t *testing.T, db *sql.DB, tables []string, verbs []Verb) {
	t.Helper()
	ctx, n := t.Context(), 0
	next := func(v Verb) int {
		n++
		if v.Setup != nil {
			if err := v.Setup(ctx, db, n); err != nil {
				t.Fatalf("before %s of row %d: %v", v.Name, n, err)
			}
		}
		return n
	}
	for _, held := range verbs {
		for _, v := range verbs {
			for _, table := range tables {
				dbtest.Exec(t, db, "DELETE FROM "+table)
			}
			holder, other, third := next(held), next(v), next(v)
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if err := held.Call(ctx, tx, holder); err != nil {
					return fmt.Errorf("%s: %w", held.Name, err)
				}
				soon, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				return errors.Join(errApart, v.Call(soon, db, other), v.Call(soon, db, third))
			})
			if err != nil && err.Error() != errApart.Error() {
				t.Errorf("%s of rows %d and %d, while %s of row %d is not committed: %v", v.Name, other, third, held.Name, holder, err)
			}
		}
	}
}

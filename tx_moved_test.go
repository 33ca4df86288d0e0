package onerow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/floortest"
)

// TestMoved: what others changed meanwhile is tried again in a transaction of its own, each time from BEGIN;
// in a joined one, a few times for all verbs that are nested together.
func TestMoved(t *testing.T) {
	t.Parallel()
	db, _ := floortest.Accounts(t)
	ctx := t.Context()
	moved := fmt.Errorf("somebody: %w", onerow.ErrMoved)
	runs := 0
	// write writes and fails until it has run often enough.
	write := func(often int) func(context.Context, *onerow.Tx) error {
		runs = 0
		return func(ctx context.Context, tx *onerow.Tx) error {
			runs++
			if _, err := tx.ExecContext(ctx, floortest.Add, 1); err != nil || runs >= often {
				return err
			}
			return moved
		}
	}
	wantRuns := func(want int, err, wantErr error) {
		t.Helper()
		if runs != want || !errors.Is(err, wantErr) || (wantErr != nil) != onerow.Retryable(err) {
			t.Fatalf("%d runs, want %d: %v", runs, want, err)
		}
	}
	wantRuns(3, onerow.InTx(ctx, db, write(3)), nil)
	wantRuns(3, onerow.InIdempotentTx(ctx, db, write(3)), nil)
	floortest.WantBalances(t, db, "2,0")
	wantRuns(20, onerow.InTx(ctx, db, write(1000)), onerow.ErrMoved)
	floortest.WantBalances(t, db, "2,0")
	runs = 0
	wantRuns(20, onerow.Alone(ctx, db, func(context.Context, onerow.DB) error { runs++; return moved }), onerow.ErrMoved)
}

// TestMovedJoined: verbs within verbs do not multiply their tries, and a context that has ended ends them.
func TestMovedJoined(t *testing.T) {
	db, _ := floortest.Accounts(t)
	ctx := t.Context()
	runs := 0
	verb := func(db onerow.DB) error {
		return onerow.InTx(ctx, db, func(context.Context, *onerow.Tx) error {
			runs++
			return onerow.ErrMoved
		})
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	err = onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
		return onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error { return verb(tx) })
	})
	if !onerow.Retryable(err) || runs != 10 {
		t.Errorf("%d runs, %v", runs, err)
	}
	runs = 0
	ended, cancel := context.WithCancel(ctx)
	err = onerow.InTx(ended, tx, func(context.Context, *onerow.Tx) error { runs++; cancel(); return onerow.ErrMoved })
	if !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("a context that ended: %d runs, %v", runs, err)
	}
}

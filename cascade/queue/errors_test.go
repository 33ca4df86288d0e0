package queue

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
)

// TestRestoreLost: a restore that has lost its job says to whom.
func TestRestoreLost(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, err := Enqueue(ctx, db, Deletion{ID: 5, Resource: "project", ResourceID: "42"})
		if err != nil {
			t.Fatal(err)
		}
		in := func(fn func(ctx context.Context, tx *onerow.Tx) error) error { return onerow.InTx(ctx, db, fn) }
		hold := func() (fence func(context.Context, *onerow.Tx) error) {
			err := in(func(ctx context.Context, tx *onerow.Tx) (err error) {
				_, fence, err = HoldForRestore(ctx, tx, job.ID, func(bool) error { return nil })
				return err
			})
			if err == nil {
				err = in(fence)
			}
			if err != nil {
				t.Fatal(err)
			}
			return fence
		}
		wantLost := func(fence func(context.Context, *onerow.Tx) error, why string) {
			t.Helper()
			if err := in(fence); !errors.Is(err, ErrWrongState) || !strings.Contains(err.Error(), why) {
				t.Errorf("%v, want %q", err, why)
			}
		}
		first := hold()
		second := hold()
		wantLost(first, "another restore has begun since")
		if _, err := HoldJob(ctx, db, job.ID, "an operator"); err != nil {
			t.Fatal(err)
		}
		wantLost(second, "it is held")
		if _, err := Retry(ctx, db, job.ID); err != nil {
			t.Fatal(err)
		}
		wantLost(second, "a retry or a new deletion has let it go on")
		third := hold()
		if err := Cancel(ctx, db, "project", "42", 5); err != nil {
			t.Fatal(err)
		}
		wantLost(third, "it is restored")
	})
}

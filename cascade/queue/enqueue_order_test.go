package queue

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow"
)

// TestEnqueueManyOrder: rows are locked in one order, whatever their deletions are from.
func TestEnqueueManyOrder(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		var many []Deletion
		for i, id := range []string{"f", "b", "e", "a", "d", "c"} {
			many = append(many, Deletion{Resource: []string{"project", "area"}[i%2], ResourceID: id, Grace: time.Hour})
			if i%3 == 0 {
				many[i].From = FromDue
			}
		}
		err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
			_, _, err := EnqueueMany(ctx, tx, many)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = onerow.Query(t.Context(), db, "SELECT CONCAT(resource, ' ', resource_id) FROM onerow_job ORDER BY id", nil, func(rows *sql.Rows) error {
			var row string
			err := rows.Scan(&row)
			got = append(got, row)
			return err
		})
		if err != nil || len(got) != len(many) || !slices.IsSorted(got) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

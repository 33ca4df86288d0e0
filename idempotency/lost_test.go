package idempotency_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/racetest"
)

// TestLostAndEnded: work of which the answer was lost, and whose caller's time is over before it is found
// again, is not told as such that was not done.
func TestLostAndEnded(t *testing.T) {
	_, dsn := open(t)
	keys, n := newKeys(t, idempotency.Config{}), 0
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		_, err := idempotency.Do(ctx, db, keys, key(fmt.Sprint(n)), charge(1))
		return err
	})
}

package flow_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/racetest"
)

// TestLostAndEnded: a claim of which the answer was lost, and whose caller's time is over before it is found
// again, is not told as one that did nothing.
func TestLostAndEnded(t *testing.T) {
	_, dsn := open(t)
	n := 0
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		_, err := flow.Claim(ctx, db, flow.Run{Flow: fmt.Sprint(n), RequestID: "a"})
		return err
	})
}

package r37

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

// TestYours is all that a test needs: a database, the tables to empty, and the call.
func TestYours(t *testing.T) {
	w := onerowtest.Workflow(t, schema.Plan{}, statements(t)...)
	w.Call = func(ctx context.Context, db *sql.DB) error { return Solution(ctx, db, "r-1") }
	crashtest.Run(t, w)                                                // dies at each statement, and is called again
	crashtest.Interleave(t, crashtest.Race{Workflow: w, AsOnce: true}) // two at once, in each order of their statements
}

package serial_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial"
)

// TestApart: a claim keeps no other series waiting. (One of its own series waits for it: that is what makes
// numbers without gaps.)
func TestApart(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelReadCommitted))
	of := func(n int) *serial.Series { return series(t, fmt.Sprint("s", n)) }
	claim := func(ctx context.Context, db onerow.DB, n int) error { return second(of(n).Claim(ctx, db, "k", 3)) }
	claimed := func(ctx context.Context, db *sql.DB, n int) error { return claim(ctx, db, n) }
	racetest.Apart(t, db, []string{"onerow_serial", "onerow_serial_claim"}, []racetest.Verb{
		{Name: "claim", Call: claim},
		{Name: "claim again", Setup: claimed, Call: claim},
		{Name: "void", Setup: claimed, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(of(n).Void(ctx, db, "k", "spoilt"))
		}},
	})
}

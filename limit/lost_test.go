package limit_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// TestLostAndEnded: a verb that takes room, of which the answer was lost, and whose caller's time is over before
// it is found again, is not told as one that did nothing.
func TestLostAndEnded(t *testing.T) {
	plain, dsn := open(t)
	s, n := newShop(t), 0
	s.allow(t, plain, 1, 1000, 1000)
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		_, err := s.bytes.Reserve(ctx, db, fmt.Sprint(n), 1, time.Hour, 1)
		return err
	})
	if _, err := s.create(t.Context(), plain, 1, "counted", 1); err != nil {
		t.Fatal(err)
	}
	racetest.AfterLost(t, dsn, func(ctx context.Context, db *sql.DB) error {
		n++
		_, err := s.files.Create(ctx, db, File{UserID: 1, Name: fmt.Sprint(n), Bytes: 1}, repo.RequestID(fmt.Sprint(n)))
		return err
	})
}

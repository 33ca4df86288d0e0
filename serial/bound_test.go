package serial_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestVoidEnds: where something keeps a claim from being voided, Void says so instead of trying for ever.
func TestVoidEnds(t *testing.T) {
	db, _ := open(t)
	s := series(t, "bound")
	must(s.Claim(t.Context(), db, "k", 1))
	dbtest.Exec(t, db, "CREATE TRIGGER never BEFORE UPDATE ON onerow_serial_claim FOR EACH ROW SET NEW.voided_at = NULL")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if res, err := s.Void(ctx, db, "k", "spilled"); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%+v, %v", res, err)
	}
}

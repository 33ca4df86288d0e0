package cascade

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
)

// TestRefusesSettings: a worker that would lose what it writes does not start.
func TestRefusesSettings(t *testing.T) {
	db := dbtest.Open(t, dbtest.Param("autocommit", "0"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := worker(t, db, Config{})
	for name, run := range map[string]func(context.Context) error{"Run": w.Run, "Drain": w.Drain} {
		if err := run(ctx); !errors.Is(err, pool.ErrSetting) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

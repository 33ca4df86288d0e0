package restorefuzz

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestRestoreRandomSchemas is 40 seeds of the command, on MySQL others than on MariaDB.
func TestRestoreRandomSchemas(t *testing.T) {
	first, seeds := uint64(1), uint64(40)
	if dbtest.Server(t).Engine() == devdb.MySQL {
		first += seeds
	}
	for i, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
		t.Run(levels[i], func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.Isolation(level))
			if err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for seed := first; seed < first+seeds && !t.Failed(); seed++ {
				if levelOf(seed) != i {
					continue
				}
				err := Run(t.Context(), db, seed, func(kind, text string) { t.Errorf("%s: %s", kind, text) })
				if err != nil || t.Failed() {
					t.Errorf("seed %d: %v; again: %s", seed, err, options{}.again(seed))
				}
			}
		})
	}
}
